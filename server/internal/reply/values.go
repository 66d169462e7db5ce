package reply

import (
	"strconv"
	"strings"
	"time"
)

// Value returns what p points to, or the zero value if it is nil.
func Value[T any](p *T) (v T) {
	if p != nil {
		v = *p
	}
	return v
}

// Count returns a number with its noun.
func Count(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return strconv.Itoa(n) + " " + noun + "s"
}

// NonEmpty returns a pointer to s; nil if it is empty.
func NonEmpty(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}

// mostFlat bounds a text that is shown in one line.
const mostFlat = 400

// Flat returns a text of several lines as one.
func Flat(s string) string {
	s = strings.ReplaceAll(s, "\n", " / ")
	if short := Head(s, mostFlat); short != s {
		return short + "…"
	}
	return s
}

// Seconds returns a duration as the tools report it, rounded to milliseconds.
func Seconds(d time.Duration) float64 {
	return float64(d.Round(time.Millisecond).Milliseconds()) / 1000
}

// LastLines keeps the last n lines, all if n is nil, and returns how many it omitted.
func LastLines(lines []string, n *int) (kept []string, cut int) {
	if n == nil || len(lines) <= *n {
		return lines, 0
	}
	cut = len(lines) - *n
	return lines[cut:], cut
}
