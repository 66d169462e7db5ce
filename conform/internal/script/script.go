package script

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
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
	"tmuxmcp/internal/proctree"
	"tmuxmcp/tmux"
)

// script is the state of a script that runs.
type script struct {
	req    child.Request
	socket string
	env    []string
	ctx    context.Context
	cancel context.CancelFunc

	outMu sync.Mutex
	out   io.Writer

	lines    []string // of the script
	now      running
	last     outcome // of the last project command
	shown    outcome // of the last command that printed: that one, or an exec
	focus    string  // the part of its output that is not as it should be
	end      *ending // before the script's end
	wrong    *ending // as the first claim came out, which does not end the script
	started  bool    // something has answered
	asked    bool    // the API or the MCP server was asked
	unfit    string  // how the last call of the server did not fit its schema
	clients  map[string]*client
	steps    []child.Step
	saved    []string // the names of variables
	waiting  bool     // for an output
	printed  printed  // what the last command printed
	marked   bool     // the steps that show the failure are
	seen     []observation
	claims   []report.Claim
	evidence []report.Evidence

	// tooMuch is why the script was ended: it, or what it started, took too much
	// of the machine.
	tooMuch atomic.Pointer[string]

	apiServer *tmux.Server
	mcpServer atomic.Pointer[mcpServer]
	safety    string // the tier of that
}

// defaultTier is the tier of servers unless a script says otherwise.
const defaultTier = "mutating"

func newScript(req child.Request, out io.Writer) *script {
	s := &script{
		req: req, out: out,
		socket:  filepath.Join(req.Dir, "s"),
		env:     child.Environment(req.Dir),
		clients: map[string]*client{},
		safety:  defaultTier,
	}
	s.ctx, s.cancel = context.WithTimeout(context.Background(), req.Timeout)
	return s
}

func (s *script) send(m child.Message) {
	s.outMu.Lock()
	defer s.outMu.Unlock()
	json.NewEncoder(s.out).Encode(m) // if nobody listens, the input is at its end too
}

// excess ends the script for what it takes of the machine.
func (s *script) excess(why string) {
	s.tooMuch.Store(&why)
	s.cancel()
}

// cleanUp ends everything that the script has started.
func (s *script) cleanUp() {
	s.cancel()
	if m := s.mcpServer.Load(); m != nil {
		m.end()
	}
	if s.req.Keep {
		return
	}
	if !proctree.EndChildren() {
		// The politest way that is left.
		ctx, cancel := context.WithTimeout(context.Background(), child.GraceTime)
		defer cancel()
		cmd := exec.CommandContext(ctx, s.req.Target.Path, "-S", s.socket, "kill-server")
		cmd.Env = s.env
		cmd.Run()
	}
}

// run runs the script in testscript, and returns what came of it and its transcript.
func (s *script) run() (report.Cell, string) {
	testing.Init() // testscript asks testing whether tests are to be short
	text, err := os.ReadFile(s.req.File)
	file := filepath.Join(s.req.Dir, "tmp", filepath.Base(s.req.File))
	if err == nil {
		s.lines = strings.Split(string(text), "\n")
		err = os.WriteFile(file, []byte(s.instrument(string(text))), 0o600)
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
			Setup:              s.setup,
			Condition:          s.condition,
			Cmds:               map[string]func(*testscript.TestScript, bool, []string){"do": s.cmdDo},
		})
	})
	return s.cell(s.ended(t)), report.Clip(t.text(), child.MaxLog)
}

func (s *script) setup(env *testscript.Env) error {
	// What testscript sets goes first, so that ours counts.
	env.Vars = append(env.Vars, s.env...)
	env.Vars = append(env.Vars, "SOCKET="+s.socket, "VERSION="+s.req.Target.Version)
	return nil
}

// condition answers the conditions of the project.
func (s *script) condition(cond string) (bool, error) {
	text := ""
	switch key, arg, _ := strings.Cut(cond, ":"); {
	case cond == "ok", cond == "failed":
		return s.last.ok() == (cond == "ok"), nil
	case key == "tmux" && arg != "":
		return gap.VersionHas(s.req.Target.Version, arg)
	case key == "stdout" && arg != "":
		text = s.last.stdout
	case key == "stderr" && arg != "":
		text = s.last.stderr
	default:
		return false, fmt.Errorf("unknown condition %q", cond)
	}
	re, err := regexp.Compile("(?m)" + cond[len("stdout:"):])
	return err == nil && re.MatchString(text), err
}
