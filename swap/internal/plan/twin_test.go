package plan

import "testing"

func TestOneSlip(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		a, b string
		want bool
	}{
		{"tmux", "tmx", true}, {"tmux", "tmuxx", true}, {"tmux", "tnux", true}, {"tmux", "tumx", true}, {"x", "y", true},
		{"tmux", "mutx", false}, {"web1", "web2", false}, {"srv", "srv2", false}, {"srv2", "srb", false}, {"tmux", "tmux-dev", false}, {"tmux", "xtm", false},
	} {
		if oneSlip(c.a, c.b) != c.want || oneSlip(c.b, c.a) != c.want {
			t.Errorf("%s, %s: %v", c.a, c.b, !c.want)
		}
	}
}
