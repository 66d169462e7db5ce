package conversation

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"tmuxmcp/internal/test/testtool"
)

// bytesRead returns how much this thread has read, as the kernel counts it.
func bytesRead(t *testing.T) (n int64) {
	t.Helper()
	text, err := os.ReadFile("/proc/thread-self/io")
	if err == nil {
		_, err = fmt.Sscanf(string(text), "rchar: %d", &n)
	}
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// ownReading is more than what bytesRead itself reads.
const ownReading = 4096

// endsAt is a context that is canceled when it is asked for the nth time.
type endsAt struct {
	context.Context
	cancel  func()
	n, asks int
	atEnd   func()
}

func (c *endsAt) Err() error {
	if c.asks++; c.asks == c.n {
		c.cancel()
		c.atEnd()
	}
	return c.Context.Err()
}

// large writes a file of a conversation of 17 MB that shows no prompt, most of it a hole.
func (p *place) large(name, first string) string {
	p.Helper()
	path := p.write(name, first)
	f, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		p.Fatal(err)
	}
	defer f.Close()
	if _, err := f.WriteAt([]byte("\n"), 17<<20); err != nil {
		p.Fatal(err)
	}
	return path
}

// larges makes agents of every format that each have more to read than a call reads.
func larges(t *testing.T) map[string]func(p *place) Agent {
	return map[string]func(p *place) Agent{
		"claude": func(p *place) Agent {
			run := p.run(":", nil)
			p.claudes(run, session)
			p.large(".claude/projects/here/"+session+".jsonl", "")
			return Agent{PIDs: []int{run.PID}}
		},
		"codex": func(p *place) Agent {
			path := p.large(".codex/sessions/2026/11/28/rollout-2026-11-28T17-35-42-"+session+".jsonl", `{"payload":{}}`+"\n")
			return Agent{PIDs: []int{p.run("exec 7>>"+path, nil).PID}}
		},
		"copilot": func(p *place) Agent {
			p.large(".copilot/session-state/"+session+"/events.jsonl", "")
			return Agent{PIDs: []int{p.run("exec 7>>"+p.write(".copilot/session-state/"+session+"/inuse.7.hold", ""), nil).PID}}
		},
		"grok": func(p *place) Agent {
			p.large(".grok/sessions/here/"+session+"/chat_history.jsonl", "")
			return Agent{PIDs: []int{p.run("exec 7>>"+p.write(".grok/sessions/here/"+session+"/events.jsonl", ""), nil).PID}}
		},
		"qwen": func(p *place) Agent {
			run := p.run(":", nil)
			for i := range 100 { // small files, each of another process
				p.write(fmt.Sprintf(".qwen/projects/here/chats/%d.runtime.json", i), "{}"+strings.Repeat(" ", 200<<10))
			}
			return Agent{PIDs: []int{run.PID}}
		},
		"gemini": func(p *place) Agent {
			run := p.run(":", nil)
			p.write(".gemini/projects.json", fmt.Sprintf(`{"projects":{%q:"here"}}`, p.dir))
			p.write(".gemini/tmp/here/.project_root", p.dir)
			for i := range mostCandidates {
				p.large(fmt.Sprintf(".gemini/tmp/here/chats/session-%d.jsonl", i), `{"sessionId":"`+session+`"}`+"\n")
			}
			return Agent{PIDs: []int{run.PID}}
		},
		"pi": func(p *place) Agent {
			run := p.run(":", nil)
			dir := "--" + strings.ReplaceAll(strings.TrimPrefix(p.dir, "/"), "/", "-") + "--"
			for i := range mostCandidates {
				p.large(fmt.Sprintf(".pi/agent/sessions/%s/%d.jsonl", dir, i), fmt.Sprintf(`{"type":"session","id":%q,"cwd":%q}`+"\n", session, p.dir))
			}
			return Agent{PIDs: []int{run.PID}}
		},
		"opencode": database,
		"kilo":     database,
	}
}

