package ask

import (
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"tmuxmcp/internal/lazy"
	"tmuxmcp/internal/secret"
	"tmuxmcp/internal/terminal"
	"tmuxmcp/swap/format"
)

// Configs contain secrets in environments, headers, URLs and arguments. Everything shown of a
// config goes through this file.

var plainFlag = lazy.Regexp(`^(-[A-Za-z]|--[a-z][a-z-]*)$`)

var (
	// secretFlag matches flags whose value is, or contains, a secret.
	secretFlag = lazy.Regexp(`^(-H|-e|--env)$`)
	// without matches flags that switch something off, and take no value.
	without = lazy.Regexp(`^--?(no|skip|disable|without)-(auth|oauth|authentication|authorization|cookies?|headers?|tokens?)$`)
	// userFlag matches flags whose value may be a user with a password.
	userFlag = lazy.Regexp(`^(-u|-U|--user|--proxy-user|--login)$`)
	// variable matches an assignment, whose value may always be a secret.
	variable = lazy.Regexp(`^[A-Z_][A-Z0-9_]*=`)
	// login matches a user and password before a host, and notLogin pairs that only look like
	// that: a package of a registry, an image with a digest.
	login    = lazy.Regexp(`^([^\s:/@=]+):[^\s@/]+@[^\s]`)
	notLogin = lazy.Regexp(`^(npm|jsr|git|github|gitlab|file|workspace|docker):|@sha256:`)
	// scheme matches a word of a header that a secret follows.
	scheme = lazy.Regexp(`(?i)^["']?(bearer|basic)$`)
	// word matches a word of a script, with its quotes.
	word = lazy.Regexp(`(?:[^\s'"]|'[^']*'|"(?:[^"\\]|\\.)*"|['"])+`)
)

// ShowArgs returns a command with possible secrets masked: the values of variables, the
// values of flags and headers with names like token, words that look like a token, and the
// passwords and queries of URLs.
func ShowArgs(argv []string) []string {
	out := slices.Clone(argv)
	for i := range out {
		out[i] = showArg(argv, i)
	}
	return out
}

func showArg(argv []string, i int) string {
	arg := argv[i]
	name, value, assigned := strings.Cut(arg, "=")
	header, after, isHeader := strings.Cut(arg, ":")
	switch {
	case announced(argv, i):
		return format.Masked
	case after != "" && isSecretHeader(header), isHeader && isLogin(argv, i):
		return header + ":" + format.Masked
	case strings.Contains(arg, " "):
		return showText(arg)
	case strings.Contains(name, "://"):
		return ShowURL(showPairs(arg))
	case assigned && (variable().MatchString(arg) || secret.Name(name) || name == "-p" && isPassword(argv, i, value)):
		return name + "=" + format.Masked
	case assigned && strings.Contains(arg, ";"):
		return showPairs(arg)
	case assigned && strings.HasPrefix(name, "-"):
		return name + "=" + ShowArgs([]string{value})[0]
	case i > 0 && strings.HasPrefix(arg, "-p") && arg != "-p" && isPassword(argv, i, arg[2:]) && !pFlag(arg[1:]):
		return "-p" + format.Masked
	case secret.Text(arg):
		return format.Masked
	case login().MatchString(arg) && !notLogin().MatchString(arg):
		return header + ":" + format.Masked + arg[strings.LastIndexByte(arg, '@'):]
	}
	return ShowURL(arg)
}

// announced reports whether the word before argv[i] says that argv[i] may be a secret as a whole:
// a flag for secrets, a header's name, the scheme in a header.
func announced(argv []string, i int) bool {
	if i == 0 {
		return false
	}
	arg, before := argv[i], argv[i-1]
	header, isHeader := strings.CutSuffix(before, ":")
	plain := plainFlag().MatchString(arg)
	return secretFlag().MatchString(before) && !variable().MatchString(arg) ||
		strings.HasPrefix(before, "-") && !strings.Contains(before, "=") && !without().MatchString(before) && secret.Name(before) && !plain ||
		before != "" && before == dbFlags[programOf(argv)] && !plain ||
		before == "-p" && isPassword(argv, i, arg) ||
		isHeader && isSecretHeader(header) ||
		scheme().MatchString(before)
}

