// Package journal records what was swapped in clients' configs, so that it can be undone
// exactly, even after a crash.
//
// The state is one JSON file, written whole and synced before any config is written: a
// [Record] may therefore describe a write that never happened, but no write happens without
// a record. A record is kept for [Kept] after its swap was reverted, because a client may
// bring the swap back. The file is removed when it has no records. Hold [Journal.Lock] from
// reading the state until writing it.
//
// Home directories may share a state directory. Each has a [Section] of its own, so that a
// file of one is never taken for the file of the same name in another.
package journal

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"tmuxmcp/internal/atomicfile"
	"tmuxmcp/swap/internal/machine"
)

// Version is the version of the state file that this package writes. It also reads older
// ones: in version 1 all paths were absolute, and in version 2 relative to a home directory
// that was not recorded.
const Version = 3

// Kept is how long the record of a reverted swap is kept.
const Kept = 30 * 24 * time.Hour

// State is the content of the state file.
type State struct {
	Version int      `json:"version"`
	Seq     int      `json:"seq"`     // the last sequence number assigned
	Records []Record `json:"records"` // of everything swapped now
	// Reverted are the records of reverted swaps; the file has them in the same list.
	Reverted []Record `json:"-"`
	// Stale is set if Load omitted expired records that are in the file.
	Stale bool `json:"-"`
	// Files are the configs in the records, by target.
	Files map[string]File `json:"files,omitempty"`
	// Homes are the records of other home directories, as they are in the file. In the file
	// this home's are there too, and Records are only those outside it.
	Homes []Section `json:"homes,omitempty"`
}

// A Section holds what is recorded of the files below one home directory. Their paths are
// relative to it.
type Section struct {
	Home    Home            `json:"home"` // zero if an older version has not recorded it
	Records []Record        `json:"records"`
	Files   map[string]File `json:"files,omitempty"`
}

// A Home identifies a home directory. The ID stays if it is renamed or mounted elsewhere, and
// is another if a new directory gets its path.
type Home struct {
	Dir string `json:"dir,omitempty"` // without links
	ID  string `json:"id,omitempty"`  // [atomicfile.ID]; "" where there is none
}

func (h Home) same(o Home) bool {
	if h.ID != "" && o.ID != "" {
		return h.ID == o.ID
	}
	return h.Dir != "" && h.Dir == o.Dir
}

// exists reports whether the directory is still at its path.
func (h Home) exists() bool {
	info, err := os.Stat(h.Dir)
	return err == nil && info.IsDir() && (h.ID == "" || h.ID == atomicfile.ID(h.Dir))
}

// A File is a config's metadata, which a program loses if it saves by making a new file.
type File struct {
	// Meta is the metadata before the first swap, or as changed by the user since.
	Meta atomicfile.Meta `json:"meta"`
	// ID is [atomicfile.ID] of the file last written; "" if a run has not finished.
	ID string `json:"id,omitempty"`
	// Created is set if the first swap created the file. Dirs are the directories created
	// for it, outermost first; a killed run may have created fewer.
	Created bool     `json:"created,omitempty"`
	Dirs    []string `json:"dirs,omitempty"`
}

// Recreated reports whether another program has replaced the file since it was written here.
func (f File) Recreated(target string) bool {
	return f.ID != "" && f.ID != atomicfile.ID(target)
}

// Knows reports whether a text is one that a file had before or after one of its writes. It may be
// cut short, like a temporary file of a killed run, if it is the beginning of a text that follows
// from now, which is the file's.
func (s *State) Knows(target string, now, text []byte) bool {
	if bytes.HasPrefix(now, text) {
		return true
	}
	hash := Hash(text)
	for _, r := range slices.Concat(s.Records, s.Reverted) {
		if r.Target != target && !slices.ContainsFunc(r.Readers(), func(by Reader) bool { return by.Config == target }) {
			continue
		}
		if r.Before == hash || r.Saved == hash {
			return true
		}
		for _, w := range r.Writes {
			base, _ := w.Undo(now)
			after, _ := w.Redo(now)
			if w.Base == hash || w.After == hash || bytes.HasPrefix(base, text) || bytes.HasPrefix(after, text) {
				return true
			}
		}
	}
	return false
}

// Written reports whether a text is a state that [Journal.Save] may have been writing.
func Written(_ string, text []byte) bool {
	const head = "{\n  \"version\": "
	return bytes.HasPrefix(text, []byte(head)) || bytes.HasPrefix([]byte(head), text)
}

// Find returns the index of an entry's newest record, or -1. There are two if another home
// directory has swapped an entry that is below this one.
func (s *State) Find(target string, container []string, server string) int {
	found := -1
	for i := range s.Records {
		if s.Records[i].Same(target, container, server) && (found < 0 || s.Records[i].Seq > s.Records[found].Seq) {
			found = i
		}
	}
	return found
}

