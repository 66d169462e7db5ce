package keys

import (
	"errors"
	"reflect"
	"strings"
	"testing"
)

// TestReaches has a row for each rule. That tmux does so, TestKeyReaches of package tmux tries
// with every key.
func TestReaches(t *testing.T) {
	modes := []string{Unknown, "VT10x", "Ext 1", "Ext 2", ""}
	for name, reaches := range map[string]string{ // in which of the modes
		"Enter": "yyyyy", "C-c": "yyyyy", "C-Space": "yyyyy", "C-M-a": "yyyyy", "M-Enter": "yyyyy", "C-S-Up": "yyyyy", "C-/": "yyyyy", "^a": "yyyyy", "BTab": "yyyyy",
		"S-Enter": "nnyyy", "C-Tab": "nnyyy", "C-S-Tab": "nnyyy", "S-a": "nnyyy", "M-S-a": "nnnyy",
		"C-3": "nyyyy", "C-BTab": "nnnyy", "S-BTab": "nnnny",
	} {
		for i, mode := range modes {
			asked := 0
			is, err := Reaches(name, func() (string, error) { asked++; return mode, nil })
			if err != nil || is != (reaches[i] == 'y') {
				t.Errorf("%s in mode %q: %v, %v", name, mode, is, err)
			}
			if plain := Plain(name); plain != (asked == 0) || asked > 1 {
				t.Errorf("%s, which is plain: %v, asked %d times", name, plain, asked)
			}
		}
	}
	broken := errors.New("broken")
	if is, err := Reaches("S-Enter", func() (string, error) { return "", broken }); is || err != broken {
		t.Errorf("a mode that cannot be known: %v, %v", is, err)
	}
}

func TestBytes(t *testing.T) {
	for _, c := range []struct {
		text, mode string
		want       [][]string
	}{
		{"plain\ttext\r\x1b", "Ext 2", nil},
		{"a\n", "Ext 2", [][]string{{"61", "0a"}}},
		{"\x02é", "Ext 1", [][]string{{"02", "c3", "a9"}}},
		{"a\n", "VT10x", nil}, {"a\n", Unknown, nil}, {"a\n", "", nil},
	} {
		got, err := Bytes(c.text, func() (string, error) { return c.mode, nil })
		if err != nil || !reflect.DeepEqual(got, c.want) {
			t.Errorf("%q in mode %q: %v, %v", c.text, c.mode, got, err)
		}
	}
	all, _ := Bytes(strings.Repeat("\n", atOnce+1), func() (string, error) { return "Ext 1", nil })
	if len(all) != 2 || len(all[0]) != atOnce || len(all[1]) != 1 {
		t.Errorf("%d keys are sent as %v", atOnce+1, all)
	}
}