// isLogin reports whether argv[i] is the value of a flag that may be a user with a password.
func isLogin(argv []string, i int) bool {
	return i > 0 && userFlag().MatchString(argv[i-1]) && !images[programOf(argv)]
}

// showText shows an argument with spaces: a word that is partly in quotes, or a script. The words
// of a script are all shorter than the script, so this recursion ends.
func showText(text string) string {
	if word().FindString(text) != text || unquoted(text) != text {
		return showScript(text)
	}
	if name, _, assigned := strings.Cut(text, "="); assigned && plainFlag().MatchString(name) {
		return name + "=" + format.Masked
	}
	return format.Masked
}

func isSecretHeader(name string) bool {
	return secret.Name(strings.Trim(name, `{"'`)) && !strings.ContainsAny(name, "/\\ ")
}

// showScript shows a text of several words, some of which may be in quotes.
func showScript(text string) string {
	at := word().FindAllStringIndex(text, -1)
	words, quotes := make([]string, len(at)), make([]string, len(at))
	for i, a := range at {
		words[i] = text[a[0]:a[1]]
		if inner := unquoted(words[i]); inner != words[i] {
			quotes[i], words[i] = words[i][:1], inner
		}
	}
	var b strings.Builder
	end := 0
	for i, shown := range ShowArgs(words) {
		b.WriteString(text[end:at[i][0]] + quotes[i] + shown + quotes[i])
		end = at[i][1]
	}
	return b.String() + text[end:]
}

// unquoted returns a word without the quotes around it, if any.
func unquoted(word string) string {
	if n := len(word); n > 1 && strings.ContainsAny(word[:1], `'"`) && word[0] == word[n-1] {
		return word[1 : n-1]
	}
	return word
}

// showPairs shows a connection string: NAME=VALUE;NAME=VALUE.
func showPairs(text string) string {
	pairs := strings.Split(text, ";")
	for i, pair := range pairs {
		if name, _, ok := strings.Cut(pair, "="); ok && secret.Name(name) {
			pairs[i] = name + "=" + format.Masked
		}
	}
	return strings.Join(pairs, ";")
}

// What -p, and other flags, mean to which programs.
var (
	// dbFlags has the flags for a password other than -p.
	dbFlags = map[string]string{"redis-cli": "-a", "sqlcmd": "-P", "bcp": "-P", "tsql": "-P", "ldapsearch": "-w", "ldapmodify": "-w"}
	// images are programs whose flags for a user take "user:group".
	images = map[string]bool{"docker": true, "podman": true, "nerdctl": true}
	// runners have a -p with another meaning, up to the given number of operands. After those,
	// the -p is that of the program that they run, and may be a password.
	runners = map[string]int{
		"npx": 0, "bunx": 0, "uvx": 0, "pipx": 1, "nix-shell": 0, "mkdir": 9, "ssh": 0, "tsc": 0, "node": 0, "bun": 1,
		"npm": 1, "pnpm": 1, "yarn": 1, "uv": 1, "cargo": 1, "go": 1, "poetry": 1, "docker": 1, "podman": 1, "nerdctl": 1,
		"docker-compose": 0, "code": 0, "claude": 0, "codex": 1, "git": 0, "make": 0,
	}
	wrappers = []string{"env", "sudo", "cmd", "command", "exec", "nohup", "time"}
	// takesValue matches flags of runners that take the next word as their value.
	takesValue = lazy.Regexp(`^(-p|-C|-w|--package|--python|--from|--with|--directory|--project|--prefix|--registry|--index|--manifest-path|--workspace|--cwd)$`)
	// notPassword matches ports, versions, durations, paths and packages.
	notPassword = lazy.Regexp(`^[0-9][-0-9.:/]*(/tcp|/udp)?$|[/\\]|^[.~@]|^$`)
	// pFlags matches long flags that begin with -p, without the dash.
	pFlags = lazy.Regexp(`^(package|packages|page|pages|parallel|params|parser|patch|path|paths|pattern|persist|pid|ping|pipe|plain|platform|plugin|plugins|policy|poll|pool|port|ports|prefix|preset|pretty|preview|print|priority|private|process|prod|production|profile|progress|project|prompt|protocol|provider|proxy|prune|public|pull|push|pwd|python|pe|pc|pi|pn)([-=].*)?$`)
)

