// Package gettmux says how to install tmux on this system.
package gettmux

import (
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strings"

	"tmuxmcp/internal/lazy"
)

// managers are package managers: a program, the systems that have it, by their ID in
// os-release or their GOOS, and its command.
var managers = []struct{ program, systems, command string }{
	{"apt-get", "debian ubuntu", "apt-get install tmux"},
	{"dnf", "fedora rhel", "dnf install tmux"},
	{"pacman", "arch", "pacman -S tmux"},
	{"apk", "alpine", "apk add tmux"},
	{"zypper", "suse opensuse", "zypper install tmux"},
	{"nix-env", "nixos", "nix-env -f '<nixpkgs>' -iA tmux"},
	{"brew", "darwin", "brew install tmux"},
	{"port", "darwin", "port install tmux"},
}

// Advice returns what to do where there is no tmux: install it with the system's own package
// manager or the one on PATH, or say where it is with the flag otherwise.
func Advice(otherwise string) string {
	release, err := os.ReadFile("/etc/os-release")
	if err != nil {
		release, _ = os.ReadFile("/usr/lib/os-release")
	}
	return advice(runtime.GOOS, string(release), os.Geteuid() == 0, func(program string) bool {
		_, err := exec.LookPath(program)
		return err == nil
	}) + ", or say where it is with " + otherwise
}

var systemID = lazy.Regexp(`(?m)^ID(?:_LIKE)?=["']?([^"'\n]*)`)

func advice(goos, release string, root bool, onPath func(program string) bool) string {
	ids := []string{goos}
	for _, m := range systemID().FindAllStringSubmatch(release, -1) {
		ids = append(ids, strings.Fields(m[1])...)
	}
	// Best is the system's own manager that is on PATH, then the system's own, then any on PATH.
	best, command := 0, ""
	for _, m := range managers {
		rank := 0
		if slices.ContainsFunc(strings.Fields(m.systems), func(id string) bool { return slices.Contains(ids, id) }) {
			rank = 2
		}
		if onPath(m.program) {
			rank++
		}
		if rank > best {
			best, command = rank, m.command
		}
	}
	switch {
	case best == 0:
		return "install tmux"
	case root || strings.HasPrefix(command, "brew") || strings.HasPrefix(command, "nix"):
		return fmt.Sprintf("install tmux with %q", command)
	}
	return fmt.Sprintf("install tmux with %q as root", command)
}
