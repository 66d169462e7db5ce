//go:build unix

package ask

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// A silent client is killed, with its children.
func TestAskEndsTheClient(t *testing.T) {
	for _, send := range [][]string{nil, {`{"name":"` + ServerName + `"}`}} {
		pids := filepath.Join(t.TempDir(), "pids")
		cmd := exec.Command(os.Args[0])
		cmd.Env = append(os.Environ(), asServer+"=silent", "PIDS="+pids)
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		k := Row{Send: send, Read: func(string, string) (Answer, error) { return Answer{}, ErrUnread }}
		_, err := k.run(ctx, cmd, "x")
		cancel()
		if !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("got %v", err)
		}
		gone(t, pids)
	}
}

// A client in a dialogue is ended as soon as it has answered.
func TestAskInADialogue(t *testing.T) {
	pids := filepath.Join(t.TempDir(), "pids")
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), asServer+"=good", "PIDS="+pids)
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
