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

// script is the state of a running script.
type script struct {
	caller
	sender
	evidence

	lines      []gap.Line
	now        gap.Line // the running one
	verdict    *Verdict // why the script ended early
	firstWrong *Verdict // on the first wrong claim, which does not end the script
	started    bool     // something has answered
	part       part     // the current one
	unfit      error    // why the last call of the server did not fit its schema
	waiting    bool     // for an output
	clients    map[string]*client
	steps      recording
	claims     claims

	// tooMuch is set if the script, or what it started, took too much of the machine: what
	// exceeded its bound.
	tooMuch atomic.Pointer[string]
}

// evidence is the output that a failure is about.
type evidence struct {
	last  outcome // of the last action
	shown outcome // of the last command that printed: that one, or an exec
	focus string  // the part of its output that is wrong
}

// defaultTier is the tier of servers unless a script says otherwise.
const defaultTier = "mutating"

func newScript(req child.Request, out io.Writer) *script {
	socket := child.Socket(req.Dir)
	s := &script{
		caller:  caller{req: req, socket: socket, env: child.Environment(req.Dir), safety: defaultTier},
		sender:  sender{out: out},
		clients: map[string]*client{},
		steps:   recording{socket: socket},
	}
	if req.Layer == report.APILayer {
		s.steps.program = programOf(req.Dir)
	}
	s.ctx, s.cancel = context.WithTimeout(context.Background(), req.Timeout)
	return s
}

// sender writes messages. It may be used by several goroutines.
type sender struct {
	mu  sync.Mutex
	out io.Writer
}

func (s *sender) send(m child.Message) {
	s.mu.Lock()
	defer s.mu.Unlock()
	json.NewEncoder(s.out).Encode(m) // if nobody reads, the input has ended too
}

func (s *script) ours(command string) bool {
	_, is := s.commands()[command]
	return is || s.actions()[command] != nil
}

// run runs the script in testscript, and returns its cell and transcript.
func (s *script) run() (report.Cell, string) {
	testing.Init() // testscript asks testing whether tests are to be short
	text, err := os.ReadFile(s.req.File)
	file := filepath.Join(s.req.Dir, "tmp", filepath.Base(s.req.File))
	if err == nil {
		s.lines = gap.Lines(string(text))
		s.part = firstPart(s.lines, s.req.Layer)
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
				// Ours follow testscript's own, so that they prevail.
				env.Vars = append(env.Vars, s.env...)
				env.Vars = append(env.Vars, "SOCKET="+s.socket, "VERSION="+s.req.Target.Version)
				return nil
			},
			Condition: func(cond string) (bool, error) { return condition(cond, s.last, s.req) },
			Cmds:      map[string]func(*testscript.TestScript, bool, []string){"do": s.cmdDo},
		})
	})
	return s.cell(t), report.Clip(t.text(), child.MaxLog)
}

func (s *script) cell(t *recorder) report.Cell {
	end := s.ended(t)
	switch claim, asked, ok := ahead(s.lines, s.now.Number, s.req.Target.Version); {
	case ok && s.part.failed != nil:
		s.claims.add(s.part, s.req.File, claim, asked)
	case !s.part.alone && s.req.Layer != report.TmuxLayer && !s.part.looked && end == nil:
		end = &Verdict{Kind: Errored, Why: "the script asks nothing"}
	case !ok && s.part.alone && s.part.looked && end == nil:
		end = &Verdict{Kind: Errored, Line: s.now.Number, Why: "it asks, and no claim follows that is about it"}
	}
	if s.part.alone {
		return s.claims.parted(s.req, end)
	}
	return s.claims.cell(s.req, end, s.firstWrong)
}

// condition evaluates a condition of ours, about the last outcome or the target's version.
func condition(cond string, last outcome, req child.Request) (bool, error) {
	text := ""
	switch key, arg, _ := strings.Cut(cond, ":"); {
	case cond == "not-offered":
		return last.notOffered(), nil
	case cond == "ok", cond == "failed":
		return last.ok() == (cond == "ok") && !last.notOffered(), nil
	case key == "tmux" && arg != "":
		return gap.VersionHas(req.Target.Version, arg)
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
