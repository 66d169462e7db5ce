// Package secret recognizes names and values of secrets by what they look like.
package secret

import (
	"net/url"

	"tmuxmcp/internal/lazy"
)

var (
	name = lazy.Regexp(`(?i)token|secret|passw|passphrase|pwd|(account|access|api|private|signing|encryption)[-_]?key` +
		`|(^|[-_.])(key|pass|pw|pin)$|userpass|auth|credential|creds?$|bearer|cookie|header|dsn|connection[-_]?string|conn[-_]?str`)
	text = lazy.Regexp(`(?i)^(sk|pk|rk|ghp|gho|ghs|ghu|github_pat|glpat|xox[a-z]|npm|pypi|hf|AKIA|ASIA|AIza|eyJ)[-_A-Za-z0-9]{8,}|^[A-Za-z0-9_-]*[0-9][A-Za-z0-9_-]{31,}$`)
	// variable matches further names of variables, so that less is shown of a shell's environment
	// than of a config.
	variable = lazy.Regexp(`(?i)(key|pass|pw|pin)[0-9]*$`)
	// within matches a part of a value: a token after some other word, a password before a host or
	// after its name, and a private key.
	within = lazy.Regexp(`(?i)(^|[^a-z0-9])(sk|pk|rk|ghp|gho|ghs|ghu|github_pat|glpat|xox[a-z]|npm|pypi|hf|AKIA|ASIA|AIza|eyJ)[-_][-_a-z0-9]{8,}` +
		`|(^|\s)(bearer|basic)\s|[^\s/@:]*:[^\s/@]+@[a-z0-9.-]|(token|secret|passw(or)?d|passphrase|pwd|(access|api|private)[-_]?key|credentials?|signature)["']?\s*[=:]` +
		`|-----BEGIN |//hooks\.`)
	// directory matches the names of variables of shells that only look like a password's.
	directory = lazy.Regexp(`^(OLD)?PWD$`)
)

// Name reports whether a flag, variable or header with this name has a secret as its value.
func Name(s string) bool { return name().MatchString(s) }

// Text reports whether a text looks like a token, whatever its name.
func Text(s string) bool { return text().MatchString(s) }

// Variable reports whether a variable of an environment may be a secret: by its name, or if
// its value looks like a token, or contains a token, a password or a URL with a user.
func Variable(name, value string) bool {
	if u, err := url.Parse(value); err == nil && u.User != nil {
		return true
	}
	return (Name(name) || variable().MatchString(name)) && !directory().MatchString(name) || Text(value) || within().MatchString(value)
}
