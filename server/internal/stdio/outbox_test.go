package stdio

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/mark3labs/mcp-go/mcp"

	"tmuxmcp/internal/test/testtool"
)

// answerSize is about the size of an answer of a quiet client's tools.
const answerSize = 8 << 10

// quiet is a client that writes, but only reads once it is allowed to.
type quiet struct {
	*bench
	t     *testing.T
	sess  *session
	in    io.WriteCloser
	out   *bufio.Reader
	waits chan struct{}      // gets a token when a call of the tool "waits" begins
	ended chan error         // gets the reason why its context ended
	stop  context.CancelFunc // ends the server
	done  chan struct{}      // closed when it has ended
}

func newQuiet(t *testing.T) *quiet {
	q := &quiet{bench: newBench(), t: t, sess: newSession(small), waits: make(chan struct{}, 100), ended: make(chan error, 100), done: make(chan struct{})}
	large := strings.Repeat("x", answerSize)
	q.MCP.AddTool(mcp.Tool{Name: "described", Description: large, RawInputSchema: json.RawMessage(`{"type":"object"}`)}, nil)
	slots := make(chan struct{}, 64)
	q.add("large", func(ctx context.Context, _ mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		slots <- struct{}{}
		defer func() { <-slots }()
		Room(ctx)
		return mcp.NewToolResultText(large), nil
	})
	q.add("waits", func(ctx context.Context, _ mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		q.waits <- struct{}{}
		<-ctx.Done()
		q.ended <- context.Cause(ctx)
		return nil, ctx.Err()
	})
	q.add("notifies", func(ctx context.Context, _ mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		for i := range 5_000 {
			Notify(ctx, "notifications/message", map[string]any{"level": "info", "data": fmt.Sprint(i, large[:answerSize/10])})
		}
		return mcp.NewToolResultText("done"), nil
	})
	inR, inW := io.Pipe()
	outR, outW := io.Pipe()
	q.in, q.out = inW, bufio.NewReader(outR)
	ctx, cancel := context.WithCancel(t.Context())
	q.stop = cancel
	go func() {
		defer close(q.done)
		if err := q.serve(ctx, q.sess, inR, outW); err != nil && ctx.Err() == nil {
			t.Error(err)
		}
		outW.Close()
	}()
	t.Cleanup(func() {
		cancel()
		inR.Close()
		outR.Close()
		<-q.done
	})
	return q
}

// say writes lines until the server has taken them.
func (q *quiet) say(lines ...string) {
	q.t.Helper()
	if _, err := io.WriteString(q.in, strings.Join(lines, "\n")+"\n"); err != nil {
		q.t.Fatal(err)
	}
}

// isFull waits until the server holds as much as it may.
func (q *quiet) isFull() {
	q.t.Helper()
	testtool.Eventually(q.t, "the server has too much that is unread", func() bool {
		select {
		case <-q.sess.out.room():
			return false
		default:
			return true
		}
	})
}

// holdsAtMost fails if more than n bytes have ever waited for the client.
func (q *quiet) holdsAtMost(n int) {
	q.t.Helper()
	q.sess.out.mu.Lock()
	defer q.sess.out.mu.Unlock()
	if q.sess.out.most > n {
		q.t.Errorf("%d bytes waited for the client, at most %d may", q.sess.out.most, n)
	}
}

// all reads to the end and returns how many lines contain a text. It ends the input when
// the wanted number has arrived, since the server then has only some seconds left, or after
// some minutes.
func (q *quiet) all(text string, want int) (n int) {
	q.t.Helper()
	late := time.AfterFunc(5*time.Minute, func() { q.in.Close() })
	defer late.Stop()
	for {
		line, err := q.out.ReadString('\n')
		if err != nil {
			return n
		}
		if strings.Contains(line, text) {
			n++
		}
		if n == want {
			q.in.Close()
		}
	}
}

func callOf(id int, tool string) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":%q}}`, id, tool)
}

