// Package check has the few assertions that tests of package tmux share.
package check

import (
	"errors"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// Must is for calls whose failure leaves nothing to test: check.Must[T](t)(call()).
func Must[T any](t testing.TB) func(v T, err error) T {
	return func(v T, err error) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}

// Only is [Must] for a list of one.
func Only[T any](t testing.TB) func(list []T, err error) T {
	return func(list []T, err error) T {
		t.Helper()
		if err != nil || len(list) != 1 {
			t.Fatalf("%+v, %v; want one", list, err)
		}
		return list[0]
	}
}

// OK ends the test if there is an error.
func OK(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// Kind fails the test unless err is of a kind, as errors.Is decides.
func Kind(t testing.TB, what string, err, kind error) {
	t.Helper()
	if !errors.Is(err, kind) {
		t.Errorf("%s: got error %v, want one of kind %q", what, err, kind)
	}
}

// Equal fails the test, and shows the difference, unless got equals want.
func Equal[T any](t testing.TB, what string, want, got T) {
	t.Helper()
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("%s (-want +got)\n%s", what, diff)
	}
}

// Second returns the error of a call with another result.
func Second[T any](_ T, err error) error { return err }

// That fails the test, and lets it go on, unless something holds.
func That(t testing.TB, holds bool, format string, args ...any) {
	t.Helper()
	if !holds {
		t.Errorf(format, args...)
	}
}

// Contains fails the test unless a text contains a part.
func Contains[T string | []byte](t testing.TB, what string, text T, part string) {
	t.Helper()
	if !strings.Contains(string(text), part) {
		t.Errorf("%s: %q is not in %q", what, part, text)
	}
}

// Absent fails the test if there is such a file.
func Absent(t testing.TB, path string) {
	t.Helper()
	if _, err := os.Lstat(path); err == nil {
		t.Errorf("%s was made", path)
	}
}
