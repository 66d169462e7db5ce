// Command release builds what is published of this module, without the network:
//
//	go run ./tools/release [--out DIR] [--platform OS/ARCH] VERSION
//
// For each platform that is an archive with the programs, their man pages, shell
// completions and licences, and its bill of materials; the programs as an npm package;
// for Linux a Debian package too; and tmux-mcp once more as an MCP bundle (.mcpb) and as
// a plugin of Claude Code, Codex and other clients of the Agent Plugins format. Windows
// has mcp-swap alone. What package managers and the MCP registry read about these files
// comes after them, and SHA256SUMS is about all.
//
// The same commit and the same Go give the same bytes, on any machine, which CI checks.
// See docs/release.md.
package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"syscall"

	"github.com/spf13/pflag"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, os.Args[1:]); err != nil && !errors.Is(err, pflag.ErrHelp) {
		fmt.Fprintf(os.Stderr, "release: %v\n", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string) error {
	f := pflag.NewFlagSet("release", pflag.ContinueOnError)
	out := f.String("out", "dist", "`directory` for the files; it must be empty or not exist")
	only := f.String("platform", "", "build only this `OS/ARCH` (default all)")
	f.Usage = func() {
		fmt.Fprintln(os.Stderr, "usage: go run ./tools/release [flags] VERSION\n"+f.FlagUsages())
	}
	if err := f.Parse(args); err != nil {
		return err
	}
	if f.NArg() != 1 {
		return fmt.Errorf("got %d arguments, want the version, such as 1.2.3", f.NArg())
	}
	chosen, err := choose(*only)
	if err != nil {
		return err
	}
	r, err := newRelease(ctx, f.Arg(0))
	if err != nil {
		return err
	}
	if err := r.write(ctx, chosen, *out); err != nil {
		return err
	}
	fmt.Printf("%s (%s), %d files in %s\n", r.number, cmp.Or(r.commit, "no commit"), len(r.written), *out)
	return nil
}

// A platform is what a release is built for.
type platform struct{ OS, Arch string }

func (p platform) String() string { return p.OS + "/" + p.Arch }

var platforms = []platform{
	{"linux", "amd64"},
	{"linux", "arm64"},
	{"darwin", "amd64"},
	{"darwin", "arm64"},
	{"windows", "amd64"},
	{"windows", "arm64"},
}

func choose(only string) ([]platform, error) {
	if only == "" {
		return platforms, nil
	}
	i := slices.IndexFunc(platforms, func(p platform) bool { return p.String() == only })
	if i < 0 {
		return nil, fmt.Errorf("--platform %s: must be one of %v", only, platforms)
	}
	return platforms[i : i+1], nil
}

// write builds the platforms and writes all that is published of them into dir.
func (r *release) write(ctx context.Context, chosen []platform, dir string) error {
	if old, err := os.ReadDir(dir); err == nil && len(old) > 0 {
		return fmt.Errorf("--out %s is not empty: remove it, or name another directory", dir)
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	r.written, r.npm = nil, nil
	for _, p := range chosen {
		made, err := r.make(ctx, p)
		if err != nil {
			return fmt.Errorf("%s: %w", p, err)
		}
		if err := r.save(dir, made...); err != nil {
			return err
		}
	}
	catalogues, err := r.catalogues()
	if err != nil {
		return err
	}
	if err := r.save(dir, append(catalogues, icon())...); err != nil {
		return err
	}
	return r.save(dir, r.sums())
}

// save writes files, and remembers their checksums.
func (r *release) save(dir string, files ...file) error {
	for _, f := range files {
		if err := os.WriteFile(filepath.Join(dir, f.name), f.data, 0o644); err != nil {
			return err
		}
		r.written = append(r.written, sumOf(f))
	}
	return nil
}
