package jobs

import "testing"

func TestWhatChangesOnlyItsShell(t *testing.T) {
	t.Parallel()
	for command, want := range map[string]string{
		"cd ~/proj":                     "cd",
		" cd /tmp ; ":                   "cd",
		"mkdir -p x && cd x":            "cd",
		"export A=1":                    "export",
		"A=1":                           "A=1",
		"A=1 B=2":                       "A=1",
		". venv/bin/activate":           ".",
		"source venv/bin/activate # it": "source",
		"make\ncd x\n":                  "cd",
		"set -gx PATH /x $PATH":         "set",
		"cd 'a; b'":                     "cd",
		"# first\ncd x":                 "cd",
		"cd x && make":                  "",
		"A=1 make":                      "",
		"export":                        "",
		"alias":                         "",
		"(cd x)":                        "",
		"if true; then cd x; fi":        "",
		"cd x | cat":                    "",
		"cd x &":                        "",
		"echo 'a; cd x'":                "",
		"echo \"a\ncd x\"":              "",
		"echo $(pwd; cd x)":             "",
		"f() { cd x; }":                 "",
		"echo a\\; cd x":                "",
		"echo x # ; cd y":               "",
		"echo 'open":                    "",
		"cdx":                           "",
		"":                              "",
	} {
		if got := changesShell(command); got != want {
			t.Errorf("%q: %q, want %q", command, got, want)
		}
	}
}
