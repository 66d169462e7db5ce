package commands

import (
	"slices"
	"strings"

	"tmuxmcp/internal/lazy"
)

var assignment = lazy.Regexp(`^[A-Za-z_][A-Za-z0-9_]*=`)

// shell returns what a shell command line starts: the last command in it that is understood.
func (s starter) shell(text string) (out Started) {
	var argv []string
	end := func() {
		for len(argv) > 0 && assignment().MatchString(argv[0]) {
			argv = argv[1:]
		}
		switch {
		case len(argv) == 0:
		case argv[0] == "cd" || argv[0] == "pushd":
			if dir := argv[len(argv)-1]; len(argv) > 1 {
				s = s.to(dir)
			}
		default:
			out = s.command(argv).or(s.itself(argv)).or(out)
		}
		argv = nil
	}
	for _, word := range Words(text, s.home) {
		if slices.Contains([]string{"&&", "||", ";", "|", "&", "\n"}, word) {
			end()
		} else {
			argv = append(argv, word)
		}
	}
	end()
	return out
}

// Words splits a text into words and operators as a shell does. It removes quotes and, given a home
// directory, expands ~ and $HOME; other expansions stay as they are.
func Words(text, home string) (out []string) {
	var word strings.Builder
	quote, open := rune(0), false
	end := func() {
		if open {
			w := word.String()
			if home != "" && (w == "~" || strings.HasPrefix(w, "~/")) {
				w = home + w[1:]
			}
			out = append(out, w)
		}
		word.Reset()
		open = false
	}
	if home != "" {
		text = strings.NewReplacer("${HOME}", home, "$HOME", home).Replace(text)
	}
	for _, r := range text {
		switch {
		case quote != 0:
			if r == quote {
				quote = 0
			} else {
				word.WriteRune(r)
			}
		case r == '\'' || r == '"':
			quote, open = r, true
		case strings.ContainsRune(" \t", r):
			end()
		case strings.ContainsRune(";\n", r):
			end()
			out = append(out, ";")
		case strings.ContainsRune("&|", r):
			end()
			if n := len(out); n > 0 && out[n-1] == string(r) {
				out[n-1] += string(r)
			} else {
				out = append(out, string(r))
			}
		default:
			word.WriteRune(r)
			open = true
		}
	}
	end()
	return out
}
