package debian

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// A version stands for whichever suite has it.
func TestGetVersion(t *testing.T) {
	a := newTestArchive(t)
	version := a.publishTmux(t)
	if !versionName.MatchString(version) {
		t.Skipf("the tmux to test with is %s, which no suite would carry", version)
	}
	index := filepath.Join(a.dir, "dists", "testing", "main", "binary-"+a.arch, "Packages")
	text, err := os.ReadFile(index)
	if err != nil {
		t.Fatal(err)
	}
	a.publish(t, "testing", strings.ReplaceAll(string(text), "Version: 1:9.9-1", "Version: 1:"+version+"-1~bpo1+2"))
	a.publish(t, "stable", strings.ReplaceAll(string(text), "Version: 1:9.9-1", "Version: 1.0-3"))
	_, other, _ := strings.Cut(string(text), "\n\n")
	a.publish(t, "oldstable", other) // without a tmux

	var stages []string
	f := Fetcher{CacheDir: shortDir(t), Mirror: a.mirror(), Keyring: a.keyring, Progress: func(line string) { stages = append(stages, line) }}
	if _, err := f.Path(version); !errors.Is(err, ErrNotFetched) {
		t.Errorf("Path before Get: %v", err)
	}
	_, err = f.Get(t.Context(), "1.9z")
	if err == nil || !strings.Contains(err.Error(), "1.9z: no suite has this version: there is 1.0 in stable, "+version+" in testing") {
		t.Errorf("Get of a version that is not there: %v", err)
	}
	got, err := f.Get(t.Context(), version)
	if err != nil {
		t.Fatal(err)
	}
	if got.Suite != "testing" || got.Version != version {
		t.Errorf("got %+v", got)
	}
	if !slices.ContainsFunc(stages, func(s string) bool {
		return strings.HasPrefix(s, "debian:"+version+": looking in ") && strings.Contains(s, ", testing,")
	}) {
		t.Errorf("stages: %q", stages)
	}

	// Now it is in the cache, and no mirror is asked.
	f.Mirror, stages = "file:///nonexistent", nil
	if again, err := f.Get(t.Context(), version); err != nil || again.Binary != got.Binary || len(stages) > 0 {
		t.Errorf("again: %+v, %v, %q", again, err, stages)
	}
	if path, err := f.Path(version); err != nil || path != got.Binary {
		t.Errorf("Path: %s, %v", path, err)
	}
	if err := f.Remove(version); err != nil {
		t.Error(err)
	}
	if _, err := f.Path("testing"); !errors.Is(err, ErrNotFetched) {
		t.Errorf("Path after Remove: %v", err)
	}
}
