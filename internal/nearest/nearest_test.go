package nearest

import "testing"

func TestMeant(t *testing.T) {
	names := []string{"list_panes", "list_sessions", "list_servers", "kill_pane"}
	for name, want := range map[string]string{
		"lst_panes":  "; did you mean list_panes?",
		"list":       "; did you mean list_panes, list_sessions or list_servers?",
		"frobnicate": "",
	} {
		if got := Meant(name, names); got != want {
			t.Errorf("%s%s, want %s", name, got, want)
		}
	}
}