// Clone returns a copy whose list of records can be changed independently.
func (s *State) Clone() *State {
	c := *s
	c.Records = slices.Clone(s.Records)
	c.Reverted = slices.Clone(s.Reverted)
	c.Files = maps.Clone(s.Files)
	c.Homes = slices.Clone(s.Homes)
	return &c
}

// Revive moves reverted swaps that are back to Records, unless the entry was swapped again.
// Their field Reverted stays set, so that Save keeps them as reverted if nothing comes of
// it.
func (s *State) Revive(back func(*Record) bool) {
	s.Reverted = slices.DeleteFunc(s.Reverted, func(r Record) bool {
		revived := s.Find(r.Target, r.Container, r.Server) < 0 && back(&r)
		if revived {
			s.Records = append(s.Records, r)
		}
		return revived
	})
}

// Keep moves a swap from Records to Reverted. Its backup is gone.
func (s *State) Keep(i int) {
	r := s.Records[i]
	s.Records = slices.Delete(s.Records, i, i+1)
	s.Reverted = slices.DeleteFunc(s.Reverted, func(o Record) bool { return o.Same(r.Target, r.Container, r.Server) })
	r.Reverted, r.Backup, r.Undone = time.Now().UTC().Truncate(time.Second), "", false
	s.Reverted = append(s.Reverted, r)
}

// A Journal is the state directory.
type Journal struct {
	Dir  string
	Disk atomicfile.Disk
	// Home is the home directory whose swaps are read and written. Paths below it are stored
	// relative to it, so that the records remain valid if it moves.
	Home string

	patience time.Duration // how long Lock waits before it reports that; 0 means a second
}

// Path returns the path of the state file.
func (j Journal) Path() string { return filepath.Join(j.Dir, "state.json") }

// A StateError reports that the state file cannot be used as it is.
type StateError struct {
	Path string
	Err  error
}

func (e *StateError) Error() string {
	return fmt.Sprintf("state file %s cannot be used: %v; nothing was changed "+
		"(inspect it, then move it away: the backups stay)", e.Path, e.Err)
}

func (e *StateError) Unwrap() error { return e.Err }

// Load reads the state; it is empty if there is no file. Its error is a [*StateError].
func (j Journal) Load() (*State, error) {
	text, _, err := j.Disk.Read(j.Path())
	if errors.Is(err, fs.ErrNotExist) {
		return &State{Version: Version}, nil
	}
	if err == nil {
		var s *State
		if s, err = decode(text); err == nil {
			j.resolve(s)
			return s, nil
		}
	}
	return nil, &StateError{j.Path(), err}
}

func decode(text []byte) (*State, error) {
	dec := json.NewDecoder(bytes.NewReader(text))
	dec.UseNumber()
	var s State
	if err := dec.Decode(&s); err != nil {
		return nil, fmt.Errorf("not the JSON that was written: %w", err)
	}
	if _, err := dec.Token(); err != io.EOF {
		return nil, errors.New("more than one document")
	}
	if s.Seq < 0 || s.Seq > math.MaxInt32 {
		return nil, errors.New("seq is out of range")
	}
	if s.Version < 1 || s.Version > Version {
		return nil, fmt.Errorf("version %d, this program knows versions up to %d", s.Version, Version)
	}
	records := s.Records
	for _, sec := range s.Homes {
		records = slices.Concat(records, sec.Records)
	}
	numbers := map[int]int{}
	for i, r := range records {
		if before, twice := numbers[r.Seq]; twice {
			return nil, fmt.Errorf("records %d and %d have the same number", before+1, i+1)
		}
		numbers[r.Seq] = i
		if err := r.check(i+1, i >= len(s.Records) || s.Version < 3); err != nil {
			return nil, err
		}
	}
	return &s, nil
}

// check returns an error for a record that no version could have written. number is its number in the
// state, from 1; with relative, its paths may be relative to the home directory.
func (r *Record) check(number int, relative bool) error {
	if n := len(r.Container) + 1; r.Undo.From < 0 || r.Undo.From > n || len(r.Undo.Made) > n-r.Undo.From {
		return fmt.Errorf("record %d has more to undo than its entry had", number)
	}
	for _, w := range r.Writes {
		if r.Seq < 0 || r.Seq > math.MaxInt32 || w.Start < 0 || w.Start > atomicfile.MaxSize {
			return fmt.Errorf("a number in record %d is out of range", number)
		}
	}
	place := func(path string) bool { return filepath.IsAbs(path) || relative && filepath.IsLocal(path) }
	if !place(r.Target) || !place(r.Config) || r.Container == nil || len(r.Writes) == 0 {
		return fmt.Errorf("record %d is not complete", number)
	}
	return nil
}

