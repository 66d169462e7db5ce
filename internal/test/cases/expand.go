package cases

import (
	"regexp"
	"strconv"
	"strings"
)

var repeated = regexp.MustCompile(`\{([^{}]+)\*(?:([0-9]+)\.\.)?([0-9]+)\}`)

// Expand decodes the escapes of a text, as in Go, and repeats what is in braces: {x*3} is
// xxx, {line #\n*3} lines 0 to 2 and {line #\n*5..7} lines 5 to 7.
func Expand(text string) string {
	text, _ = strconv.Unquote(`"` + strings.ReplaceAll(text, `"`, `\"`) + `"`)
	for m := repeated.FindStringSubmatch(text); m != nil; m = repeated.FindStringSubmatch(text) {
		first, _ := strconv.Atoi(m[2])
		last, _ := strconv.Atoi(m[3])
		if m[2] == "" {
			last--
		}
		var all strings.Builder
		for i := first; i <= last; i++ {
			all.WriteString(strings.ReplaceAll(m[1], "#", strconv.Itoa(i)))
		}
		text = strings.Replace(text, m[0], all.String(), 1)
	}
	return text
}
