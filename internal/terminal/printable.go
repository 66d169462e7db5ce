package terminal

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"unicode"
	"unicode/utf16"

	"tmuxmcp/internal/lazy"
)

// What CI systems obey: ::name where a line begins (GitHub), ##[name], ##vso[ and
// ##teamcity[ anywhere in one (GitHub and Azure, TeamCity). A word may come to
// begin a line. GitLab's sections need an escape character.
var (
	lineCommand = lazy.Regexp(`(^|[\s\pZ]):(:[A-Za-z])`)
	wordCommand = lazy.Regexp(`#(#[A-Za-z.]*\[)`)
)

// Visible shows control bytes, which would act on the reader's terminal, as
// tmux itself does in option values: \033. What has no width or turns the direction of text is
// shown by its number: \u202e. Tabs and newlines stay; bytes that are no UTF-8, and what XML
// cannot have, become U+FFFD.
func Visible(s string) string {
	var b strings.Builder
	for _, r := range s {
		switch {
		case r >= ' ' && r < 0x7f:
			b.WriteByte(byte(r))
		case r < ' ' && r != '\t' && r != '\n' || r >= 0x7f && r < 0xa0:
			fmt.Fprintf(&b, `\%03o`, r)
		case unseen(r):
			fmt.Fprintf(&b, `\u%04x`, r)
		case r == '\ufffe' || r == '\uffff':
			b.WriteRune('\ufffd')
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}

// Printable does what Visible does, and shows as a number a byte of what a CI system would obey
// in its log.
func Printable(s string) string {
	text := Visible(s)
	if strings.Contains(text, "::") {
		text = lineCommand().ReplaceAllString(text, `$1\072$2`)
	}
	if strings.Contains(text, "##") {
		text = wordCommand().ReplaceAllString(text, `\043$1`)
	}
	return text
}

// unseen reports whether a character shows nothing and does something: formats, or ends a
// line.
func unseen(r rune) bool { return unicode.In(r, unicode.Cf, unicode.Zl, unicode.Zp) }

// EncodeJSON writes a value as a line of JSON, or as several that are indented, in which whatever
// is not [Printable] is escaped: a reader of JSON has it back as it was.
func EncodeJSON(w io.Writer, v any, indent string) error {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", indent)
	if err := enc.Encode(v); err != nil {
		return err
	}
	var text strings.Builder
	for _, r := range b.String() {
		switch high, low := utf16.EncodeRune(r); {
		case unseen(r) && high != unicode.ReplacementChar:
			fmt.Fprintf(&text, `\u%04x\u%04x`, high, low)
		case unseen(r) || r >= 0x7f && r < 0xa0:
			fmt.Fprintf(&text, `\u%04x`, r)
		default:
			text.WriteRune(r)
		}
	}
	_, err := io.WriteString(w, wordCommand().ReplaceAllString(text.String(), `\u0023$1`))
	return err
}
