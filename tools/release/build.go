package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/mod/semver"
)

// A release is one version of one commit.
type release struct {
	number string    // 1.2.3
	commit string    // empty if the source is not a git checkout
	time   time.Time // of the commit: every file's in every archive

	module  string   // its path
	root    string   // of the source
	env     []string // where the go command keeps modules and what it compiled
	written []sum
	npm     []string          // the names of the packages with programs
	terms   map[string]string // of module@version, as SPDX has them
}

// newRelease takes the source that this command was started in.
func newRelease(ctx context.Context, version string) (*release, error) {
	number := strings.TrimPrefix(version, "v")
	if !semver.IsValid("v"+number) || strings.Count(number, ".") < 2 {
		return nil, fmt.Errorf("%q is not a version such as 1.2.3 or 1.2.3-rc.1", version)
	}
	found, err := command(ctx, "", nil, "go", "list", "-m", "-f", "{{.Path}}\t{{.Dir}}")
	if err != nil {
		return nil, err
	}
	r := &release{number: number, terms: map[string]string{}}
	r.module, r.root, _ = strings.Cut(found, "\t")
	for _, name := range []string{"GOMODCACHE", "GOCACHE"} {
		dir, err := command(ctx, r.root, nil, "go", "env", name)
		if err != nil {
			return nil, err
		}
		r.env = append(r.env, name+"="+dir)
	}
	seconds := os.Getenv("SOURCE_DATE_EPOCH")
	// The source may lie unpacked in another repository.
	if _, err := command(ctx, r.root, nil, "git", "ls-files", "--error-unmatch", "go.mod"); err == nil {
		head, err := command(ctx, r.root, nil, "git", "log", "-1", "--format=%H %ct")
		if err != nil {
			return nil, err
		}
		changed, err := command(ctx, r.root, nil, "git", "status", "--porcelain")
		if err != nil {
			return nil, err
		}
		commit, committed, _ := strings.Cut(head, " ")
		if r.commit = commit[:12]; changed != "" {
			r.commit += "-dirty"
		}
		if seconds == "" {
			seconds = committed
		}
	}
	when, err := strconv.ParseInt(seconds, 10, 64)
	if err != nil {
		return nil, errors.New("no git commit and no SOURCE_DATE_EPOCH to take the time of the files from: set it to seconds since 1970")
	}
	r.time = time.Unix(when, 0).UTC()
	return r, nil
}

// programs returns the packages that are built for a platform.
func (p platform) programs() []string {
	if p.OS == "windows" {
		return []string{"./cmd/mcp-swap"}
	}
	return []string{"./cmd/mcp-conform", "./cmd/mcp-swap", "./cmd/tmux-mcp"}
}

// binaries compiles a platform's programs. Nothing of this machine gets into them:
// neither paths, nor cgo, nor what the user's go env says.
func (r *release) binaries(ctx context.Context, p platform) ([]file, error) {
	dir, err := os.MkdirTemp("", "release")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	flags := fmt.Sprintf("-s -w -X %[1]s/internal/version.number=%[2]s -X %[1]s/internal/version.commit=%[3]s", r.module, r.number, r.commit)
	args := []string{"build", "-trimpath", "-buildvcs=false", "-ldflags", flags, "-o", dir + string(filepath.Separator)}
	if _, err := command(ctx, r.root, r.goEnv(p), "go", append(args, p.programs()...)...); err != nil {
		return nil, err
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	var built []file
	for _, e := range entries {
		data, err := os.ReadFile(filepath.Join(dir, e.Name()))
		if err != nil {
			return nil, err
		}
		built = append(built, file{e.Name(), 0o755, data})
	}
	return built, nil
}

func (r *release) goEnv(p platform) []string {
	return append([]string{
		"GOOS=" + p.OS, "GOARCH=" + p.Arch, "GOAMD64=v1", "GOARM64=v8.0", "CGO_ENABLED=0",
		"GOENV=off", "GOFLAGS=-mod=readonly", "GOPROXY=off", "GOEXPERIMENT=", "GOFIPS140=off", "GOWORK=off",
	}, r.env...)
}

// licences returns the terms of everything that a platform's programs contain besides
// this module: they must go with the programs.
func (r *release) licences(ctx context.Context, p platform) ([]byte, error) {
	args := []string{"list", "-deps", "-f", "{{with .Module}}{{if not .Main}}{{.Path}}@{{.Version}}\t{{.Dir}}{{end}}{{end}}"}
	list, err := command(ctx, r.root, r.goEnv(p), "go", append(args, p.programs()...)...)
	if err != nil {
		return nil, err
	}
	modules := slices.Sorted(strings.SplitSeq(list, "\n"))
	var b bytes.Buffer
	b.WriteString("The programs contain these modules, and Go's standard library, whose licence is\nthat of golang.org/x.\n")
	for _, line := range slices.Compact(modules) {
		name, dir, ok := strings.Cut(line, "\t")
		if !ok {
			continue // a package of the standard library, or of this module
		}
		texts, err := os.ReadDir(dir)
		if err != nil {
			return nil, err
		}
		all := []byte{}
		for _, t := range texts {
			if !licenceFile.MatchString(t.Name()) || t.IsDir() {
				continue
			}
			text, err := os.ReadFile(filepath.Join(dir, t.Name()))
			if err != nil {
				return nil, err
			}
			all = append(all, text...)
			fmt.Fprintf(&b, "\n== %s: %s\n\n%s\n", name, t.Name(), bytes.TrimSpace(text))
		}
		if len(all) == 0 {
			return nil, fmt.Errorf("%s has no licence in %s", name, dir)
		}
		r.terms[name] = spdx(all)
	}
	return b.Bytes(), nil
}

var licenceFile = regexp.MustCompile(`(?i)^(licen[cs]e|copying|notice|patents)`)

// command runs a program to its end and returns what it printed.
func command(ctx context.Context, dir string, env []string, name string, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Dir, cmd.Env = dir, append(os.Environ(), env...)
	cmd.WaitDelay = 5 * time.Second
	var diag bytes.Buffer
	cmd.Stderr = &diag
	out, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("%s %s: %w\n%s", name, args[0], err, bytes.TrimSpace(diag.Bytes()))
	}
	return strings.TrimSpace(string(out)), nil
}
