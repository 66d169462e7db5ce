package conversation

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"tmuxmcp/internal/procstat"
	"tmuxmcp/internal/test/testtool"
)

const (
	session = "0a1b2c3d-0000-4000-8000-000000000001"
	other   = "0a1b2c3d-0000-4000-8000-000000000002"
)

// A place is a home, and a directory in which agents work.
type place struct {
	*testing.T
	home, dir string
}

func newPlace(t *testing.T) *place {
	p := &place{t, t.TempDir(), t.TempDir()}
	return p
}

// run runs a shell command as the agent, and returns its process.
func (p *place) run(command string, cred *syscall.Credential) *procstat.Process {
	p.Helper()
	cmd := exec.Command("sh", "-c", command+"; echo; read end")
	cmd.Env, cmd.Dir = []string{"HOME=" + p.home, "PATH=" + os.Getenv("PATH")}, p.dir
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: cred}
	in, inErr := cmd.StdinPipe()
	out, outErr := cmd.StdoutPipe()
	if err := errors.Join(inErr, outErr); err != nil {
		p.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		p.Fatal(err)
	}
	p.Cleanup(func() {
		_ = in.Close()
		_ = cmd.Wait() // read fails at the end
	})
	if _, err := out.Read(make([]byte, 1)); err != nil {
		p.Fatal(err)
	}
	stat, err := procstat.Of(cmd.Process.Pid)
	if err != nil {
		p.Fatal(err)
	}
	// What is written from now on has a later time than the process, both of which are known to
	// a hundredth of a second.
	began, probe := time.Now(), filepath.Join(p.TempDir(), "probe")
	testtool.Eventually(p, "the clock of files goes on", func() bool {
		if err := os.WriteFile(probe, []byte("x"), 0o600); err != nil {
			p.Fatal(err)
		}
		info, err := os.Stat(probe)
		return err == nil && info.ModTime().Sub(began) > 20*time.Millisecond
	})
	return &stat
}

// write writes a file below the home.
func (p *place) write(name, text string) string {
	p.Helper()
	path := filepath.Join(p.home, name)
	err := os.MkdirAll(filepath.Dir(path), 0o700)
	if err == nil {
		err = os.WriteFile(path, []byte(text), 0o600)
	}
	if err != nil {
		p.Fatal(err)
	}
	return path
}

// claudes writes the file by which claude names its conversation.
func (p *place) claudes(of *procstat.Process, session string) {
	p.write(fmt.Sprintf(".claude/sessions/%d.json", of.PID),
		fmt.Sprintf(`{"pid":%d,"sessionId":%q,"procStart":"%d","status":"waiting","waitingFor":"permission prompt"}`, of.PID, session, of.Started))
}

func claudeSays(id, by, text, stop string) string {
	return fmt.Sprintf(`{"type":%q,"uuid":%q,"timestamp":"2026-11-28T17:35:22.192Z","message":{"content":[{"type":"text","text":%q}],"stop_reason":%q}}`+"\n", by, id, text, stop)
}

func (p *place) reads(a Agent, since string) *Conversation {
	p.Helper()
	c, err := Read(p.Context(), a, since)
	if err != nil {
		p.Fatal(err)
	}
	return c
}

// refuses checks that there is nothing to read, and why.
func (p *place) refuses(a Agent, why string) {
	p.Helper()
	c, err := Read(p.Context(), a, "")
	var cannot *Unreadable
	if !errors.As(err, &cannot) || !strings.Contains(cannot.Why, why) {
		p.Errorf("%v, %v; want %s", c, err, why)
	}
}

// said shows messages.
func said(c *Conversation) string {
	var b strings.Builder
	for _, m := range c.Messages {
		by, end := "agent", ""
		if m.User {
			by = "user"
		}
		if m.Ends {
			end = "."
		}
		fmt.Fprintf(&b, "%s: %s%s\n", by, m.Text, end)
	}
	return b.String()
}

func (p *place) want(c *Conversation, want string) {
	p.Helper()
	if got := said(c); got != want {
		p.Errorf("read %q, want %q", got, want)
	}
}

