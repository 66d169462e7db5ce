package commit

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"tmuxmcp/internal/atomicfile"
	"tmuxmcp/swap/clients"
	"tmuxmcp/swap/format"
	"tmuxmcp/swap/internal/configs"
	"tmuxmcp/swap/internal/machine"
	"tmuxmcp/swap/journal"
)

// This file finds the files that have a swap. A client may have saved its config by putting a file
// where a link was, and links and directories get moved, so the file that was swapped and the one
// that the client reads now may be two.

// A place is a file that has, or had, a swap.
type place struct {
	doc     *configs.Document
	verdict Verdict
}

func (p *place) entry() journal.Entry {
	return journal.Entry{Target: p.doc.Target, Container: p.verdict.rec.Container}
}

// A reader reads a file by its path and the target that this resolves to.
type reader func(path, target string) (*configs.Document, error)

// placesOf returns the places of a swap: the files that its clients read now, and the one that was
// swapped; usually they are one. With force, a file that cannot be read is left out as long as
// there is another.
func placesOf(env configs.Env, c *clients.Client, st *journal.State, r *journal.Record, read reader, force bool) ([]*place, error) {
	var all []*place
	add := func(path, target string) error {
		if slices.ContainsFunc(all, func(p *place) bool { return p.doc.Target == target }) {
			return nil
		}
		d, err := read(path, target)
		if err != nil {
			return err
		}
		d.Client = c
		v, err := judgeText(env, r, d)
		if err == nil {
			all = append(all, &place{d, v})
		}
		return err
	}
	swapped, wasErr := configs.Target(r.Target)
	nowErr := wasErr
	for _, by := range r.Readers() {
		path := by.Config
		now, err := configs.Target(path)
		if err != nil && machine.Missing(path) {
			nowErr = err
			if path = movedTo(env, st, r, by); path == "" {
				continue
			}
			now, err = configs.Target(path)
		}
		switch {
		case err == nil:
			err = add(path, now)
		case wasErr == nil:
			err = fmt.Errorf("%w; what was swapped is %s: repair the link, or use --force to undo it there", err, r.Target)
		}
		if err != nil && (!force || now != "" && now == swapped) {
			return nil, err
		}
	}
	if wasErr == nil {
		if err := add(r.Target, swapped); err != nil && len(all) == 0 {
			return nil, err
		} else if err != nil && !force {
			return nil, fmt.Errorf("%w; it is the file that was swapped, and the client now reads %s: --force leaves it out", err, all[0].doc.Path)
		}
	}
	if out := relevant(st, r, all, swapped); len(out) > 0 {
		return out, nil
	}
	return nil, gone{nowErr}
}

// relevant returns the places that have something of the swap, except those that are recorded for
// another swap. If there are none, it returns the file that was swapped or, if that is gone (swapped
// is ""), one in which the swap is undone.
func relevant(st *journal.State, r *journal.Record, all []*place, swapped string) []*place {
	out := slices.DeleteFunc(slices.Clone(all), func(p *place) bool {
		return !p.verdict.has() ||
			p.doc.Target != swapped && claimed(st, r, p.entry(), func(o journal.Record) string { return o.Target })
	})
	if len(out) > 0 {
		return out
	}
	for _, p := range slices.Backward(all) {
		if p.doc.Target == swapped || swapped == "" && p.verdict.AsBefore() {
			return []*place{p}
		}
	}
	return nil
}

// movedTo returns the file that a client reads now instead of one that no longer exists, if it is the
// swapped file under another name or in another directory. It is "" if there is none.
func movedTo(env configs.Env, st *journal.State, r *journal.Record, by journal.Reader) string {
	c, id := clients.Lookup(by.Client), st.Files[r.Target].ID
	if c == nil || id == "" {
		return ""
	}
	files := c.UserFiles(env.Sys)
	if c.InFiles(clients.Scope(by.Scope)) {
		files, _ = c.ProjectFiles(env.Sys, r.Repo, env.Tree(r.Repo))
	}
	for _, file := range files {
		if atomicfile.ID(file) == id {
			return file
		}
	}
	return ""
}

// gone is the error that a file does not exist.
type gone struct{ error }

func (e gone) Unwrap() error { return e.error }

// reads reads files as they are on disk.
func reads(env configs.Env) reader {
	return func(path, target string) (d *configs.Document, err error) {
		d = &configs.Document{Path: path, Target: target}
		d.Text, d.Info, err = env.Read(target)
		return d, err
	}
}

// holds reports whether an entry runs what a swap wrote: its command or address and, if the swap
// did not change that, the variables that it set.
func holds(r *journal.Record, entry map[string]any) bool {
	c := clients.Lookup(r.Client)
	if c == nil {
		return false
	}
	d := c.Dialect
	return slices.ContainsFunc(r.Writes, func(w journal.Write) bool {
		runs := d.Runs(w.Value)
		if !slices.Equal(runs, d.Runs(entry)) {
			return false
		}
		if !slices.Equal(runs, d.Runs(r.Old)) {
			return len(runs) > 0
		}
		set := false
		for name, value := range variables(c, w.Value) {
			if format.Equal(value, variables(c, r.Old)[name]) {
				continue
			}
			if !format.Equal(value, variables(c, entry)[name]) {
				return false
			}
			set = true
		}
		return set
	})
}

