//go:build unix

package ask

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
)

// A silent client is killed, with its children.
func TestAskEndsTheClient(t *testing.T) {
	for name, send := range map[string][]string{"in one go": nil, "in a dialogue": {`{"name":"` + ServerName + `"}`}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cmd, pids := program(t, "silent")
			k := Row{Send: send, Read: func(string, string) (Answer, error) { return Answer{}, ErrUnread }}
			if _, err := k.run(untilItRuns(t, pids), cmd, "x"); !errors.Is(err, context.Canceled) {
				t.Errorf("got %v", err)
			}
			gone(t, pids)
		})
	}
}

// What a client is asked may need a value that it has answered.
func TestAskAwaits(t *testing.T) {
	t.Parallel()
	cmd, pids := program(t, "good")
	k := Row{
		Send:  []string{`{"jsonrpc":"2.0","id":"one","method":"ping"}`},
		Await: "id",
		Then:  []string{`{"jsonrpc":"2.0","id":["` + Awaited + `","two"],"method":"ping"}`},
		Read: func(out, _ string) (Answer, error) {
			if n := strings.Count(out, `"id":"one"`); n > 1 {
				return Answer{}, fmt.Errorf("%d answers to the first", n)
			}
			if !strings.Contains(out, `"id":["one","two"]`) {
				return Answer{}, ErrUnread
			}
			return Answer{State: Connected}, nil
		},
	}
	a, err := k.run(t.Context(), cmd, "x")
	if err != nil || a.State != Connected {
		t.Errorf("got %+v, %v", a, err)
	}
	gone(t, pids)
}

// A client in a dialogue is ended as soon as it has answered.
func TestAskInADialogue(t *testing.T) {
	t.Parallel()
	cmd, pids := program(t, "good")
	k := Row{
		Send: []string{`{"jsonrpc":"2.0","id":"` + ServerName + `","method":"ping"}`},
		Read: func(out, server string) (Answer, error) {
			if !strings.Contains(out, `"id":"a\"b"`) {
				return Answer{}, ErrUnread
			}
			return Answer{State: Connected, Says: server}, nil
		},
	}
	a, err := k.run(t.Context(), cmd, `a"b`)
	if err != nil || a.State != Connected || a.Says != `a"b` {
		t.Errorf("got %+v, %v", a, err)
	}
	gone(t, pids)
}