// Of two agents in one directory, each has the conversation of its process.
func TestTwoAgentsInOneDirectory(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	one, two := p.run(":", nil), p.run(":", nil)
	p.claudes(one, session)
	p.claudes(two, other)
	p.write(".claude/projects/here/"+session+".jsonl", claudeSays("1", "user", "one?", "")+claudeSays("2", "assistant", "One.", "end_turn"))
	p.write(".claude/projects/here/"+other+".jsonl", claudeSays("1", "user", "two?", "")+claudeSays("2", "assistant", "Two", "tool_use"))
	p.want(p.reads(Agent{Name: "claude", PIDs: []int{one.PID}}, ""), "user: one?\nagent: One..\n")
	c := p.reads(Agent{Name: "claude", PIDs: []int{two.PID}}, "")
	p.want(c, "user: two?\nagent: Two\n")
	if c.Messages[1].Ends {
		t.Error("an answer that goes on counts as complete")
	}
	p.refuses(Agent{Name: "claude", PIDs: []int{one.PID, two.PID}}, "two processes")
	if s := StateOf(t.Context(), Agent{Name: "claude", PIDs: []int{one.PID}}); s == nil || s.Doing != "waiting" || s.For != "permission prompt" {
		t.Errorf("its state is %+v", s)
	}
}

// What cannot be proven, or does not look as expected, is not read.
func TestClaudeUnreadable(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	run := p.run(":", nil)
	a := Agent{Name: "claude", PIDs: []int{run.PID}}
	name := ".claude/projects/here/" + session + ".jsonl"
	p.refuses(Agent{Name: "claude"}, "not known")
	p.refuses(Agent{Name: "emacs", PIDs: a.PIDs}, "where emacs writes")
	p.refuses(a, ".claude")
	p.claudes(run, session)
	p.refuses(a, "0 files")

	// A file of an earlier process with this id.
	earlier := *run
	earlier.Started--
	p.claudes(&earlier, session)
	text := claudeSays("1", "user", "q", "") + claudeSays("2", "assistant", "a", "end_turn")
	p.write(name, text)
	p.refuses(a, "of another process")
	p.write(fmt.Sprintf(".claude/sessions/%d.json", run.PID), `{"pid":"?"}`)
	p.refuses(a, "another form")
	p.write(fmt.Sprintf(".claude/sessions/%d.json", run.PID), fmt.Sprintf(`{"pid":%d,"sessionId":"../../../x","procStart":"%d"}`, run.PID, run.Started))
	p.refuses(a, "another form")
	p.claudes(run, session)
	p.want(p.reads(a, ""), "user: q\nagent: a.\n")

	// Two files, a file of another form, an empty one.
	p.write(".claude/projects/there/"+session+".jsonl", text)
	p.refuses(a, "2 files")
	os.RemoveAll(filepath.Join(p.home, ".claude/projects/there"))
	p.write(name, "{}\n[]\nnull\n\"x\"\nwhat\n")
	p.refuses(a, "another form")

	// A link that leads out, a directory, a pipe, another user's file.
	path := filepath.Join(p.home, name)
	for what, make := range map[string]func() error{
		"escapes":   func() error { return os.Symlink(p.write("elsewhere.jsonl", text), path) },
		"a regular": func() error { return os.Mkdir(path, 0o700) },
		"regular":   func() error { return syscall.Mkfifo(path, 0o600) },
	} {
		os.RemoveAll(path)
		if err := make(); err != nil {
			t.Fatal(err)
		}
		p.refuses(a, what)
	}
	os.RemoveAll(path)
	// A link that stays within is followed.
	if err := os.Symlink(filepath.Base(p.write(".claude/projects/here/real", text)), path); err != nil {
		t.Fatal(err)
	}
	p.want(p.reads(a, ""), "user: q\nagent: a.\n")
}

