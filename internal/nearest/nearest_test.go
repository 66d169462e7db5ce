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
