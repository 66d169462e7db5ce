package swap

import (
	"encoding/json"
	"errors"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"

	"tmuxmcp/swap/ask"
	"tmuxmcp/swap/clients"
)

// Outputs of the clients, and the answers in them: testdata/answers has a file for each
// client, in which outputs (^[ is an escape character) and answers alternate. A line of
// answers is the name of a server, and the answer or the error about it.
func TestAnswers(t *testing.T) {
	for _, c := range clients.All() {
		if c.Ask == nil {
			continue
		}
		archive, err := txtar.ParseFile(filepath.Join("testdata/answers", c.Name+".txtar"))
		if err != nil {
			t.Fatalf("what %s prints about its servers: %v", c.Name, err)
		}
		out := ""
		for _, f := range archive.Files {
			if f.Name == "output" {
				out = strings.ReplaceAll(string(f.Data), "^[", "\x1b")
				continue
			}
			for line := range strings.Lines(string(f.Data)) {
				server, says, _ := strings.Cut(strings.TrimSpace(line), ": ")
				got, err := c.Ask.Read(out, server)
				if !strings.HasPrefix(says, "{") {
					if err == nil || !strings.Contains(err.Error(), says) || errors.Is(err, ask.ErrUnread) != (says == ask.ErrUnread.Error()) {
						t.Errorf("%s, %s: %+v, %v, want the error %s", c.Name, server, got, err, says)
					}
					continue
				}
				var want ask.Answer
				if err := json.Unmarshal([]byte(says), &want); err != nil {
					t.Fatalf("%s: %v", line, err)
				}
				if diff := cmp.Diff(want, got); diff != "" || err != nil {
					t.Errorf("%s, %s: %v (-want +got):\n%s\nin %s", c.Name, server, err, diff, out)
				}
			}
		}
	}
}
