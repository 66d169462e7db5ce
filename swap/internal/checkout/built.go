package checkout

import (
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"tmuxmcp/internal/atomicfile"
	"tmuxmcp/swap/format"
)

// BuiltBefore returns the message that a checkout's sources were edited after a program was built, with
// the command that builds it again. It is "" if they were not, or if the program is not built: only
// a file of an npm package, or what [ModeBuild] made, is.
func BuiltBefore(dir, program string) string {
	program, err := filepath.EvalSymlinks(program)
	if err != nil {
		return ""
	}
	info, err := os.Stat(program)
	if err != nil || !info.Mode().IsRegular() {
		return ""
	}
	built, source, again := changed{at: info.ModTime()}, changed{}, "use-local --mode build"
	switch rel, err := filepath.Rel(dir, program); {
	case err == nil && filepath.IsLocal(rel):
		built, source, again = npmEdited(dir, filepath.ToSlash(rel), built)
	case filepath.Base(filepath.Dir(program)) == "release":
		source, _ = newest(dir, cargoSkips, func(file string) bool { return cargoSource(file, filepath.Base(program)) })
	default:
		source, _ = newest(dir, goSkips, goSource)
	}
	later := source.at.Sub(built.at)
	if source.file == "" || later < time.Second { // git, too, writes one after the other
		return ""
	}
	return fmt.Sprintf("built before the last edit (%s, %s later): %s builds it again", source.file, inWords(later), again)
}

func inWords(d time.Duration) string {
	n, unit := int(d/time.Second), "second"
	for _, more := range []struct {
		of   int
		unit string
	}{{60, "minute"}, {60, "hour"}, {24, "day"}} {
		if n < more.of {
			break
		}
		n, unit = n/more.of, more.unit
	}
	if n != 1 {
		unit += "s"
	}
	return fmt.Sprintf("%d %s", n, unit)
}

// changed is a file, by its slash-separated path, and when it was changed.
type changed struct {
	file string
	at   time.Time
}

// maxEntries bounds how many files and directories are looked at.
const maxEntries = 20_000

// newest returns the file in a directory that was changed last, among those that count. all is set if
// it looked at all of them.
func newest(dir string, skips func(dir, rel string) bool, counts func(rel string) bool) (last changed, all bool) {
	left := maxEntries
	_ = filepath.WalkDir(dir, func(p string, e fs.DirEntry, err error) error {
		if left--; left < 0 {
			return fs.SkipAll
		}
		rel, rerr := filepath.Rel(dir, p)
		if err != nil || rerr != nil {
			return nil // nothing was built from what cannot be read
		}
		rel = filepath.ToSlash(rel)
		switch {
		case e.IsDir() && rel != "." && (strings.HasPrefix(e.Name(), ".") || e.Name() == "node_modules" || skips(dir, rel)):
			return fs.SkipDir
		case !e.Type().IsRegular() || !counts(rel):
			return nil
		}
		if info, err := e.Info(); err == nil && info.ModTime().After(last.at) {
			last = changed{rel, info.ModTime()}
		}
		return nil
	})
	return last, left >= 0
}

// has reports whether a directory below another has a file: it is a module, crate or package of
// its own.
func has(dir, rel, file string) bool {
	_, err := os.Lstat(filepath.Join(dir, filepath.FromSlash(rel), file))
	return err == nil
}

func goSkips(dir, rel string) bool {
	name := path.Base(rel)
	return name == "vendor" || name == "testdata" || strings.HasPrefix(name, "_") || has(dir, rel, goMarker)
}

func goSource(rel string) bool {
	return strings.HasSuffix(rel, ".go") && !strings.HasSuffix(rel, "_test.go") || rel == goMarker || rel == "go.sum"
}

func cargoSkips(dir, rel string) bool {
	return slices.Contains([]string{"target", "tests", "examples", "benches"}, rel) || has(dir, rel, cargoMarker)
}

// cargoSource reports whether a program is built from a file: those of other programs do not count.
func cargoSource(rel, program string) bool {
	if own, ok := strings.CutPrefix(rel, "src/bin/"); ok {
		own, _, _ = strings.Cut(strings.TrimSuffix(own, ".rs"), "/")
		return exe(own) == program
	}
	return strings.HasSuffix(rel, ".rs") || rel == cargoMarker || rel == "Cargo.lock"
}

// outputs are the directories that an npm package is built into.
var outputs = []string{"dist", "build", "out", "output", "lib", "esm", "cjs", "bundle", "compiled"}

// npmEdited returns the last build and the last edit of an npm package, and the command that
// builds it again. rel is a file of it that node runs: in a directory for what is built, or
// beside its TypeScript. A compiler does not rewrite output that has not changed, so all of the
// output counts.
func npmEdited(dir, rel string, file changed) (built, source changed, again string) {
	text, _, err := atomicfile.Disk{}.Read(filepath.Join(dir, npmMarker))
	if err != nil {
		return
	}
	doc, err := format.Parse(format.JSON, text)
	if err != nil {
		return
	}
	switch {
	case textAt(doc, "scripts", "build") != "":
		again = npmOf(dir) + " run build"
	case textAt(doc, "scripts", "prepare") != "":
		again = npmOf(dir) + " run prepare"
	default:
		return
	}
	out, _, below := strings.Cut(rel, "/")
	stem := strings.TrimSuffix(rel, path.Ext(rel))
	isOutput := below && slices.Contains(outputs, out)
	switch {
	case isOutput:
		var all bool
		built, all = newest(filepath.Join(dir, out), func(string, string) bool { return false }, func(string) bool { return true })
		if !all {
			return
		}
		info, _ := newest(dir, func(string, string) bool { return true }, func(rel string) bool { return strings.HasSuffix(rel, ".tsbuildinfo") })
		if info.at.After(built.at) {
			built = info
		}
	case has(dir, ".", stem+".ts"), has(dir, ".", stem+".mts"), has(dir, ".", stem+".tsx"):
		built = file
	default:
		return
	}
	skips := func(dir, rel string) bool {
		apart := slices.Contains([]string{"test", "tests", "__tests__", "e2e", "examples", "docs", "coverage"}, path.Base(rel))
		return apart || rel == out && isOutput || rel != "lib" && slices.Contains(outputs, rel) || has(dir, rel, npmMarker)
	}
	source, _ = newest(dir, skips, func(rel string) bool { return npmSource(rel, isOutput) })
	return built, source, again
}

// npmSource reports whether an npm package is built from a file. What is built beside its sources
// is built from TypeScript.
func npmSource(rel string, elsewhere bool) bool {
	name := path.Base(rel)
	top, _, below := strings.Cut(rel, "/")
	switch tool, rest, _ := strings.Cut(name, "."); {
	case strings.HasPrefix(rest, "config.") && slices.Contains([]string{"vitest", "jest", "playwright", "eslint", "prettier"}, tool):
		return false
	case strings.Contains(name, ".test.") || strings.Contains(name, ".spec.") || strings.HasSuffix(name, ".d.ts") || strings.HasPrefix(name, "."):
		return false
	case slices.Contains([]string{".ts", ".tsx", ".mts", ".cts"}, path.Ext(name)) || rel == "tsconfig.json":
		return true
	}
	return elsewhere && below && (top == "src" || top == "lib")
}
