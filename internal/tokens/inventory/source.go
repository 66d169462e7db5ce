package inventory

import (
	"errors"
	"fmt"
	"regexp"
)

var (
	tableStart = regexp.MustCompile(`\bformat_table\s*\[\s*\]\s*=\s*\{`)
	comment    = regexp.MustCompile(`(?s)/\*.*?\*/|//[^\n]*`)
	// One row: name, kind, callback; session_marked's row ends in a comma of its own (seen in every
	// version).
	tableRow  = regexp.MustCompile(`^\s*\{\s*"([^"]*)"\s*,\s*(\w+)\s*,\s*\w+\s*,?\s*\}\s*,?`)
	tableStop = regexp.MustCompile(`^\s*\}\s*;`)
)

// ParseFormatC returns the rows of format_table in the source of tmux's format.c, in their order.
// It reads tmux 3.2 and later; before that the file had no table. A row it does not understand is
// an error that quotes it, never left out.
func ParseFormatC(src []byte) ([]Entry, error) {
	at := tableStart.FindIndex(src)
	if at == nil {
		return nil, errors.New("no format_table in the source: not format.c of tmux 3.2 or later")
	}
	rest := comment.ReplaceAll(src[at[1]:], []byte(" "))
	var entries []Entry
	seen := make(map[string]bool)
	for tableStop.Find(rest) == nil {
		m := tableRow.FindSubmatch(rest)
		if m == nil {
			return nil, fmt.Errorf("format_table after %d rows: cannot read %q", len(entries), firstBytes(rest, 60))
		}
		e := Entry{Name: string(m[1])}
		switch kind := string(m[2]); kind {
		case "FORMAT_TABLE_STRING":
		case "FORMAT_TABLE_TIME":
			e.Time = true
		default:
			return nil, fmt.Errorf("format_table: token %s is of the unknown kind %s", e.Name, kind)
		}
		if !isName(e.Name) {
			return nil, fmt.Errorf("format_table: %q is not a token name", e.Name)
		}
		if seen[e.Name] {
			return nil, fmt.Errorf("format_table: token %s is there twice", e.Name)
		}
		seen[e.Name] = true
		entries = append(entries, e)
		rest = rest[len(m[0]):]
	}
	if len(entries) == 0 {
		return nil, errors.New("format_table is empty")
	}
	return entries, nil
}

func firstBytes(b []byte, n int) []byte {
	if len(b) > n {
		return b[:n]
	}
	return b
}