// programOf returns the base name of the program that a command starts.
func programOf(argv []string) string {
	at := programAt(argv)
	if at < 0 {
		return ""
	}
	return base(argv[at])
}

func base(path string) string {
	name := path[strings.LastIndexAny(path, `/\`)+1:]
	for _, ext := range []string{".exe", ".cmd", ".bat"} {
		name = strings.TrimSuffix(name, ext)
	}
	return name
}

func programAt(argv []string) int {
	return slices.IndexFunc(argv, func(w string) bool {
		return !slices.Contains(wrappers, base(w)) && !strings.HasPrefix(w, "-") && !variable().MatchString(w) && !strings.EqualFold(w, "/c")
	})
}

// isPassword reports whether the value of a -p, in argv[i], may be a password.
func isPassword(argv []string, i int, value string) bool {
	if notPassword().MatchString(value) || plainFlag().MatchString(value) {
		return false
	}
	at := programAt(argv)
	allowed, runner := runners[programOf(argv)]
	if !runner {
		return at < i
	}
	operands := 0
	for j := at + 1; j < i; j++ {
		switch w := argv[j]; {
		case w == "--":
			return true
		case !strings.HasPrefix(w, "-") && !takesValue().MatchString(argv[j-1]):
			operands++
		}
	}
	return operands > allowed
}

// pFlag reports whether a word without its dash is a flag, not p with a password.
func pFlag(w string) bool { return pFlags().MatchString(w) }

var commit = lazy.Regexp(`^[0-9a-f]{7,40}$`)

// plainFragment matches fragments that package installers read.
var plainFragment = lazy.Regexp(`^(egg|subdirectory|branch|tag|rev|ref|commit|semver|path)=[^=&]*(&(egg|subdirectory)=[^=&]*)*$`)

// ShowURL masks the user, the query, and values in the fragment of a URL. It returns other text
// unchanged.
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
	git := strings.HasPrefix(u.Scheme, "git") || strings.HasSuffix(u.Path, ".git") // then a fragment may be a commit
	if u.Fragment != "" && (!git || !commit().MatchString(u.Fragment)) && (secret.Text(u.Fragment) || strings.Contains(u.Fragment, "=") && !plainFragment().MatchString(u.Fragment)) {
		u.Fragment, masked = format.Masked, true
	}
	if !masked {
		return s
	}
	return strings.ReplaceAll(u.String(), url.QueryEscape(format.Masked), format.Masked)
}

// Redact masks the secrets of a command in the output of a program: the values of its environment,
// except paths, and the arguments that [ShowArgs] masks.
func Redact(text string, c Command) string {
	var secrets []string
	for _, v := range c.Env {
		name, value, _ := strings.Cut(v, "=")
		if !isPath(value) || secret.Variable(name, value) {
			secrets = append(secrets, value)
		}
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

// isPath reports whether a value is certainly a path: absolute, below a directory that exists. A secret
// in base64 may begin with a slash, too.
func isPath(value string) bool {
	if !filepath.IsAbs(value) {
		return false
	}
	volume := filepath.VolumeName(value)
	top, _, below := strings.Cut(filepath.ToSlash(value[len(volume)+1:]), "/")
	info, err := os.Stat(volume + "/" + top)
	return below && top != "" && err == nil && info.IsDir()
}

// CommandLine quotes a command for a shell, with its words as [terminal.Printable] shows them.
func CommandLine(argv []string) string {
	words := make([]string, len(argv))
	for i, a := range argv {
		if words[i] = terminal.Printable(a); a == "" || strings.ContainsAny(a, " \t\n\"'\\$`*?[](){}<>|&;#~!") {
			words[i] = "'" + strings.ReplaceAll(terminal.Printable(a), "'", `'\''`) + "'"
		}
	}
	return strings.Join(words, " ")
}

// printable removes control characters from another program's line, so that it cannot control the
// terminal.
func printable(line string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' && r != '\t' || r == 0x7f || r >= 0x80 && r < 0xa0 {
			return -1
		}
		return r
	}, line)
}
