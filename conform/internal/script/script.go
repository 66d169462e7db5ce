package script

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"tmuxmcp/conform/internal/child"
	"tmuxmcp/conform/internal/gap"
	"tmuxmcp/conform/report"
)

// script is the state of a script that runs.
type script struct {
	caller
	sender
	evidence

	lines      []gap.Line
	now        gap.Line // that runs
	verdict    *Verdict // before the script's end
	firstWrong *Verdict // as the first claim came out, which does not end the script
	started    bool     // something has answered
	asked      bool     // the API or the MCP server was asked
	unfit      string   // how the last call of the server did not fit its schema
	waiting    bool     // for an output
	clients    map[string]*client
	steps      recording
	claims     claims

	// tooMuch is why the script was ended: it, or what it started, took too much
	// of the machine.
	tooMuch atomic.Pointer[string]
}

// evidence is what a failure is about.
type evidence struct {
	last  outcome // of the last project command
	shown outcome // of the last command that printed: that one, or an exec
	focus string  // the part of its output that is not as it should be
}

// defaultTier is the tier of servers unless a script says otherwise.
const defaultTier = "mutating"

func newScript(req child.Request, out io.Writer) *script {
	socket := filepath.Join(req.Dir, "s")
	s := &script{
		caller:  caller{req: req, socket: socket, env: child.Environment(req.Dir), safety: defaultTier},
		sender:  sender{out: out},
		clients: map[string]*client{},
		steps:   recording{socket: socket},
	}
	s.ctx, s.cancel = context.WithTimeout(context.Background(), req.Timeout)
	return s
}

// sender writes messages, also of several goroutines.
type sender struct {
	mu  sync.Mutex
	out io.Writer
}

// send writes a message.
func (s *sender) send(m child.Message) {
	s.mu.Lock()
	defer s.mu.Unlock()
	json.NewEncoder(s.out).Encode(m) // if nobody listens, the input is at its end too
}

// ours reports whether a command is one of ours.
func (s *script) ours(command string) bool {
	_, is := s.commands()[command]
	return is || s.actions()[command] != nil
}

// excess ends the script because it takes too much of the machine.
func (s *script) excess(why string) {
	s.tooMuch.Store(&why)
	s.cancel()
}

// run runs the script in testscript, and returns what came of it and its transcript.
func (s *script) run() (report.Cell, string) {
	testing.Init() // testscript asks testing whether tests are to be short
	text, err := os.ReadFile(s.req.File)
	file := filepath.Join(s.req.Dir, "tmp", filepath.Base(s.req.File))
	if err == nil {
		s.lines = gap.Lines(string(text))
		err = os.WriteFile(file, []byte(instrument(string(text), s.lines, s.ours)), 0o600)
	}
	if err != nil {
		return report.Cell{Status: report.Errored, Reason: err.Error()}, ""
	}
	t := &recorder{verbose: s.req.Verbose}
	deadline, _ := s.ctx.Deadline()
	t.Run("", func(root testscript.T) {
		testscript.RunT(root, testscript.Params{
			Files:              []string{file},
			WorkdirRoot:        filepath.Join(s.req.Dir, "w"),
			RequireUniqueNames: true,
			Deadline:           deadline,
			Setup: func(env *testscript.Env) error {
				// What testscript sets goes first, so that ours counts.
				env.Vars = append(env.Vars, s.env...)
				env.Vars = append(env.Vars, "SOCKET="+s.socket, "VERSION="+s.req.Target.Version)
				return nil
			},
			Condition: func(cond string) (bool, error) { return condition(cond, s.last, s.req.Target.Version) },
			Cmds:      map[string]func(*testscript.TestScript, bool, []string){"do": s.cmdDo},
		})
	})
	return s.claims.cell(s.req, s.ended(t), s.firstWrong), report.Clip(t.text(), child.MaxLog)
}

// condition answers a condition of ours, about what the target did last or its version.
func condition(cond string, last outcome, version string) (bool, error) {
	text := ""
	switch key, arg, _ := strings.Cut(cond, ":"); {
	case cond == "ok", cond == "failed":
		return last.ok() == (cond == "ok"), nil
	case key == "tmux" && arg != "":
		return gap.VersionHas(version, arg)
	case key == "stdout" && arg != "":
		text = last.stdout
	case key == "stderr" && arg != "":
		text = last.stderr
	default:
		return false, fmt.Errorf("unknown condition %q", cond)
	}
	re, err := regexp.Compile("(?m)" + cond[len("stdout:"):])
	return err == nil && re.MatchString(text), err
}
