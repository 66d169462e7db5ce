package typing

import (
	"strings"
	"testing"
)

func TestEndsPaste(t *testing.T) {
	t.Parallel()
	const end = "\x1b[201~"
	eightBits := strings.NewReplacer("\x1b[", "\u009b")
	for _, text := range []string{
		end, "a" + end + "b", "one\n" + end + "\ntwo\n", "\x1b[31m" + end, eightBits.Replace("a" + end), strings.Replace(end, "~", ";1~", 1),
	} {
		if !endsPaste(text) {
			t.Errorf("%q ends a paste", text)
		}
	}
	for _, text := range []string{
		"", "201~", "[201~", "\x1b[201", "\x1b[31m red \x1b[0m", "\x1b[200~", "\x1b[2;1~", "\x1b[3~", "\x1b[12010~", "x\x1b[1m201~", "\xff\xfe", "é 日本 \u00a0201~",
	} {
		if endsPaste(text) {
			t.Errorf("%q does not end a paste", text)
		}
	}
}
