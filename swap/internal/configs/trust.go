package configs

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path/filepath"
	"slices"

	"tmuxmcp/swap/clients"
	"tmuxmcp/swap/format"
)

// untrusted begins the text about a folder that a client does not trust.
const untrusted = "untrusted folder: "

func untilTrusted(dir string) string {
	return " until you start it once in " + dir + ", and trust the folder"
}

type trustAnswer int

const (
	trustUnknown trustAnswer = iota // the client has not asked yet, or never does
	trustGiven
	distrusted
)

// trusts reports whether a client trusts a directory, according to the nearest directory,
// at or above it, that the client has recorded.
func trusts(env Env, c *clients.Client, settings *format.Doc, repo string) trustAnswer {
	t := c.Trust
	if t == nil {
		return trustUnknown
	}
	if t.Gate != nil {
		if on, ok := settings.Get(c.Respelled.In(settings, t.Gate)...); on == false || !ok && t.Open {
			return trustUnknown
		}
	}
	if slices.Contains([]string{"0", "false"}, env.Sys.Getenv(t.Quiet)) {
		return trustUnknown
	}
	if t.Env != "" && env.Sys.Getenv(t.Env) == "true" {
		return trustGiven
	}
	from := settings
	if t.File != nil {
		var err error
		if from, err = env.document(c, t.File.File(env.Sys)); err != nil {
			if errors.Is(err, fs.ErrNotExist) {
				return distrusted
			}
			return trustUnknown
		}
	}
	var list []any
	folders := c.Respelled.In(from, t.Path)
	if _, err := from.Names(folders); err != nil { // it is no map
		listed, _ := from.Get(folders...)
		list, _ = listed.([]any)
	}
	for dir := repo; ; dir = filepath.Dir(dir) {
		if slices.Contains(list, any(dir)) {
			return trustGiven
		}
		path := append(slices.Clone(folders), dir)
		if t.Field != "" {
			path = append(path, t.Field)
		}
		if v, ok := from.Get(path...); ok {
			if slices.Contains(t.Yes, fmt.Sprint(v)) {
				return trustGiven
			}
			return distrusted
		}
		if dir == filepath.Dir(dir) {
			return distrusted
		}
	}
}

// trustedFolders lists the folders that a client's config says it trusts.
func trustedFolders(env Env, c *clients.Client, settings *format.Doc) (out []string) {
	if c.Trust == nil || c.Trust.File != nil || c.Trust.Field == "" {
		return nil
	}
	recorded, _ := settings.Get(c.Trust.Path...)
	folders, _ := recorded.(map[string]any)
	for _, dir := range slices.Sorted(maps.Keys(folders)) {
		if filepath.IsAbs(dir) && trusts(env, c, settings, dir) == trustGiven {
			out = append(out, dir)
		}
	}
	return out
}

// borrowed returns the text about another client's file that keeps a client from starting a server of
// its own config in a folder that it does not trust.
func borrowed(env Env, c *clients.Client, repo, server string) []string {
	for _, l := range c.Trust.Foreign {
		for _, file := range c.Files(l, env.Sys, repo, env.Tree(repo)) {
			text, err := env.text(file)
			if err != nil {
				continue // the client cannot read it either
			}
			doc, err := env.parse(format.JSON, text)
			if err != nil {
				continue
			}
			container := clients.ForProject(l.Container, env.Project(repo))
			v, _ := doc.Get(append(slices.Clone(container), server)...)
			if value, _ := v.(map[string]any); len(c.Dialect.Runs(value)) > 0 {
				return []string{fmt.Sprintf(untrusted+"%s starts no server of this name, which %s has too,%s", c.Name, file, untilTrusted(repo))}
			}
		}
	}
	return nil
}
