package gettmux

import (
	"slices"
	"strings"
	"testing"
)

func TestAdvice(t *testing.T) {
	for _, c := range []struct{ goos, release, onPath, want string }{
		{"darwin", "", "", `install tmux with "brew install tmux"`},
		{"darwin", "", "port", `install tmux with "port install tmux" as root`},
		{"darwin", "", "nix-env brew port", `install tmux with "brew install tmux"`},
		{"linux", "NAME=Fedora\nVERSION_ID=43\nID=fedora\n", "dnf apt-get", `install tmux with "dnf install tmux" as root`},
		{"linux", "ID=\"rocky\"\nID_LIKE=\"rhel centos fedora\"\n", "", `install tmux with "dnf install tmux" as root`},
		{"linux", "ID=manjaro\nID_LIKE=arch\n", "", `install tmux with "pacman -S tmux" as root`},
		{"linux", "ID=alpine\n", "apk", `install tmux with "apk add tmux" as root`},
		{"linux", "ID=\"opensuse-leap\"\nID_LIKE='suse opensuse'\n", "", `install tmux with "zypper install tmux" as root`},
		{"linux", "ID=ubuntu\nID_LIKE=debian\n", "", `install tmux with "apt-get install tmux" as root`},
		{"linux", "ID=debian\n", "nix-env brew", `install tmux with "apt-get install tmux" as root`},
		{"linux", "ID=nixos\n", "", `install tmux with "nix-env -f '<nixpkgs>' -iA tmux"`},
		{"linux", "ID=other\n", "brew", `install tmux with "brew install tmux"`},
		{"linux", "BUILD_ID=debian\nID=other\n", "", "install tmux"},
		{"linux", "", "", "install tmux"},
	} {
		got := advice(c.goos, c.release, false, func(p string) bool { return slices.Contains(strings.Fields(c.onPath), p) })
		if got != c.want {
			t.Errorf("%s, %q, with %q: %s, want %s", c.goos, c.release, c.onPath, got, c.want)
		}
	}
	if got := advice("linux", "ID=arch", true, func(string) bool { return false }); got != `install tmux with "pacman -S tmux"` {
		t.Errorf("for root: %s", got)
	}
	if got := Advice("--tmux"); !strings.HasPrefix(got, "install tmux") || !strings.HasSuffix(got, ", or say where it is with --tmux") {
		t.Errorf("here: %s", got)
	}
}