// traces reports whether an entry has part of what a swap wrote: a variable, all arguments, an
// address, a path in its command or, if there are no arguments, its program.
func traces(r *journal.Record, entry map[string]any) bool {
	c := clients.Lookup(r.Client)
	if c == nil {
		return false
	}
	d := c.Dialect
	was, is := d.Runs(r.Old), d.Runs(entry)
	return slices.ContainsFunc(r.Writes, func(w journal.Write) bool {
		for name, value := range variables(c, w.Value) {
			if !format.Equal(value, variables(c, r.Old)[name]) && format.Equal(value, variables(c, entry)[name]) {
				return true
			}
		}
		runs := d.Runs(w.Value)
		if slices.Equal(runs, was) || len(runs) == 0 || len(is) == 0 {
			return false
		}
		path := func(word string) bool { return strings.ContainsAny(word, `/\`) }
		marks := slices.DeleteFunc(slices.Clone(runs), func(word string) bool { return !path(word) || slices.Contains(was, word) })
		if len(runs) == 1 {
			marks = runs
		}
		same := len(runs) > 1 && slices.Equal(runs[1:], is[1:]) && (len(was) == 0 || !slices.Equal(runs[1:], was[1:]))
		return same || slices.ContainsFunc(marks, func(word string) bool { return slices.Contains(is, word) && !slices.Contains(was, word) })
	})
}

func variables(c *clients.Client, entry map[string]any) map[string]any {
	vars, _ := c.Dialect.Flat(entry)["env"].(map[string]any)
	return vars
}

// StillReads returns the places in which a swap's clients read what it wrote, in any layer and
// scope. After a revert there must be none. Entries of another swap in the state do not count, nor
// those that were the same before the swap, or are again. planned has the texts that files are about
// to get; skip reports that a file need not be looked at.
func StillReads(env configs.Env, st *journal.State, r *journal.Record, planned map[string][]byte, skip func(target string, text []byte) bool) (out []configs.Reading) {
	for _, by := range r.Readers() {
		c := clients.Lookup(by.Client)
		if c == nil {
			continue
		}
		for _, in := range configs.ReadEntries(env, c, r.Repo, r.Server, planned, skip) {
			twice := slices.ContainsFunc(out, func(o configs.Reading) bool { return o.Place() == in.Place() })
			if !twice && holds(r, in.Value) && !r.Had(in.Entry()) && !covered(st, r, in.Entry()) && !restored(st, in, r.Server) {
				out = append(out, in)
			}
		}
	}
	return out
}

// restored reports whether a reverted swap put the entry back.
func restored(st *journal.State, in configs.Reading, server string) bool {
	return slices.ContainsFunc(st.Reverted, func(o journal.Record) bool {
		return o.Same(in.Target, in.Container, server) && o.Action == journal.Replaced && in.Client.Dialect.SameEntry(in.Value, o.Old)
	})
}

// covered reports whether another record is about the same entry: its file was swapped, or its
// client reads it now.
func covered(st *journal.State, r *journal.Record, e journal.Entry) bool {
	return claimed(st, r, e, func(o journal.Record) string { return o.Target }) ||
		claimed(st, r, e, func(o journal.Record) string { return o.Config })
}

func claimed(st *journal.State, r *journal.Record, e journal.Entry, by func(journal.Record) string) bool {
	return slices.ContainsFunc(slices.Concat(st.Records, st.OfOthers()), func(o journal.Record) bool {
		if !o.Reverted.IsZero() || o.Seq == r.Seq || o.Server != r.Server || !slices.Equal(o.Container, e.Container) {
			return false
		}
		target, err := configs.Target(by(o))
		return by(o) == e.Target || err == nil && target == e.Target
	})
}

// Back returns a function that reports whether a reverted swap is in its config again.
func Back(env configs.Env, st *journal.State) func(*journal.Record) bool {
	return func(r *journal.Record) bool {
		c := clients.Lookup(r.Client)
		if c == nil || machine.Missing(r.Config) && machine.Missing(r.Target) {
			return false
		}
		places, err := placesOf(env, c, st, r, reads(env), true)
		if err != nil {
			if !errors.As(err, &gone{}) {
				env.Warn(fmt.Sprintf("%s: cannot see whether its config has the swap of %q: %v", label(r), r.Server, err))
			}
			return false
		}
		return slices.ContainsFunc(places, func(p *place) bool {
			reads := slices.ContainsFunc(r.Readers(), func(by journal.Reader) bool { return by.Config == p.doc.Path })
			return reads && p.verdict.runs() && !covered(st, r, p.entry())
		})
	}
}
