package lazy

import (
	"os"
	"testing"
)

// TestRegexp: an expression is compiled when it is used, and in a test at once, so that a
// wrong one fails the tests of its package.
func TestRegexp(t *testing.T) {
	panics := func(f func()) (did bool) {
		defer func() { did = recover() != nil }()
		f()
		return false
	}
	if !panics(func() { Regexp("(") }) {
		t.Error("a wrong expression passes in a test")
	}
	program := os.Args[0]
	defer func() { os.Args[0] = program }()
	os.Args[0] = "program"
	right := Regexp("^a$")
	if first := right(); !first.MatchString("a") || right() != first {
		t.Error("an expression does not match, or is compiled twice")
	}
	wrong := Regexp("(")
	if !panics(func() { wrong() }) {
		t.Error("a wrong expression can be used")
	}
}