// database starts a sqlite3 in the place of opencode or kilo, with 20 MB of messages.
func database(p *place) Agent {
	path := testtool.Path(p, "sqlite3")
	name := p.Name()[strings.LastIndexByte(p.Name(), '/')+1:]
	db := p.write(".local/share/"+name+"/"+name+".db", "")
	p.write("sql", fmt.Sprintf(`.output /dev/null
PRAGMA journal_mode=WAL;
CREATE TABLE session (id text PRIMARY KEY, directory text NOT NULL, parent_id text, time_updated integer NOT NULL);
CREATE TABLE message (id text PRIMARY KEY, session_id text NOT NULL, time_created integer NOT NULL, data text NOT NULL);
CREATE TABLE part (id text PRIMARY KEY, message_id text NOT NULL, data text NOT NULL);
CREATE INDEX message_session_idx ON message (session_id, time_created, id);
CREATE INDEX part_message_idx ON part (message_id, id);
INSERT INTO session VALUES ('%[1]s', '%[2]s', NULL, %[3]d);
WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i+1 FROM n WHERE i<200)
INSERT INTO message SELECT 'msg_'||i, '%[1]s', i, '{"role":"assistant"}' FROM n;
INSERT INTO part SELECT 'prt_'||id, id, printf('{"type":"text","text":"%%.*c"}', 100000, 'x') FROM message;
.output
SELECT 'ready';
`, session, p.dir, time.Now().Add(time.Hour).UnixMilli()))
	run := p.run(fmt.Sprintf("exec %s -batch -init %s %s", path, filepath.Join(p.home, "sql"), db), nil)
	return Agent{PIDs: []int{run.PID}}
}

// However many files and attempts it takes, a call reads no more than its limit, says so, and
// stops once it is canceled.
func TestOneBudget(t *testing.T) {
	t.Parallel()
	all := larges(t)
	for name := range sources {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newPlace(t)
			a := all[name](p)
			a.Name = name
			runtime.LockOSThread()
			defer runtime.UnlockOSThread()

			before := bytesRead(t)
			whole := &endsAt{Context: t.Context()}
			c, err := Read(whole, a, "")
			if !errors.As(err, new(*Unreadable)) || !strings.Contains(err.Error(), "more to read than 16 MB") {
				t.Errorf("%v (%v)", c, err)
			}
			n := bytesRead(t) - before
			if n > mostRead+ownReading || n < mostRead/4 {
				t.Errorf("%d bytes read; the limit is %d", n, mostRead)
			}

			var atEnd int64
			half := &endsAt{n: whole.asks / 2, atEnd: func() { atEnd = bytesRead(t) }}
			half.Context, half.cancel = context.WithCancel(t.Context())
			if c, err := Read(half, a, ""); !errors.Is(err, context.Canceled) {
				t.Errorf("%v (%v)", c, err)
			}
			if n := bytesRead(t) - atEnd; atEnd == 0 || n > ownReading {
				t.Errorf("%d bytes read after it was canceled", n)
			}
		})
	}
}

// One of several calls reads at a time, and those that wait for it can be canceled.
func TestReadingInTurns(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	run := p.run(":", nil)
	a := Agent{Name: "claude", PIDs: []int{run.PID}}
	p.claudes(run, session)
	path := p.large(".claude/projects/here/"+session+".jsonl", "")
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	filler := claudeSays("f", "system", strings.Repeat("x", 1<<20), "")
	if _, err := f.WriteString(claudeSays("2", "user", "q", "") + strings.Repeat(filler, 5) + claudeSays("3", "assistant", "a", "end_turn")); err != nil {
		t.Fatal(err)
	}

	turn <- struct{}{}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error)
	go func() {
		_, err := Read(ctx, a, "")
		ended <- err
	}()
	cancel()
	if err := <-ended; !errors.Is(err, context.Canceled) {
		t.Errorf("a call that waits for its turn: %v", err)
	}
	<-turn

	var calls sync.WaitGroup
	for i := range 8 {
		calls.Go(func() {
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			if i%2 == 1 {
				cancel()
			}
			c, err := Read(ctx, a, "")
			switch {
			case i%2 == 1 && errors.Is(err, context.Canceled):
			case err != nil || said(c) != "user: q\nagent: a.\n":
				t.Errorf("call %d: %v", i, err)
			}
		})
	}
	calls.Wait()
}