// resolve moves this home's section to Records, makes all paths in them absolute, and sorts
// out what is reverted.
func (j Journal) resolve(s *State) {
	me := j.home()
	if s.Version < 3 {
		s.Homes = append(s.Homes, unowned(s))
	}
	own := func(sec Section) bool { return sec.Home.same(me) }
	known := slices.ContainsFunc(s.Homes, own)
	s.Homes = slices.DeleteFunc(s.Homes, func(sec Section) bool {
		if len(sec.Records) == 0 {
			return true
		}
		if !own(sec) && !j.adopts(sec, me, known) {
			return false
		}
		sec.move(j.Home, me.Dir, absolute)
		s.Records = append(s.Records, sec.Records...)
		for target, f := range sec.Files {
			if s.Files == nil {
				s.Files = map[string]File{}
			}
			s.Files[target] = f
		}
		return true
	})
	if len(s.Homes) == 0 {
		s.Homes = nil
	}
	all := s.Records
	s.Records = nil
	for _, r := range all {
		if here := filepath.Join(j.Dir, filepath.Base(r.Backup)); r.Backup != "" && machine.Missing(r.Backup) && !machine.Missing(here) {
			r.Backup = here // the state directory has moved with its home
		}
		switch {
		case r.Reverted.IsZero():
			s.Records = append(s.Records, r)
		case time.Since(r.Reverted) < Kept:
			s.Reverted = append(s.Reverted, r)
		default:
			s.Stale = true
		}
	}
}

// unowned removes what is relative to an unknown home from a state of an older version.
func unowned(s *State) (sec Section) {
	s.Records = slices.DeleteFunc(s.Records, func(r Record) bool {
		if filepath.IsAbs(r.Target) && filepath.IsAbs(r.Config) {
			return false
		}
		sec.Records = append(sec.Records, r)
		return true
	})
	for target, f := range s.Files {
		if !filepath.IsAbs(target) || slices.ContainsFunc(sec.Records, func(r Record) bool { return r.Target == target }) {
			if sec.Files == nil {
				sec.Files = map[string]File{}
			}
			sec.Files[target] = f
			delete(s.Files, target)
		}
	}
	return sec
}

// adopts reports whether the section of a home that is not where it was is about this home,
// to which it was moved or copied. It must have a file that only the swap can have left: a
// user may have made a home of the same name anew. known: this home has a section.
func (j Journal) adopts(sec Section, me Home, known bool) bool {
	switch {
	case sec.Home == Home{} && local(me.Dir, realName(j.Dir)):
		return true // the state directory is in the only home that it served
	case known || sec.Home.exists():
		return false
	}
	for _, r := range sec.Records {
		if path := absolute(j.Home, r.Backup); filepath.IsLocal(r.Backup) && filepath.Dir(path) != j.Dir &&
			j.holds(path, func(w Write) string { return w.Base }, r.Writes, r.Before) {
			return true
		}
		if filepath.IsLocal(r.Target) && r.Reverted.IsZero() &&
			j.holds(absolute(me.Dir, r.Target), func(w Write) string { return w.After }, r.Writes) {
			return true
		}
	}
	return false
}

// holds reports whether a file has, by its hash, the text of one of the writes or one of the others.
func (j Journal) holds(path string, of func(Write) string, writes []Write, others ...string) bool {
	text, _, err := j.Disk.Read(path)
	if err != nil {
		return false
	}
	hash := Hash(text)
	return slices.Contains(others, hash) || slices.ContainsFunc(writes, func(w Write) bool { return of(w) == hash })
}

// Elsewhere returns the backups of other home directories.
func (s *State) Elsewhere() (backups []string) {
	for _, sec := range s.Homes {
		for _, r := range sec.Records {
			if r.Backup != "" {
				backups = append(backups, absolute(sec.Home.Dir, r.Backup))
			}
		}
	}
	return backups
}

// OfOthers returns the records of other home directories.
func (s *State) OfOthers() (out []Record) {
	for _, sec := range s.Homes {
		sec.move(sec.Home.Dir, sec.Home.Dir, absolute)
		out = append(out, sec.Records...)
	}
	return out
}

// home identifies the home directory.
func (j Journal) home() Home {
	real := realName(j.Home)
	return Home{real, atomicfile.ID(real)}
}

