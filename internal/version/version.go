// Package version reports which build of this module is running. A release sets both
// variables with the linker; any other build uses what the go command recorded.
package version

import (
	"cmp"
	"runtime/debug"
	"strings"
)

// Set by tools/release:
//
//	go build -ldflags '-X MODULE/internal/version.number=1.2.3 -X MODULE/internal/version.commit=…'
var number, commit string

// Number returns the release, such as 1.2.3. For a build that is not a release it is the go
// command's pseudo-version, or (devel).
func Number() string {
	info, _ := debug.ReadBuildInfo()
	return numberOf(info)
}

// String returns the number with the commit, if known: 1.2.3 (0fb06c2b53d1).
func String() string {
	info, _ := debug.ReadBuildInfo()
	return stringOf(info)
}

// Commit returns the beginning of the commit's hash, if known.
func Commit() string {
	info, _ := debug.ReadBuildInfo()
	return commitOf(info)
}

func numberOf(info *debug.BuildInfo) string {
	recorded := ""
	if info != nil {
		recorded = info.Main.Version
	}
	return cmp.Or(number, recorded, "(devel)")
}

func commitOf(info *debug.BuildInfo) string {
	rev := commit
	if info != nil && number == "" {
		for _, s := range info.Settings {
			if s.Key == "vcs.revision" {
				rev = s.Value[:min(12, len(s.Value))]
			}
		}
	}
	return rev
}

func stringOf(info *debug.BuildInfo) string {
	return strings.TrimSuffix(numberOf(info)+" ("+commitOf(info)+")", " ()")
}
