package configs

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"tmuxmcp/internal/atomicfile"
	"tmuxmcp/swap/clients"
	"tmuxmcp/swap/internal/machine"
)

// ToCreate returns a config that does not exist, as an empty file, with the directories to
// create for it. A link on the way to it below the home directory is refused: it may lead
// to something that the client would not share.
func ToCreate(env Env, c *clients.Client, config string) (*Document, error) {
	if c.Makes {
		return nil, fmt.Errorf("there is no %s: %s makes it with more than servers in it, so start it once", config, c.Name)
	}
	var dirs []string
	base := filepath.Dir(config)
	for ; machine.Missing(base) && base != filepath.Dir(base); base = filepath.Dir(base) {
		dirs = append(dirs, base)
	}
	slices.Reverse(dirs)
	real, err := filepath.EvalSymlinks(base)
	if err != nil {
		return nil, fmt.Errorf("%s cannot be created: %w", config, err)
	}
	if info, err := os.Stat(real); err != nil || !info.IsDir() {
		return nil, fmt.Errorf("%s cannot be created: %s is not a directory", config, base)
	}
	if rel, err := filepath.Rel(env.Sys.Home, base); err == nil && filepath.IsLocal(rel) {
		home, err := filepath.EvalSymlinks(env.Sys.Home)
		if err != nil {
			return nil, fmt.Errorf("%s cannot be created: %w", config, err)
		}
		if filepath.Join(home, rel) != real {
			return nil, fmt.Errorf("%s is not created through a symbolic link, to %s: start the client once, or create the file", config, real)
		}
	}
	d := &Document{Client: c, Path: config, Meta: atomicfile.Private}
	if d.Target, err = within(real, base, config); err != nil {
		return nil, err
	}
	for _, dir := range dirs {
		at, err := within(real, base, dir)
		if err != nil {
			return nil, err
		}
		d.Dirs = append(d.Dirs, at)
	}
	return d, d.Parse(env)
}

// within moves a path below base to the directory real.
func within(real, base, path string) (string, error) {
	rel, err := filepath.Rel(base, path)
	return filepath.Join(real, rel), err
}