// move rewrites all paths: f is called with each, and with the home directory that it may
// be below, as clients name it or, for resolved paths, by its real name.
func (sec *Section) move(home, real string, f func(home, path string) string) {
	sec.Records = slices.Clone(sec.Records)
	for i := range sec.Records {
		r := &sec.Records[i]
		r.Config, r.Backup = f(home, r.Config), f(home, r.Backup)
		r.Target, r.Repo = f(real, r.Target), f(real, r.Repo)
		r.Others = slices.Clone(r.Others)
		for i := range r.Others {
			r.Others[i].Config = f(home, r.Others[i].Config)
		}
		r.Already, r.Refused = slices.Clone(r.Already), slices.Clone(r.Refused)
		for i, e := range r.Already {
			if !strings.HasPrefix(e.Target, "$") {
				r.Already[i].Target = f(real, e.Target)
			}
		}
		for i, path := range r.Refused {
			r.Refused[i] = f(real, path)
		}
	}
	files := sec.Files
	sec.Files = nil
	for target, file := range files {
		if sec.Files == nil {
			sec.Files = map[string]File{}
		}
		file.Dirs = slices.Clone(file.Dirs)
		for i, dir := range file.Dirs {
			file.Dirs[i] = f(real, dir)
		}
		sec.Files[f(real, target)] = file
	}
}

func realName(dir string) string {
	if real, err := filepath.EvalSymlinks(dir); err == nil {
		return real
	}
	return dir
}

// Beside returns a path in the state directory for what would otherwise be beside target, a resolved
// path. No two targets share one, even in different homes.
func (j Journal) Beside(target string) string {
	me, name := j.home(), target
	if local(me.Dir, target) {
		name = cmp.Or(me.ID, me.Dir) + "\x00" + relative(me.Dir, target)
	}
	return filepath.Join(j.Dir, filepath.Base(target)+"-"+Hash([]byte(name))[:16])
}

// IsBeside reports whether a path may once have been made from [Journal.Beside] of target and
// a mark: the home directory may have been another one then.
func (j Journal) IsBeside(target, path, mark string) bool {
	name, ok := strings.CutPrefix(filepath.Base(path), filepath.Base(target)+"-")
	at := strings.Index(name, mark)
	return ok && at == 16 && filepath.Dir(path) == filepath.Clean(j.Dir)
}

func absolute(home, path string) string {
	if path == "" || filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(home, path)
}

// local reports whether a path is below a directory.
func local(dir, path string) bool {
	rel, err := filepath.Rel(dir, path)
	return err == nil && filepath.IsLocal(rel)
}

func relative(home, path string) string {
	if rel, err := filepath.Rel(home, path); err == nil && filepath.IsLocal(rel) {
		return rel
	}
	return path
}

// Save writes the state, or removes its file if it has no records.
func (j Journal) Save(s *State) error {
	for target, f := range s.Files {
		about := func(r Record) bool { return r.Target == target }
		switch {
		case slices.ContainsFunc(s.Records, about):
		case f.Created && slices.ContainsFunc(s.Reverted, about):
			// The file's metadata no longer matters.
			s.Files[target] = File{Created: true, Dirs: f.Dirs}
		default:
			delete(s.Files, target)
		}
	}
	out := j.sections(s)
	if len(out.Records) == 0 && len(out.Homes) == 0 {
		if err := j.Disk.Remove(j.Path()); err != nil {
			return fmt.Errorf("remove state file: %w", err)
		}
		if err := j.Disk.SyncDir(j.Dir); err != nil {
			return fmt.Errorf("remove state file: %w: %w", atomicfile.ErrNotDurable, err)
		}
		return nil
	}
	text, err := json.MarshalIndent(out, "", "  ")
	if err != nil {
		return fmt.Errorf("write state file: %w", err)
	}
	if err := j.Disk.Replace(j.Path(), append(text, '\n'), nil, &atomicfile.Private); err != nil {
		return fmt.Errorf("write state file: %w", err)
	}
	return nil
}

// sections returns a state as it is in the file.
func (j Journal) sections(s *State) State {
	me := j.home()
	own := func(r Record) bool { return local(me.Dir, r.Target) || local(j.Home, r.Config) }
	out := State{Version: Version, Seq: s.Seq, Records: []Record{}, Files: map[string]File{}}
	mine := Section{Home: me, Files: map[string]File{}}
	for _, r := range slices.Concat(s.Records, s.Reverted) {
		f, known := s.Files[r.Target]
		files := out.Files
		if own(r) {
			mine.Records = append(mine.Records, r)
			files = mine.Files
		} else {
			out.Records = append(out.Records, r)
		}
		if known {
			files[r.Target] = f
		}
	}
	out.Homes = s.Homes
	if len(mine.Records) > 0 {
		mine.move(j.Home, me.Dir, relative)
		out.Homes = append(slices.Clone(s.Homes), mine)
	}
	return out
}