func TestAnotherUsersFilesAndProcesses(t *testing.T) {
	t.Parallel()
	if os.Geteuid() != 0 {
		t.Skip("only root can give a file, or a process, to another user")
	}
	p := newPlace(t)
	run := p.run(":", nil)
	a := Agent{Name: "claude", PIDs: []int{run.PID}}
	p.claudes(run, session)
	path := p.write(".claude/projects/here/"+session+".jsonl", claudeSays("1", "user", "q", ""))
	p.want(p.reads(a, ""), "user: q\n")
	if err := os.Chown(path, 65534, 65534); err != nil {
		t.Fatal(err)
	}
	p.refuses(a, "another user's")
	for _, dir := range []string{p.home, p.dir} {
		if err := os.Chmod(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	theirs := newPlace(t)
	theirs.dir = "/"
	cred := theirs.run(":", &syscall.Credential{Uid: 65534, Gid: 65534})
	theirs.refuses(Agent{Name: "claude", PIDs: []int{cred.PID}}, "another user's")
}

// A conversation that is being written is read as far as its lines are complete; a cursor
// goes on there.
func TestHalfWritten(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	run := p.run(":", nil)
	a := Agent{Name: "claude", PIDs: []int{run.PID}}
	p.claudes(run, session)
	name := ".claude/projects/here/" + session + ".jsonl"
	question, answer := claudeSays("1", "user", "q", ""), claudeSays("2", "assistant", "a", "end_turn")
	p.write(name, question+answer[:len(answer)/2])
	c := p.reads(a, "")
	p.want(c, "user: q\n")
	p.write(name, question+answer+claudeSays("3", "user", "next", ""))
	p.want(p.reads(a, c.Cursor), "agent: a.\nuser: next\n")
	p.want(p.reads(a, ""), "user: next\n")
	p.write(name, question+answer+strings.Replace(claudeSays("3", "user", "next", ""), `"2026`, `"x2026`, 1))
	p.refuses(a, "another form")
	p.write(name, question+answer+claudeSays("3", "user", "next", ""))
	c = p.reads(a, session+":0")
	if c.Portion(1); len(c.Messages) != 1 {
		t.Errorf("a portion has %d messages", len(c.Messages))
	} else {
		p.want(p.reads(a, c.Cursor), "agent: a.\nuser: next\n")
	}
	for _, bad := range []string{"x", session, session + ":-1", session + ":3", session + ":999999", other + ":0", session + ":99999999999999999999"} {
		if c, err := Read(p.Context(), a, bad); !errors.As(err, new(BadCursor)) {
			t.Errorf("%s is taken for a cursor: %v %v", bad, c, err)
		}
	}
}

// Of a file of 2 GB, only the end is read, and no more than 16 MB.
func TestHugeConversation(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	run := p.run(":", nil)
	a := Agent{Name: "claude", PIDs: []int{run.PID}}
	p.claudes(run, session)
	path := p.write(".claude/projects/here/"+session+".jsonl", claudeSays("1", "user", "long ago", ""))
	if err := os.Truncate(path, 2<<30); err != nil {
		t.Fatal(err)
	}
	p.refuses(a, "more to read than 16 MB") // one line that does not end
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	filler := claudeSays("f", "system", strings.Repeat("x", 1<<20), "")
	if _, err := f.WriteString("\n" + claudeSays("2", "user", "near", "") + strings.Repeat(filler, 10) + claudeSays("3", "assistant", "a", "end_turn")); err != nil {
		t.Fatal(err)
	}
	p.want(p.reads(a, ""), "user: near\nagent: a.\n")
	if _, err := f.WriteString(strings.Repeat(filler, 17) + claudeSays("4", "assistant", "b", "end_turn")); err != nil {
		t.Fatal(err)
	}
	p.want(p.reads(a, ""), "agent: b.\n") // its prompt is too far back
	// A line that is too long is not passed over in silence.
	end := p.reads(a, "").Cursor
	long := claudeSays("5", "user", strings.Repeat("x", 17<<20), "")
	if _, err := f.WriteString(long + claudeSays("6", "assistant", "c", "end_turn")); err != nil {
		t.Fatal(err)
	}
	if c, err := Read(p.Context(), a, end); !errors.As(err, new(BadCursor)) || !strings.Contains(err.Error(), "too long") {
		t.Errorf("%v (%v)", c, err)
	}
	p.want(p.reads(a, ""), "agent: c.\n")
}

// codex keeps the file of its conversation open.
func TestCodexHasItsConversationOpen(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	line := func(at, kind, payload string) string {
		return fmt.Sprintf(`{"timestamp":"2026-11-28T17:35:%sZ","type":%q,"payload":%s}`+"\n", at, kind, payload)
	}
	meta := line("00", "session_meta", `{"id":"`+session+`","source":"cli","thread_source":"user"}`)
	file := func(dir, session string) string {
		return dir + "/sessions/2026/11/28/rollout-2026-11-28T17-35-42-" + session + ".jsonl"
	}
	text := meta + line("01", "event_msg", `{"type":"user_message","message":"old form?"}`) + line("02", "event_msg", `{"type":"agent_message","message":"Yes."}`) +
		line("03", "event_msg", `{"type":"task_complete"}`) + line("04", "event_msg", `{"type":"item_completed","item":{"type":"UserMessage","id":"u","content":[{"type":"text","text":"new form?"}]}}`) +
		line("05", "event_msg", `{"type":"item_completed","item":{"type":"Reasoning","id":"r","content":[{"type":"text","text":"secret"}]}}`) +
		line("06", "event_msg", `{"type":"item_completed","item":{"type":"AgentMessage","id":"a","content":[{"type":"Text","text":"Yes, too."}]}}`) +
		line("07", "response_item", `{"type":"function_call_output","output":"secret"}`)
	path := p.write(file(".codex", session), text)
	run := p.run("exec 7>>"+path, nil)
	a := Agent{Name: "codex", PIDs: []int{run.PID}}
	c := p.reads(a, "")
	p.want(c, "user: new form?\nagent: Yes, too.\n")
	p.want(p.reads(a, session+":"+strconv.Itoa(len(meta))), "user: old form?\nagent: Yes..\nuser: new form?\nagent: Yes, too.\n")

	// Another one in the directory, that another process has open.
	p.write(file(".codex", other), text)
	p.want(p.reads(a, ""), "user: new form?\nagent: Yes, too.\n")
	p.refuses(Agent{Name: "codex", PIDs: []int{p.run(":", nil).PID}}, "no conversation open")
	// A subagent's is not the user's; of two that are, none is chosen.
	sub := p.write(file(".codex", other), line("00", "session_meta", `{"source":{"subagent":"review"}}`)+text)
	run = p.run("exec 7>>"+path+" 8>>"+sub, nil)
	p.want(p.reads(Agent{Name: "codex", PIDs: []int{run.PID}}, ""), "user: new form?\nagent: Yes, too.\n")
	p.write(file(".codex", other), text)
	p.refuses(Agent{Name: "codex", PIDs: []int{run.PID}}, "2 conversations open")
	// A file elsewhere is none of codex's.
	run = p.run("exec 7>>"+p.write(file("else", session), text), nil)
	p.refuses(Agent{Name: "codex", PIDs: []int{run.PID}}, "no conversation open")
}

// gemini's conversations do not say whose they are: the screen has to.
func TestGeminiByItsScreen(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	run := p.run(":", nil)
	a := Agent{Name: "gemini", PIDs: []int{run.PID}}
	p.refuses(a, ".gemini")
	p.write(".gemini/projects.json", fmt.Sprintf(`{"projects":{%q:"here"}}`, p.dir))
	p.refuses(a, "has written no conversation")
	p.write(".gemini/tmp/here/.project_root", p.dir)
	p.refuses(a, "has written no conversation")
	chat := func(name, session, prompt, answer string) string {
		return p.write(".gemini/tmp/here/chats/session-"+name+".jsonl", fmt.Sprintf(`{"sessionId":%q,"kind":"main"}`, session)+"\n"+
			`{"$set":{"messages":[{"id":"0","type":"user","content":[{"text":"<session_context>\nsecret"}]}]}}`+"\n"+
			fmt.Sprintf(`{"id":"1","timestamp":"2026-11-28T17:35:58.267Z","type":"user","content":[{"text":%q}]}`, prompt)+"\n"+
			fmt.Sprintf(`{"id":"2","type":"gemini","content":%q,"thoughts":["secret"]}`, answer)+"\n")
	}
	const long = "It is the *first* of the two files, and it is quite long.\n\n```go\nx := 1\n```"
	chat("1", session, "Which one?", long)
	a.Screen = []string{"> Which one?", "✦ It is the first of the two files,", "  and it is quite long.", "", "  1 x := 1", "type your message"}
	p.want(p.reads(a, ""), "user: Which one?\nagent: "+long+".\n")
	// The screen shows another end.
	shown := a.Screen
	a.Screen = []string{"> Which one?", "✦ It is the second", "  and it is quite long.", "", "  1 x := 1"}
	p.refuses(a, "does not show the end")
	a.Screen = nil
	p.refuses(a, "does not show the end")
	a.Screen = shown
	// Another conversation ends in another way, or in the same.
	second := chat("2", other, "Which one?", "It is the second.")
	p.want(p.reads(a, ""), "user: Which one?\nagent: "+long+".\n")
	chat("2", other, "Which one?", long)
	p.refuses(a, "what 2 conversations")
	// One that was written before the process began is none of its.
	before := time.Now().Add(-time.Hour)
	if err := os.Chtimes(second, before, before); err != nil {
		t.Fatal(err)
	}
	c := p.reads(a, "")
	p.want(p.reads(a, c.Cursor), "")
	// Another one, of which too little was read to know how it ends.
	third := p.large(".gemini/tmp/here/chats/session-3.jsonl", fmt.Sprintf(`{"sessionId":%q}`, other)+"\n")
	f, err := os.OpenFile(third, os.O_WRONLY|os.O_APPEND, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if _, err := f.WriteString(`{"id":"1","type":"gemini","content":"","toolCalls":[{}]}` + "\n"); err != nil {
		t.Fatal(err)
	}
	p.refuses(a, "more to read")
}

// What is replaced, taken back or a tool's does not count.
func TestParseGemini(t *testing.T) {
	t.Parallel()
	r := new(reader)
	for line := range strings.Lines(`{"id":"1","type":"user","content":[{"text":"one"}]}
{"id":"2","type":"gemini","content":"first"}
{"id":"2","type":"gemini","content":"first","toolCalls":[{"id":"t"}]}
{"id":"3","type":"user","content":[{"functionResponse":{"output":"secret"}}]}
{"id":"4","type":"gemini","content":"gone"}
{"$rewindTo":"4"}
{"$set":{"lastUpdated":"x"}}
{"id":"5","type":"info","content":"secret"}
{"id":"6","type":"gemini","content":[{"text":"thinking","thought":true},{"text":"second"}]}
`) {
		parseGemini([]byte(line), r)
	}
	if got := said(&Conversation{Messages: r.messages}); got != "user: one\nagent: first\nagent: second.\n" {
		t.Errorf("%q", got)
	}
}

// Nothing of claude's own, of tools or of thinking is shown.
func TestParseClaude(t *testing.T) {
	t.Parallel()
	r := new(reader)
	for line := range strings.Lines(`{"type":"user","message":{"content":"plain"},"origin":{"kind":"human"}}
{"type":"user","message":{"content":"secret"},"origin":{"kind":"task-notification"}}
{"type":"user","message":{"content":"secret"},"isMeta":true}
{"type":"user","message":{"content":"secret"},"isSidechain":true}
{"type":"user","message":{"content":"secret"},"isCompactSummary":true}
{"type":"user","message":{"content":[{"type":"tool_result","content":"secret"}]},"toolUseResult":{"stdout":"secret"}}
{"type":"user","message":{"content":"<command-name>/model</command-name>"}}
{"type":"user","message":{"content":[{"type":"text","text":"[Request interrupted by user]"}]}}
{"type":"user","message":{"content":[{"type":"text","text":"<system-reminder>secret</system-reminder>"},{"type":"text","text":"two"}]}}
{"type":"attachment","attachment":{"type":"queued_command","prompt":"queued"}}
{"type":"attachment","attachment":{"type":"date","prompt":"secret"},"note":"\"user\""}
{"type":"assistant","message":{"content":[{"type":"thinking","thinking":"secret"}],"stop_reason":null}}
{"type":"assistant","message":{"content":[{"type":"tool_use","input":{"text":"secret"}}],"stop_reason":"tool_use"}}
{"type":"assistant","message":{"content":[{"type":"text","text":"a"},{"type":"text","text":"b"}],"stop_reason":"end_turn"}}
{"type":"system","content":"secret of the \"user\""}
`) {
		parseClaude([]byte(line), r)
	}
	if got := said(&Conversation{Messages: r.messages}); got != "user: plain\nuser: two\nuser: queued\nagent: a\n\nb.\n" {
		t.Errorf("%q", got)
	}
}

// copilot and grok keep a file beside their conversation open.
func TestConversationsBesideAnOpenFile(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.write(".copilot/session-state/"+session+"/events.jsonl", `{"type":"session.start","id":"0"}
{"type":"user.message","id":"1","timestamp":"2026-11-28T18:49:25.460Z","data":{"content":"q?","transformedContent":"secret"}}
{"type":"system.message","data":{"content":"secret"}}
{"type":"assistant.message","id":"2","data":{"content":"I look.","toolRequests":[{"name":"bash"}]}}
{"type":"assistant.message","id":"3","data":{"content":"secret","parentToolCallId":"call"}}
{"type":"tool.execution_complete","data":{"result":{"content":"secret"}}}
{"type":"assistant.message","id":"4","data":{"content":"**a**","toolRequests":[]}}
`)
	hold := p.write(".copilot/session-state/"+session+"/inuse.7.hold", "")
	p.write(".grok/sessions/here/"+session+"/chat_history.jsonl", `{"type":"system","content":"secret"}
{"type":"user","content":[{"type":"text","text":"<user_info>secret</user_info>"}]}
{"type":"user","content":[{"type":"text","text":"<user_query>\nq?\nmore\n</user_query>"}]}
{"type":"assistant","content":"I look.","tool_calls":[{"id":"c"}]}
{"type":"tool_result","content":"secret"}
{"type":"assistant","content":"**a**"}
`)
	events := p.write(".grok/sessions/here/"+session+"/events.jsonl", "")
	run := p.run("exec 7>>"+hold+" 8>>"+events, nil)
	p.want(p.reads(Agent{Name: "copilot", PIDs: []int{run.PID}}, ""), "user: q?\nagent: I look.\nagent: **a**.\n")
	p.want(p.reads(Agent{Name: "grok", PIDs: []int{run.PID}}, ""), "user: q?\nmore\nagent: I look.\nagent: **a**.\n")
	run = p.run("exec 7>>"+hold+" 8>>"+p.write(".copilot/session-state/"+other+"/inuse.8.hold", ""), nil)
	p.refuses(Agent{Name: "copilot", PIDs: []int{run.PID}}, "2 conversations open")
	p.refuses(Agent{Name: "grok", PIDs: []int{run.PID}}, "0 conversations open")
}

// qwen has a file that names the process.
func TestQwenNamesItsProcess(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	run := p.run(":", nil)
	a := Agent{Name: "qwen", PIDs: []int{run.PID}}
	chats := ".qwen/projects/here/chats/"
	p.write(chats+session+".jsonl", `{"uuid":"1","sessionId":"s","type":"user","provenance":"real_user","message":{"parts":[{"text":"q?"}]}}
{"uuid":"2","type":"user","provenance":"system","message":{"parts":[{"text":"secret"}]}}
{"uuid":"3","type":"assistant","provenance":"assistant_output","message":{"parts":[{"text":"secret","thought":true},{"text":"I look."},{"functionCall":{}}]}}
{"uuid":"4","type":"tool_result","provenance":"tool","message":{"parts":[{"functionResponse":{"output":"secret"}}]}}
{"uuid":"5","type":"assistant","provenance":"assistant_output","message":{"parts":[{"text":"**a**"}]}}
`)
	runtime := func(session string, pid int, at time.Time) string {
		return p.write(chats+session+".runtime.json", fmt.Sprintf(`{"schema_version":1,"pid":%d,"session_id":%q,"started_at":%d.5}`, pid, session, at.Unix()+1))
	}
	p.refuses(a, "no file says")
	runtime(session, run.PID+1, time.Now())
	p.refuses(a, "no file says")
	runtime(session, run.PID, time.Now().Add(-time.Hour))
	p.refuses(a, "no file says") // it is of an earlier process
	runtime(session, run.PID, time.Now())
	p.want(p.reads(a, ""), "user: q?\nagent: I look.\nagent: **a**.\n")
	runtime(other, run.PID, time.Now())
	p.refuses(a, "two files")
}

// pi's directories have names that may be spelt alike.
func TestPiByItsScreen(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.dir = t.TempDir()
	for _, dir := range []string{"a-b", "a/b"} {
		if err := os.MkdirAll(filepath.Join(p.dir, dir), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	root := p.dir
	place := "--" + strings.ReplaceAll(strings.TrimPrefix(root, "/"), "/", "-") + "-a-b--"
	chat := func(name, session, dir string) {
		p.write(".pi/agent/sessions/"+place+"/"+name+".jsonl", fmt.Sprintf(`{"type":"session","id":%q,"cwd":%q}`+"\n", session, filepath.Join(root, dir))+
			`{"type":"message","id":"0","message":{"role":"system","content":"secret"}}
{"type":"message","id":"1","message":{"role":"user","content":[{"type":"text","text":"which is it?"}]}}
{"type":"message","id":"2","message":{"role":"assistant","content":[{"type":"text","text":"I look."},{"type":"toolCall"}],"stopReason":"toolUse"}}
{"type":"message","id":"3","message":{"role":"toolResult","content":[{"type":"text","text":"secret"}]}}
{"type":"message","id":"4","message":{"role":"assistant","content":[{"type":"text","text":"the **second**"}],"stopReason":"stop"}}
`)
	}
	p.dir = filepath.Join(root, "a/b")
	a := Agent{Name: "pi", PIDs: []int{p.run(":", nil).PID}, Screen: []string{" which is it?", "", " I look.", "", " the second   │ files"}}
	chat("one", session, "a/b")
	chat("two", other, "a-b")
	c := p.reads(a, "")
	p.want(c, "user: which is it?\nagent: I look.\nagent: the **second**.\n")
	if !strings.HasPrefix(c.Cursor, session) {
		t.Errorf("it is %s", c.Cursor)
	}
	for _, screen := range [][]string{{"b"}, {"which is it?", "I look.", "the second, and more"}, {"which is it? I look. the second"}} {
		a.Screen = screen
		p.refuses(a, "does not show")
	}
}

// What a screen has in its own words is no end of a conversation.
func TestShows(t *testing.T) {
	t.Parallel()
	of := func(prompt, answer string) []Message { return []Message{{User: true, Text: prompt}, {Text: answer}} }
	for _, c := range []struct {
		messages []Message
		screen   string
		want     bool
	}{
		{of("1+1?", "two"), "pi 1.6.0  /home/me/network   ready", false},
		{of("hi", "Type"), "this is it\n\nType your message", false},
		{of("hi", "Hello"), "hi\nHello", false}, // any conversation may begin so
		{of("How are you?", "Well, thanks."), "> How are you?\n\n● Well, thanks.", true},
		{of("How are you?", "Well, thanks."), "> How are you?\n\n● Well,\n  thanks.", true},
		{of("How are you?", "Well, thanks."), "> How are you?\n\n● Well, thanks. And you?", false},
		{of("How are you?", ""), "> How are you?", false},
		{of("a", strings.Repeat("long words and more of them ", 9)+"end"), "of them long words and more of them long words\nand more of them end", true},
		{of("a", strings.Repeat("long words and more of them ", 9)+"end"), "of them long words and more of them long words", false},
		{nil, "anything at all", false},
	} {
		if got := shows(strings.Split(c.screen, "\n"), c.messages); got != c.want {
			t.Errorf("%q shows %+v: %t", c.screen, c.messages, got)
		}
	}
}
