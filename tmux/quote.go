package tmux

import "strings"

// This file is the one place where text is made safe for tmux. Text passes
// through up to four readers, and each has an escape of its own:
//
//   - the command list: a word that ends in ";" ends its command (word);
//   - the configuration file language, for lists too long for an argument
//     vector (configWord);
//   - formats: names, titles and directories are expanded (Literal);
//   - strftime, in what display-message and pipe-pane take (withoutTime).
//
// Every rule is fuzzed against real tmux: what goes in comes out.

// Format is text in tmux's format language, such as "#{pane_id}". Where a field
// of a command has this type, tmux expands what it is given; where it is a
// string, the text arrives as it is.
type Format string

// Literal is the format that expands to exactly text, inside another format
// too. It uses the a: modifier (a character by its number) because it works in
// every position and version, where "##" does not before a "[" and #{l:…} does
// not with a brace in it on tmux 3.3 and older.
func Literal(text string) Format { return Format(formatEscapes.Replace(text)) }

var formatEscapes = strings.NewReplacer("#", "#{a:35}", "}", "#{a:125}", ",", "#{a:44}")

// withoutTime protects the percent signs of a format from strftime, which
// display-message and pipe-pane apply at every nesting of the format.
func (f Format) withoutTime() Format {
	return Format(strings.ReplaceAll(string(f), "%", "#{a:37}"))
}

// Glob is the shell pattern that matches text itself.
func Glob(text string) string { return globEscapes.Replace(text) }

var globEscapes = strings.NewReplacer(`\`, `\\`, `*`, `\*`, `?`, `\?`, `[`, `\[`)

// ShellQuote makes text one word of a POSIX shell command.
func ShellQuote(text string) string {
	return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'"
}

// word makes an argument safe as one word of a command list: tmux takes a last
// ";" for the end of the command unless a backslash stands before it.
func word(arg string) string {
	if strings.HasSuffix(arg, ";") {
		return arg[:len(arg)-1] + `\;`
	}
	return arg
}

// configWord quotes an argument for tmux's configuration language. Inside
// single quotes everything is literal but the quote itself, the byte 0xff, which
// tmux's reader takes for the end of the file, and a newline: spaces and comments
// after it are dropped, and a backslash before it joins the lines.
func configWord(arg string) string { return "'" + configEscapes.Replace(arg) + "'" }

var configEscapes = strings.NewReplacer(`'`, `'\''`, "\n", `'"\n"'`, "\xff", `'"\377"'`)
