package version

import (
	"runtime/debug"
	"testing"
)

func TestVersion(t *testing.T) {
	const revision = "0123456789abcdef0123456789abcdef01234567"
	built := &debug.BuildInfo{
		Main:     debug.Module{Version: "v0.0.0-20261122000000-0123456789ab"},
		Settings: []debug.BuildSetting{{Key: "vcs.revision", Value: revision}},
	}
	for _, c := range []struct {
		number, commit string
		info           *debug.BuildInfo
		want, long     string
	}{
		{"", "", nil, "(devel)", "(devel)"},
		{"", "", &debug.BuildInfo{}, "(devel)", "(devel)"},
		{"", "", built, built.Main.Version, built.Main.Version + " (0123456789ab)"},
		{"1.2.3", "0123456789ab-dirty", &debug.BuildInfo{Main: debug.Module{Version: "(devel)"}}, "1.2.3", "1.2.3 (0123456789ab-dirty)"},
		{"1.2.3", "", built, "1.2.3", "1.2.3"}, // of an archive of the source, in somebody's repository
	} {
		number, commit = c.number, c.commit
		if got, long := numberOf(c.info), stringOf(c.info); got != c.want || long != c.long {
			t.Errorf("%q, %q, %+v: %q and %q, want %q and %q", c.number, c.commit, c.info, got, long, c.want, c.long)
		}
	}
}
