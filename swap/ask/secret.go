package ask

import (
	"net/url"
	"regexp"
	"slices"
	"strings"

	"tmuxmcp/internal/terminal"
	"tmuxmcp/swap/format"
)

// Configs contain secrets: in environments, headers, URLs and arguments. Everything shown
// of them goes through this file.

var plainFlag = regexp.MustCompile(`^(-[A-Za-z]|--[a-z][a-z-]*)$`)

var (
	// secretName matches names of flags and headers whose values are secrets.
	secretName = regexp.MustCompile(`(?i)token|secret|passw|passphrase|pwd|api[-_]?key|(^|[-_])key$|auth|credential|bearer|cookie|header|dsn`)
	// secretFlag matches flags whose value is, or contains, a secret.
	secretFlag = regexp.MustCompile(`^(-H|-e|--env)$`)
	// secretText matches text that looks like a token, whatever its name.
	secretText = regexp.MustCompile(`(?i)^(sk|pk|rk|ghp|gho|ghs|ghu|github_pat|glpat|xox[a-z]|npm|pypi|hf|AKIA|ASIA|AIza|eyJ)[-_A-Za-z0-9]{8,}|^[A-Za-z0-9_-]*[0-9][A-Za-z0-9_-]{31,}$`)
	// variable matches an assignment, whose value may always be a secret.
	variable = regexp.MustCompile(`^[A-Z_][A-Z0-9_]*=`)
)

// ShowArgs returns a command with possible secrets masked: the values of variables, the
// values of flags and headers with names like token, words that look like a token, and the
// passwords and queries of URLs.
func ShowArgs(argv []string) []string {
	out := slices.Clone(argv)
	for i, word := range out {
		before := ""
		if i > 0 {
			before = argv[i-1]
		}
		name, value, assigned := strings.Cut(word, "=")
		header, _, isHeader := strings.Cut(word, ":")
		switch {
		case secretFlag.MatchString(before) && !variable.MatchString(word),
			strings.HasPrefix(before, "-") && !strings.Contains(before, "=") && secretName.MatchString(before) && !plainFlag.MatchString(word):
			out[i] = format.Masked
		case isHeader && secretName.MatchString(header) && !strings.ContainsAny(header, "/\\ "):
			out[i] = header + ":" + format.Masked
		case strings.Contains(word, " "): // a script, or words in one
			out[i] = strings.Join(ShowArgs(strings.Split(word, " ")), " ")
		case variable.MatchString(word), assigned && secretName.MatchString(name):
			out[i] = name + "=" + format.Masked
		case assigned && strings.HasPrefix(name, "-"):
			out[i] = name + "=" + ShowArgs([]string{value})[0]
		case secretText.MatchString(word):
			out[i] = format.Masked
		default:
			out[i] = ShowURL(word)
		}
	}
	return out
}

// ShowURL masks the user and the query of a URL; other text is returned unchanged.
func ShowURL(s string) string {
	if !strings.Contains(s, "://") {
		return s
	}
	u, err := url.Parse(s)
	if err != nil {
		return format.Masked
	}
	masked := false
	if u.User != nil {
		u.User, masked = url.User(format.Masked), true
	}
	if u.RawQuery != "" {
		u.RawQuery, masked = format.Masked, true
	}
	if u.Fragment != "" && secretText.MatchString(u.Fragment) {
		u.Fragment, masked = format.Masked, true
	}
	if !masked {
		return s
	}
	return strings.ReplaceAll(u.String(), url.QueryEscape(format.Masked), format.Masked)
}

// Redact masks the secrets of a command in another program's output: the values of its
// environment, and the arguments that [ShowArgs] masks.
func Redact(text string, c Command) string {
	var secrets []string
	for _, v := range c.Env {
		_, value, _ := strings.Cut(v, "=")
		secrets = append(secrets, value)
	}
	for i, shown := range ShowArgs(c.Argv) {
		if before, _, ok := strings.Cut(shown, format.Masked); ok {
			secrets = append(secrets, c.Argv[i], strings.TrimPrefix(c.Argv[i], before))
		}
	}
	slices.SortFunc(secrets, func(a, b string) int { return len(b) - len(a) })
	for _, s := range secrets {
		if len(s) >= 4 {
			text = strings.ReplaceAll(text, s, format.Masked)
		}
	}
	return text
}

// CommandLine quotes a command for a shell, as [terminal.Printable] has it.
func CommandLine(argv []string) string {
	words := make([]string, len(argv))
	for i, a := range argv {
		if words[i] = terminal.Printable(a); a == "" || strings.ContainsAny(a, " \t\n\"'\\$`*?[](){}<>|&;#~!") {
			words[i] = "'" + strings.ReplaceAll(terminal.Printable(a), "'", `'\''`) + "'"
		}
	}
	return strings.Join(words, " ")
}

// printable removes control characters from a line written by another program, so that it
// cannot control the terminal.
func printable(line string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' && r != '\t' || r == 0x7f || r >= 0x80 && r < 0xa0 {
			return -1
		}
		return r
	}, line)
}
