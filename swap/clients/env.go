package clients

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"unicode/utf8"

	"tmuxmcp/internal/lazy"
	"tmuxmcp/swap/ask"
	"tmuxmcp/swap/internal/hint"
)

// An EnvVar is one variable for the server.
type EnvVar struct{ Name, Value string }

// A LookupEnv finds a variable of this process's environment, as [os.LookupEnv] does.
type LookupEnv func(name string) (value string, set bool)

// variableName matches names that are unlikely to be a value typed without a name.
var variableName = lazy.Regexp(`^[A-Z_][A-Z0-9_]*$`)

// ParseEnv parses variables of the form NAME=VALUE, or NAME for one to look up. Its error
// is a [*hint.UsageError].
func ParseEnv(words []string, lookup LookupEnv) ([]EnvVar, error) {
	var out []EnvVar
	for _, word := range words {
		name, value, given := strings.Cut(word, "=")
		if name == "" {
			return nil, hint.Usagef("--env %q is not of the form NAME=VALUE or NAME", name) // do not show the value: it may be a secret
		}
		if !given {
			var set bool
			if value, set = lookup(name); !set && !variableName().MatchString(name) || !set && ask.ShowArgs([]string{name})[0] != name {
				return nil, hint.Usagef("--env has a word without =, not shown as it may be a secret, that is no variable of this environment: give NAME=VALUE")
			} else if !set {
				return nil, hint.Usagef("--env %q is not set in this environment: set it, or give NAME=VALUE", name)
			}
		}
		if !holdable(name + value) {
			return nil, hint.Usagef("--env %q is not text that a config can hold", name)
		}
		out = append(out, EnvVar{name, value})
	}
	return out, nil
}

// holdable reports whether a config can contain a text.
func holdable(s string) bool { return utf8.ValidString(s) && !strings.ContainsRune(s, 0) }

// maxEnvFile is the size of the largest file of variables.
const maxEnvFile = 16 << 20

// ReadEnvFile reads a file with one variable per line, in the format of Docker and dotenv:
//
//	# a comment; also after blanks and a #
//	NAME=VALUE
//	export NAME = 'verbatim'
//	NAME="with \n, \r, \t, \\, \" and \$"
//	NAME
//
// The last form is looked up. Nothing is expanded, and no value continues on the next line.
// Errors name the line but do not show it, because it may be a secret.
func ReadEnvFile(path string, lookup LookupEnv) ([]EnvVar, error) {
	f, err := os.Open(path) // it may be a pipe
	if err != nil {
		return nil, fmt.Errorf("read the variables: %w", err)
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, maxEnvFile+1))
	if err != nil {
		return nil, fmt.Errorf("read the variables: %w", err)
	}
	if len(text) > maxEnvFile {
		return nil, fmt.Errorf("%s is larger than %d MiB: choose a file with one variable per line", path, maxEnvFile>>20)
	}
	return envLines(path, text, lookup)
}

// ParseEnvFile parses such a file of a client's, in which nothing is looked up. With an error, it
// returns the variables before it.
func ParseEnvFile(path string, text []byte) ([]EnvVar, error) {
	return envLines(path, text, func(string) (string, bool) { return "", false })
}

// envLines parses the lines of a file; with an error, it returns those before it.
func envLines(path string, text []byte, lookup LookupEnv) (out []EnvVar, err error) {
	n := 0
	for line := range strings.Lines(strings.TrimPrefix(string(text), "\ufeff")) {
		n++
		line = strings.TrimSpace(line)
		if line == "" || line[0] == '#' {
			continue
		}
		v, err := envLine(line, lookup)
		if err != nil {
			return out, fmt.Errorf("%s, line %d: %w", path, n, err)
		}
		out = append(out, v)
	}
	return out, nil
}

var (
	lineName    = lazy.Regexp(`^[A-Za-z_][A-Za-z0-9_.-]*$`)
	lineComment = lazy.Regexp(`\s#.*`)
	unescape    = strings.NewReplacer(`\n`, "\n", `\r`, "\r", `\t`, "\t", `\\`, `\`, `\"`, `"`, `\$`, `$`)
	// quoted matches a value in quotes, and a comment.
	quoted = lazy.Regexp(`^\s*(?:'([^']*)'|"((?:[^"\\]|\\.)*)")\s*(?:#.*)?$`)
)

func envLine(line string, lookup LookupEnv) (EnvVar, error) {
	if rest, ok := strings.CutPrefix(line, "export "); ok {
		line = rest
	}
	name, value, given := strings.Cut(line, "=")
	v := EnvVar{Name: strings.TrimSpace(name), Value: strings.TrimSpace(lineComment().ReplaceAllString(value, ""))}
	if !lineName().MatchString(v.Name) {
		return v, errors.New("it is not of the form NAME=VALUE")
	}
	if trimmed := strings.TrimSpace(value); !given {
		var set bool
		if v.Value, set = lookup(v.Name); !set {
			return v, errors.New("it is neither NAME=VALUE nor the name of a variable that is set in this environment")
		}
	} else if strings.HasPrefix(trimmed, `'`) || strings.HasPrefix(trimmed, `"`) {
		m := quoted().FindStringSubmatch(value)
		if m == nil {
			return v, errors.New("the value begins with a quote, and does not end with the same one on this line")
		}
		v.Value = m[1] + unescape.Replace(m[2])
	}
	if !holdable(v.Value) {
		return v, errors.New("the value is not text that a config can hold")
	}
	return v, nil
}
