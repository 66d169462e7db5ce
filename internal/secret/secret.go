// Package secret recognizes names and values of secrets by what they look like.
package secret

import (
	"net/url"
	"strings"

	"tmuxmcp/internal/lazy"
)

// Tokens begin with a prefix of their issuer. No other word begins with those of issued. Names of
// packages begin with the others too, such as npm-check or skaffold, but have no digits or capitals.
const (
	issued    = `(?i:(?:sk|pk|rk|gh[opsu]|github_pat|glpat|xox[a-z])[-_]|(?:npm|pypi|hf)_)[-_A-Za-z0-9]{7,}|(?:AKIA|ASIA)[A-Z0-9]{8,}|(?:AIza|eyJ)[-_A-Za-z0-9]{8,}`
	perhaps   = `(?i:npm|pypi|hf)-[-_A-Za-z0-9]{8,}`
	unspelled = `(?i:sk|pk|rk|gh[opsu]|github_pat|glpat|xox[a-z]|npm|pypi|hf)[A-Za-z0-9]{8,}`
)

var (
	name = lazy.Regexp(`(?i)token|secret|passw|passphrase|pwd|(account|access|api|private|signing|encryption)[-_]?key` +
		`|(^|[-_.])(key|pass|pw|pin)$|userpass|auth|credential|creds?$|bearer|cookie|header|dsn|connection[-_]?string|conn[-_]?str`)
	// harmless matches the parts of names that resemble a secret's and are not: limits and counts of
	// tokens, tokenizers, authors, and settings of a login such as its timeout.
	harmless = lazy.Regexp(`(?i)(max|min|num|total|context|input|output|thinking|budget)([-_]?(new|input|output|completion))?[-_]?tokens$|tokens?[-_]?(limit|count|budget|window|size)$` +
		`|tokeni[sz](er|ation|e)|(^|[-_])authors?([-_](name|email|date))?$|(token|o?auth2?)[-_]?(timeout|port|ttl|lifetime|retries|type|mode|method)$`)

	begins = lazy.Regexp(`^(?:` + issued + `)`)
	like   = lazy.Regexp(`^(?:` + perhaps + `|` + unspelled + `)`)
	random = lazy.Regexp(`^[A-Za-z0-9_-]*[0-9][A-Za-z0-9_-]{31,}$`)
	// words matches a long name of words, versions and dates.
	words = lazy.Regexp(`^[A-Z]?[a-z]+[0-9]{0,2}([-_]([A-Z]?[a-z]+[0-9]{0,2}|v?[0-9]{1,2}|20[0-9]{2,6}))*$`)
	mixed = lazy.Regexp(`[A-Z]|[0-9].*[0-9]`)
	// variable matches further names of variables, so that less is shown of a shell's environment
	// than of a config.
	variable = lazy.Regexp(`(?i)(key|pass|pw|pin)[0-9]*$`)
	// within matches a part of a value: a token after some other word, a password before a host or
	// after its name, and a private key.
	within = lazy.Regexp(`(^|[^A-Za-z0-9])(?:` + issued + `)` +
		`|(?i)(^|\s)(bearer|basic)\s|[^\s/@:]*:[^\s/@]+@[a-z0-9.-]|(token|secret|passw(or)?d|passphrase|pwd|(access|api|private)[-_]?key|credentials?|signature)["']?\s*[=:]` +
		`|-----BEGIN |//hooks\.`)
	inner = lazy.Regexp(`(?:^|[^A-Za-z0-9])(` + perhaps + `)`)
	// directory matches the names of variables of shells that only look like a password's.
	directory = lazy.Regexp(`^(OLD)?PWD$`)
)

// Name reports whether a flag, variable or header with this name has a secret as its value.
func Name(s string) bool {
	return name().MatchString(s) && name().MatchString(harmless().ReplaceAllString(s, ""))
}

// Text reports whether a text looks like a token, whatever its name.
func Text(s string) bool {
	return begins().MatchString(s) || mixed().MatchString(like().FindString(s)) ||
		random().MatchString(s) && !words().MatchString(s)
}

// Variable reports whether a variable of an environment may be a secret: by its name, or if
// its value looks like a token, or contains a token, a password or a URL with a user.
func Variable(name, value string) bool {
	if u, err := url.Parse(value); err == nil && u.User != nil {
		return true
	}
	return (Name(name) || variable().MatchString(name)) && !directory().MatchString(name) || Text(value) || holds(value)
}

// holds reports whether a part of a value looks like a secret.
func holds(value string) bool {
	if within().MatchString(value) {
		return true
	}
	if !strings.Contains(value, "-") {
		return false
	}
	for _, found := range inner().FindAllStringSubmatch(value, -1) {
		if mixed().MatchString(found[1]) {
			return true
		}
	}
	return false
}
