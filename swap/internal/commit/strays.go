package commit

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"tmuxmcp/internal/atomicfile"
	"tmuxmcp/swap/clients"
	"tmuxmcp/swap/internal/configs"
	"tmuxmcp/swap/journal"
)

// backupMark follows the config's name in the name of every backup.
const backupMark = ".bak.mcp-swap-"

// Kinds of a [Stray].
const (
	StrayBackup = "unknown-backup" // a backup without a record
	SpareBackup = "spare-backup"   // such a backup, equal to its config
	TempFile    = "temporary-file" // left by a killed run
)

// A Stray is a file that a killed run left beside a config or in the state directory.
type Stray struct {
	Kind, Client, Path string
	Text               string // what it is, and what to do about it
}

// Strays returns the temporary files and backups that killed runs left. st is the record of swaps,
// or nil if it cannot be read.
func Strays(env configs.Env, st *journal.State) (out []Stray) {
	listed := map[string]bool{}
	owner := targets(env, st)
	for _, t := range temps(env, st, owner) {
		for _, name := range leftovers(env, t.stem) {
			if listed[name] {
				continue
			}
			listed[name] = true
			s := Stray{Kind: TempFile, Client: t.client, Path: name, Text: t.unknown(name)}
			if _, spare := env.Disk.Spare(name, t.known); spare {
				s.Text = name + " was left by a killed run; the next use-local or revert removes it"
			}
			out = append(out, s)
		}
	}
	return append(out, strayBackups(env, st, owner)...)
}

// sweep removes temporary files and spare backups of killed runs, and expired records. It
// needs the lock.
func (c *Commit) sweep() {
	st := c.State
	if st.Stale {
		if err := c.Journal.Save(st); err != nil {
			c.Warn(fmt.Sprintf("remove old records: %v", err))
		}
	}
	var errs []error
	said, gone := map[string]bool{}, map[string]bool{}
	owner := targets(c.Env, st)
	for _, t := range temps(c.Env, st, owner) {
		left := slices.DeleteFunc(leftovers(c.Env, t.stem), func(name string) bool { return gone[name] })
		kept, err := c.Disk.Sweep(left, t.known)
		errs = append(errs, err)
		for _, name := range left {
			gone[name] = !slices.Contains(kept, name)
		}
		for _, name := range kept {
			if !said[name] {
				c.Warn(t.unknown(name))
			}
			said[name] = true
		}
	}
	for _, b := range strayBackups(c.Env, st, owner) {
		if b.Kind == SpareBackup {
			text, _, err := c.Disk.Read(b.Path)
			if err == nil {
				err = c.Disk.RemoveIf(b.Path, text)
			}
			errs = append(errs, err)
		}
	}
	if err := errors.Join(errs...); err != nil {
		c.Warn(fmt.Sprintf("clean up after a killed run: %v", err))
	}
}

// leftovers lists the temporary files beside a path.
func leftovers(env configs.Env, stem string) []string {
	return env.Disk.Leftovers(stem, env.Names(filepath.Dir(stem)))
}

// A temp is a path beside which a killed run may have left temporary files, with what tells which of
// them may be removed.
type temp struct {
	stem   string // of their names
	config string // whose text they may have; "" in the state directory
	client string
	known  func(name string, text []byte) bool
}

// unknown returns a message about a file that may be a client's save.
func (t temp) unknown(name string) string {
	if t.config == "" {
		return name + " was left by a killed run, and its text is not known; inspect it before deleting it"
	}
	return fmt.Sprintf("%s was left by a killed run, and its text is not known: it may be the newest save of %s; "+
		"compare them, then move it there or delete it", name, t.config)
}

