package tmux

import (
	"cmp"
	"context"
	"fmt"
	"strconv"
	"strings"

	"tmuxmcp/tmux/internal/wire"
)

// Version is a tmux version, as in the output of `tmux -V` and the format #{version}:
// "3.6a", "3.7", "next-3.8". The zero Version is older than any other.
type Version struct {
	Major, Minor int
	// Letter is the patch letter of a release, 0 for none: 'a' in 3.6a.
	Letter byte
	// Next is set for a development version: next-3.8 comes after every 3.7 and before 3.8.
	Next bool
}

// MinVersion is the oldest tmux this package works with.
var MinVersion = Version{Major: 3, Minor: 2}

// ParseVersion parses a version, with or without the program's name that `tmux -V` prints
// before it: "tmux", or before tmux 3.3 the name of its file. It fails for a build without
// a version number, such as "master" or "openbsd-7.6".
func ParseVersion(s string) (Version, error) {
	text := strings.TrimSpace(s)
	if program, version, ok := strings.Cut(text, " "); ok && strings.HasPrefix(program, "tmux") {
		text = version
	}
	text, next := strings.CutPrefix(text, "next-")
	text, _, _ = strings.Cut(text, "-") // distributors add suffixes such as "-rc2"
	major, minor, _ := strings.Cut(text, ".")
	v := Version{Next: next}
	if last := len(minor) - 1; last > 0 && 'a' <= minor[last] && minor[last] <= 'z' {
		minor, v.Letter = minor[:last], minor[last]
	}
	first, err := strconv.ParseUint(major, 10, 30)
	second, wrong := strconv.ParseUint(minor, 10, 30)
	if err != nil || wrong != nil {
		return Version{}, fmt.Errorf("not a tmux version: %q", s)
	}
	v.Major, v.Minor = int(first), int(second)
	return v, nil
}

// itself returns v as a [Server] does, whose version may have to be asked for.
func (v Version) itself() (Version, error) { return v, nil }

// mustVersion parses the versions written in struct tags and tables.
func mustVersion(s string) Version {
	v, err := ParseVersion(s)
	if err != nil {
		panic(err)
	}
	return v
}

// Compare returns a negative number if v is older than o, zero if they are the same, and a
// positive number if v is newer.
func (v Version) Compare(o Version) int {
	next := func(v Version) int {
		if v.Next {
			return 0
		}
		return 1
	}
	return cmp.Or(v.Major-o.Major, v.Minor-o.Minor, next(v)-next(o), int(v.Letter)-int(o.Letter))
}

// Has reports whether a tmux of version v can be expected to have what release since
// introduced. A development version counts as the release it leads to.
func (v Version) Has(since Version) bool {
	v.Next = false
	return v.Compare(since) >= 0
}

func (v Version) String() string {
	s := fmt.Sprintf("%d.%d", v.Major, v.Minor)
	if v.Letter != 0 {
		s += string(v.Letter)
	}
	if v.Next {
		s = "next-" + s
	}
	return s
}

// versionMismatch explains a connection that broke at once: an older client program cannot
// talk to a newer server, and neither says so. The server is asked over the native
// transport, which has no version. It returns nil if the versions are equal or unknown.
func versionMismatch(ctx context.Context, s *Server, e *Error) error {
	if e.Err != ErrServerGone || !wire.NativeUsable {
		return nil
	}
	d := s.newDelimiter()
	rep, err := s.transport.Ask(ctx, "display-message", "-p", string(d.around("#{version}")))
	if err != nil {
		return nil
	}
	version, _ := d.inside(string(rep.Stdout))
	theirs, err := ParseVersion(version)
	if err != nil {
		return nil
	}
	ours, err := s.ProgramVersion(ctx)
	if err != nil || ours == theirs {
		return nil
	}
	return fmt.Errorf("%w: the program is %s, the server on %s is %s", ErrVersionMismatch, ours, s.at.Path, theirs)
}
