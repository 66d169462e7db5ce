// Package hint has the errors of mcp-swap that distinguish wrong usage from other failures, or add
// advice.
package hint

import (
	"fmt"
	"strings"
)

// A UsageError is a request that can never succeed; the command exits 2.
type UsageError struct{ Msg string }

func (e *UsageError) Error() string { return e.Msg }

// Usagef returns a [UsageError].
func Usagef(format string, args ...any) error { return &UsageError{fmt.Sprintf(format, args...)} }

// Advise adds advice to an error, before what a program printed on further lines.
func Advise(err error, advice string) error { return &advised{err, advice} }

type advised struct {
	error
	advice string
}

func (e *advised) Error() string {
	line, rest, more := strings.Cut(e.error.Error(), "\n")
	if line += "; " + e.advice; more {
		line += "\n" + rest
	}
	return line
}

func (e *advised) Unwrap() error { return e.error }
