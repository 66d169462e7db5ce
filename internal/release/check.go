package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// check builds the release again, from a copy of the source in another directory and
// with nothing compiled before, and compares.
func (r *release) check(ctx context.Context, chosen []platform) error {
	temp, err := os.MkdirTemp("", "release")
	if err != nil {
		return err
	}
	defer os.RemoveAll(temp)
	again := *r
	again.root = filepath.Join(temp, "elsewhere")
	again.env = append(slices.Clone(r.env), "GOCACHE="+filepath.Join(temp, "cache"))
	list, err := command(ctx, r.root, nil, "git", "ls-files", "-z", "--cached", "--others", "--exclude-standard")
	if err != nil {
		return fmt.Errorf("list the source, to copy it: %w", err)
	}
	for name := range strings.SplitSeq(strings.Trim(list, "\x00"), "\x00") {
		if err := copyFile(filepath.Join(r.root, name), filepath.Join(again.root, name)); err != nil {
			return err
		}
	}
	if err := again.write(ctx, chosen, filepath.Join(temp, "out")); err != nil {
		return err
	}
	var differ []string
	for i, s := range r.written {
		if again.written[i] != s {
			differ = append(differ, s.Name)
		}
	}
	if differ != nil {
		return fmt.Errorf("not reproducible: a second build has other bytes in %s", strings.Join(differ, ", "))
	}
	return nil
}

// copyFile copies a file of the source; one that was deleted is in no build.
func copyFile(from, to string) error {
	data, err := os.ReadFile(from)
	if os.IsNotExist(err) {
		return nil
	}
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
		return err
	}
	return os.WriteFile(to, data, 0o644)
}