// temps returns where killed runs may have left temporary files; owner is what targets returns.
func temps(env configs.Env, st *journal.State, owner map[string]string) (temps []temp) {
	for _, config := range slices.Sorted(maps.Keys(owner)) {
		known := func(name string, text []byte) bool {
			if strings.Contains(name, backupMark) && !strings.HasSuffix(name, atomicfile.Aside) {
				return true // a backup that was not finished: nothing else was written under that name
			}
			now, _, _ := env.Read(config)
			return cmp.Or(st, &journal.State{}).Knows(config, now, text)
		}
		temps = append(temps, temp{config, config, owner[config], known})
		temps = append(temps, temp{env.Journal.Beside(config), config, owner[config], known})
	}
	temps = append(temps, temp{stem: env.Journal.Path(), known: journal.Written})
	// Nothing is known about other files in the state directory, such as backups of other homes.
	others := temp{stem: env.Journal.Dir + string(filepath.Separator), known: func(string, []byte) bool { return false }}
	return append(temps, others)
}

// targets returns the files beside which runs write, and their clients. Directories are
// resolved, so that each is listed once.
func targets(env configs.Env, st *journal.State) map[string]string {
	owner := map[string]string{}
	add := func(config, client string) {
		paths := []string{env.InRealDir(config)}
		if target, err := env.Real(config); err == nil {
			paths = append(paths, target)
		}
		for _, path := range paths {
			owner[path] = cmp.Or(owner[path], client)
		}
	}
	for _, c := range clients.All() {
		for _, config := range append(c.UserFiles(env.Sys), c.ConfigPath(env.Sys)) {
			add(config, c.Name)
		}
	}
	if st != nil {
		for _, r := range slices.Concat(st.Records, st.Reverted) {
			add(r.Config, r.Client)
			add(r.Target, r.Client)
		}
	}
	return owner
}

// strayBackups finds backups without a record. One is spare if its config still has the same
// text: the run that made it was killed before it wrote. The state directory may also
// contain backups of project files, which only a record could identify.
func strayBackups(env configs.Env, st *journal.State, owner map[string]string) (out []Stray) {
	known := map[string]bool{}
	if st != nil {
		for _, r := range st.Records {
			known[env.InRealDir(r.Backup)] = true
			for _, name := range copies(env, st, &r) {
				known[name] = true
			}
		}
		for _, backup := range st.Elsewhere() {
			known[env.InRealDir(backup)] = true
			known[env.InRealDir(filepath.Join(env.Journal.Dir, filepath.Base(backup)))] = true
		}
	}
	for _, config := range slices.Sorted(maps.Keys(owner)) {
		for _, name := range slices.Concat(beside(env, config), beside(env, env.Journal.Beside(config))) {
			if known[env.InRealDir(name)] || strings.Contains(name, env.Disk.TempMark) {
				continue
			}
			b := Stray{Kind: StrayBackup, Client: owner[config], Path: name}
			now, _, err := env.Read(config)
			text, _, berr := env.Disk.Read(name)
			switch {
			case st == nil:
				b.Text = name + " is a backup; without the state file it is unknown whether it is needed"
			case err == nil && berr == nil && bytes.Equal(text, now):
				b.Kind = SpareBackup
				b.Text = name + " was left by a killed run and equals its config; the next use-local or revert removes it"
			default:
				b.Text = fmt.Sprintf("%s is a backup of %s without a record; inspect before deleting: "+
					"it may be the only copy of the config before a swap", name, config)
			}
			known[env.InRealDir(name)] = true
			out = append(out, b)
		}
	}
	for _, base := range env.Names(env.Journal.Dir) {
		name := filepath.Join(env.Journal.Dir, base)
		if strings.Contains(name, backupMark) && !strings.Contains(name, env.Disk.TempMark) && !known[env.InRealDir(name)] {
			out = append(out, Stray{Kind: StrayBackup, Path: name, Text: name + " is a backup without a record; inspect before deleting: " +
				"it may be the only copy of a file before a swap"})
		}
	}
	return out
}

// beside lists the files named like path, followed by the mark of a backup.
func beside(env configs.Env, path string) (out []string) {
	dir, base := filepath.Split(path)
	for _, name := range env.Names(filepath.Dir(path)) {
		if strings.HasPrefix(name, base+backupMark) {
			out = append(out, filepath.Join(dir, name))
		}
	}
	return out
}