// TestAClientThatNeverReads: what waits for it is bounded, and nothing is lost.
func TestAClientThatNeverReads(t *testing.T) {
	lines := testtool.Size(300, 800) // four times what may wait
	large := strings.Repeat("y", answerSize)
	for name, c := range map[string]struct {
		revision string
		line     func(i int) string
		// over is what may wait beyond the bound: one answer, or the answers of all calls
		// that have begun.
		over int
	}{
		"lists":                 {"2025-06-18", func(i int) string { return fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"tools/list"}`, i) }, 2 * answerSize},
		"calls":                 {"2025-06-18", func(i int) string { return callOf(i, "large") }, 65 * 2 * answerSize},
		"what cannot be served": {"2025-06-18", func(i int) string { return fmt.Sprintf(`{"jsonrpc":"2.0","id":"%d%s","method":"nothing"}`, i, large) }, 2 * answerSize},
		"no requests":           {"2025-06-18", func(i int) string { return fmt.Sprintf(`{"jsonrpc":"1.0","id":"%d%s"}`, i, large) }, 2 * answerSize},
		"batches":               {"2025-03-26", func(i int) string { return "[" + callOf(2*i, "large") + "," + callOf(2*i+1, "large") + "]" }, 65 * 4 * answerSize},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			q := newQuiet(t)
			q.say(initialize(c.revision))
			go func() {
				for i := range lines {
					if _, err := io.WriteString(q.in, c.line(i)+"\n"); err != nil {
						return
					}
				}
			}()
			q.isFull()
			if n := q.all(`"jsonrpc":"2.0"`, lines+1) - 1; n != lines {
				t.Errorf("%d answers to %d lines", n, lines)
			}
			q.holdsAtMost(small.held + c.over)
		})
	}
}

// TestNotificationsWait: a call that notifies waits for a client that does not read.
func TestNotificationsWait(t *testing.T) {
	t.Parallel()
	q := newQuiet(t)
	q.say(initialize("2025-06-18"), callOf(1, "notifies"))
	q.isFull()
	q.holdsAtMost(small.held + answerSize)
	if n := q.all(`"method":"notifications/message"`, 5_000); n != 5_000 {
		t.Errorf("%d of 5000 notifications came", n)
	}
}

// TestQuietClientsAreServed: below the bound, a client that reads nothing can still cancel,
// whatever waits for it already, and the server ends when it must.
func TestQuietClientsAreServed(t *testing.T) {
	t.Parallel()
	q := newQuiet(t)
	q.say(initialize("2025-06-18"), callOf(1, "waits"))
	<-q.waits
	for i := range 50 {
		q.say("garbage", callOf(100+i, "large"), `{"jsonrpc":"2.0","id":"x","method":"tools/list"}`, callOf(1, "large"))
	}
	q.say(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}`)
	if err := <-q.ended; err != ErrCancelled {
		t.Errorf("the call ended with %v", err)
	}
	q.say(callOf(2, "waits"))
	<-q.waits
	for i := range 400 {
		go io.WriteString(q.in, callOf(1000+i, "large")+"\n")
	}
	q.isFull()
	q.stop()
	<-q.ended
	<-q.done
}

// TestFloodsAreRefused: large calls are refused while others run, and accepted again once
// those have ended.
func TestFloodsAreRefused(t *testing.T) {
	t.Parallel()
	q := newQuiet(t)
	q.say(initialize("2025-06-18"))
	q.out.ReadString('\n')
	big := strings.Repeat("x", small.message-1000)
	for i := range 4 {
		q.say(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"waits","arguments":{"x":"%s"}}}`, i, big))
	}
	for range 2 {
		if line, err := q.out.ReadString('\n'); !strings.Contains(line, `"code":-32000`) {
			t.Errorf("%.200q, %v", line, err)
		}
	}
	for i := range 2 {
		q.say(fmt.Sprintf(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":%d}}`, i))
		<-q.ended
	}
	testtool.Eventually(t, "there is room again", func() bool { return q.loaded() == 0 })
	q.say(fmt.Sprintf(`{"jsonrpc":"2.0","id":5,"method":"ping","params":{"x":"%s"}}`, big))
	if line, err := q.out.ReadString('\n'); line != pong("5")+"\n" {
		t.Errorf("%.200q, %v", line, err)
	}
}

// TestCallsEndAfterTheInput: what still runs some time after the end of the input is
// cancelled.
func TestCallsEndAfterTheInput(t *testing.T) {
	t.Parallel()
	b := newBench()
	b.add("waits", func(ctx context.Context, _ mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		<-ctx.Done()
		return nil, ctx.Err()
	})
	short := small
	short.grace = 10 * time.Millisecond
	input := strings.NewReader(initialize("2025-06-18") + "\n" + callOf(1, "waits"))
	if err := b.serve(t.Context(), newSession(short), input, io.Discard); err != nil {
		t.Error(err)
	}
}

// TestBatchesAreBounded: answers that wait for the rest of their batch count as well.
func TestBatchesAreBounded(t *testing.T) {
	t.Parallel()
	q := newQuiet(t)
	q.say(initialize("2025-03-26"))
	q.out.ReadString('\n')
	refused := func() bool {
		q.sess.out.mu.Lock()
		defer q.sess.out.mu.Unlock()
		return q.sess.out.most > 1000 // more than the answer to initialize
	}
	for i := 0; !refused(); i++ {
		calls := []string{callOf(100*i, "waits")}
		for j := range 99 {
			calls = append(calls, callOf(100*i+1+j, "large"))
		}
		before := q.loaded()
		q.say("[" + strings.Join(calls, ",") + "]")
		// Of the last that is held some calls are refused, if others have answered by then.
		testtool.Eventually(t, "the batch is answered or held", func() bool {
			return q.loaded() >= before+98*answerSize || q.loaded() > 2*small.message || refused()
		})
		if n := q.loaded(); n > 2*small.message+100*2*answerSize {
			t.Fatalf("%d bytes of answers wait for their batches", n)
		}
	}
	answer, err := q.out.ReadString('\n')
	if !strings.Contains(answer, "too many requests are running") {
		t.Errorf("the first batch that is answered is not refused: %.200q, %v", answer, err)
	}
}

// loaded returns what running requests and batches hold.
func (q *quiet) loaded() int {
	q.sess.mu.Lock()
	defer q.sess.mu.Unlock()
	return q.sess.load
}
