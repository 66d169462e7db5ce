package checkout

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/mod/modfile"

	"tmuxmcp/internal/atomicfile"
	"tmuxmcp/swap/ask"
	"tmuxmcp/swap/format"
	"tmuxmcp/swap/internal/hint"
)

// The manifest at the top of a workspace lists its members, most by patterns.

const (
	maxMembers = 500 // that are looked at
	maxNamed   = 8   // that an error names
)

// inWorkspace returns the error for a directory without a server. If it is the top of a workspace,
// the error names the members that have one.
func inWorkspace(dir string, err error) error {
	patterns, excluded := memberPatterns(dir)
	if patterns == nil {
		return err
	}
	var have []string
	for _, member := range expand(dir, patterns, excluded) {
		if _, merr := read(member, ""); merr == nil || errors.Is(merr, errSeveral) {
			have = append(have, "--repo "+ask.CommandLine([]string{member}))
		}
	}
	more := ""
	if n := len(have) - maxNamed; n > 0 {
		have, more = have[:maxNamed], fmt.Sprintf(", and %d more", n)
	}
	switch all := strings.Join(have, ", ") + more; len(have) {
	case 0:
		return hint.Advise(err, "it is a workspace, and no member has one either")
	case 1:
		return hint.Advise(err, "it is a workspace, and a member has one: "+all)
	default:
		return hint.Advise(err, "it is a workspace, and these members have one: "+all)
	}
}

// memberPatterns returns the patterns of the members of all workspaces whose top is a directory, and
// the patterns of excluded directories; nil if there is no workspace.
func memberPatterns(dir string) (in, out []string) {
	for _, m := range []struct {
		file    string
		kind    format.Kind
		members [][]string
	}{
		{npmMarker, format.JSON, [][]string{{"workspaces"}, {"workspaces", "packages"}}},
		{"pnpm-workspace.yaml", format.YAML, [][]string{{"packages"}}},
		{cargoMarker, format.TOML, [][]string{{"workspace", "members"}}},
		{uvMarker, format.TOML, [][]string{{"tool", "uv", "workspace", "members"}}},
	} {
		text, _, err := atomicfile.Disk{}.Read(filepath.Join(dir, m.file))
		if err != nil {
			continue
		}
		doc, err := format.Parse(m.kind, text)
		if err != nil {
			continue
		}
		for _, at := range m.members {
			in = append(in, textsAt(doc, at...)...)
			out = append(out, textsAt(doc, append(slices.Clone(at[:len(at)-1]), "exclude")...)...)
		}
	}
	if text, _, err := (atomicfile.Disk{}).Read(filepath.Join(dir, "go.work")); err == nil {
		if work, err := modfile.ParseWork("go.work", text, nil); err == nil {
			for _, use := range work.Use {
				in = append(in, filepath.ToSlash(use.Path))
			}
		}
	}
	return in, out
}

func textsAt(doc *format.Doc, path ...string) (out []string) {
	v, _ := doc.Get(path...)
	list, _ := v.([]any)
	for _, x := range list {
		if text, ok := x.(string); ok {
			out = append(out, text)
		}
	}
	return out
}

// expand returns the directories below dir that match a pattern and are not excluded. ** stands for up
// to three levels.
func expand(dir string, patterns, excluded []string) (out []string) {
	add := func(rel string) {
		member := filepath.Join(dir, filepath.FromSlash(rel))
		unwanted := strings.Contains("/"+rel+"/", "/node_modules/") || slices.ContainsFunc(excluded, func(p string) bool {
			match, _ := path.Match(p, rel)
			return match || strings.HasPrefix(rel, strings.TrimSuffix(p, "/**")+"/")
		})
		if info, err := os.Stat(member); len(out) < maxMembers && !unwanted && !slices.Contains(out, member) && err == nil && info.IsDir() {
			out = append(out, member)
		}
	}
	var in []string
	for _, p := range patterns {
		p, without := strings.CutPrefix(p, "!")
		if p = path.Clean(p); without {
			excluded = append(excluded, p)
		} else {
			in = append(in, p)
		}
	}
	for _, p := range in {
		if !strings.ContainsAny(p, "*?[") {
			add(p)
			continue
		}
		for _, levels := range []string{"", "*", "*/*", "*/*/*"} {
			found, _ := fs.Glob(os.DirFS(dir), path.Clean(strings.Replace(p, "**", levels, 1)))
			for _, rel := range found {
				add(rel)
			}
			if !strings.Contains(p, "**") {
				break
			}
		}
	}
	slices.Sort(out)
	return out
}
