package nearest

import (
	"strings"
	"testing"
)

func TestMeant(t *testing.T) {
	names := []string{"list_panes", "list_sessions", "list_servers", "kill_pane"}
	for name, want := range map[string]string{
		"lst_panes":                         "; did you mean list_panes?",
		"list":                              "; did you mean list_panes, list_sessions or list_servers?",
		"PANES":                             "; did you mean list_panes?",
		"frobnicate":                        "",
		strings.Repeat("list_panes", 3<<20): "",
	} {
		if got := Meant(name, names); got != want {
			t.Errorf("%.100s%s, want %s", name, got, want)
		}
	}
	if got := Meant("page", []string{"PageUp", "F1"}); got != "; did you mean PageUp?" {
		t.Errorf("page%s", got)
	}
}

// TestShortNames: by two mistakes, any short word resembles others.
func TestShortNames(t *testing.T) {
	t.Parallel()
	flags := []string{"--json", "--pin", "--rules", "--tmux", "--yield"}
	for name, want := range map[string]string{
		"--fix":   "",
		"--pim":   "; did you mean --pin?",
		"--pni":   "; did you mean --pin?",
		"--jsno":  "; did you mean --json?",
		"--jsons": "; did you mean --json?",
		"--js":    "; did you mean --json?",
		"--dump":  "",
		"--tmxu":  "; did you mean --tmux?",
		"--tools": "",
		"--rulse": "; did you mean --rules?",
		"--field": "; did you mean --yield?",
		"--tmp":   "",
	} {
		if got := Meant(name, flags); got != want {
			t.Errorf("%s%s, want %s", name, got, want)
		}
	}
}
