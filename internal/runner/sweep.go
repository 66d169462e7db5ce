package runner

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"time"
)

// How much is kept of jobs that have ended: each for an hour after its end, and in total no
// more than this. A running job is kept as long as its tmux server lives.
const (
	keptFor    = time.Hour
	mostEnded  = 100
	mostBytes  = 512 << 20
	writtenIn  = 10 * time.Second // an empty description will never be written after this
	beginsIn   = 10 * time.Minute // a command that has not begun by then never will
	foreignFor = 24 * time.Hour   // jobs whose state cannot be known are kept this long
)

// Sweep removes the remains of jobs that are over. Jobs that ended recently stay, as long
// as they take no more than half of the space that would be free without them.
func Sweep() {
	homes, _ := candidates()
	for _, home := range homes {
		sweep(home, time.Now(), mostBytes)
	}
	for _, home := range PublicHomes() {
		empty(home.Path)
	}
}

// KeepSwept sweeps now and at every interval, until end is called.
func KeepSwept(interval time.Duration) (end func()) {
	over := make(chan struct{})
	go func() {
		t := time.NewTicker(interval)
		defer t.Stop()
		for {
			Sweep()
			select {
			case <-over:
				return
			case <-t.C:
			}
		}
	}()
	return func() { close(over) }
}

// Evict removes all jobs that have ended, because there is no space.
func Evict() {
	homes, _ := candidates()
	for _, home := range homes {
		sweep(home, time.Now(), 0)
	}
}

// sweep removes the remains of jobs in one home and, of the jobs that have ended, the oldest
// ones beyond most bytes.
func sweep(home string, now time.Time, most int64) {
	if checkHome(home) != nil {
		return
	}
	removeAliases(home)
	var over []remains
	for _, id := range jobsIn(home) {
		dir := filepath.Join(home, id)
		info, err := os.Lstat(dir)
		if err != nil || private(info) != nil {
			continue // not ours
		}
		j, err := load(home, id)
		if err != nil {
			if errors.Is(err, errBoot) || abandoned(dir, now.Sub(info.ModTime()), now) {
				remove(dir)
			}
			continue
		}
		s := j.Look()
		switch j.fate(now, s, j.attended(), Gone(j.Server)) {
		case goes:
			j.Stop()
			remove(dir)
		case ends:
			if s.Phase == Lost {
				j.Stop() // otherwise nothing would end it, for a job that never reported its end
			}
			over = append(over, remains{dir, s.At, sizeOf(dir)})
		}
	}
	var size int64
	for _, r := range over {
		size += r.size
	}
	if free, ok := freeIn(home); ok {
		most = min(most, (free+size)/2)
	}
	for _, r := range excess(over, most) {
		remove(r.dir)
	}
}

// removeAliases removes the aliases of jobs that somebody else has removed.
func removeAliases(home string) {
	links, _ := filepath.Glob(filepath.Join(home, aliasPrefix+"*"))
	for _, link := range links {
		id, err := os.Readlink(link)
		s := script{dir: filepath.Join(home, id)}
		if err == nil && jobID().MatchString(id) && s.alias() == link && s.Removed() {
			os.Remove(link)
		}
	}
}

// abandoned reports whether a directory in which no job can be read is left over, given its age.
// It is still being created while it, or its description, is empty. It may belong to another
// machine or PID namespace, whose recorder shows every hour that it is there. Otherwise its
// server was killed while it removed the job.
func abandoned(dir string, age time.Duration, now time.Time) bool {
	files, _ := os.ReadDir(dir)
	for _, f := range files {
		if info, err := f.Info(); err == nil {
			age = min(age, now.Sub(info.ModTime()))
		}
	}
	described, err := os.Lstat(filepath.Join(dir, "job"))
	switch {
	case age > foreignFor:
		return true
	case err != nil:
		return age > beginsIn || len(files) > 0
	}
	return described.Size() == 0 && age > writtenIn
}

// fate is what a sweep does with a job.
type fate int

const (
	stays fate = iota
	goes
	ends // it has ended, and stays as long as there is room
)

// fate decides what becomes of a job in a state. attended is set if the server that typed it
// still waits for it, and gone if its tmux server has ended.
func (j *Job) fate(now time.Time, s State, attended, gone bool) fate {
	over, age := s.Phase > Running, now.Sub(s.At)
	switch {
	case attended && (s.Phase == Running || s.Phase == Lost && age <= keptFor):
		return stays // it is answered first, with what its recorder is still reading
	case gone, j.Resting && now.Sub(j.At) > writtenIn, s.Phase == Waiting && age > beginsIn, over && age > keptFor:
		return goes
	case over && !j.Resting:
		return ends
	}
	return stays
}

// remains are the files of a job that has ended.
type remains struct {
	dir  string
	at   time.Time // when it ended
	size int64
}

// excess returns the oldest of the remains, beyond mostEnded jobs or most bytes. It sorts all.
func excess(all []remains, most int64) []remains {
	slices.SortFunc(all, func(a, b remains) int { return b.at.Compare(a.at) })
	for i, r := range all {
		if most -= r.size; i >= mostEnded || most < 0 {
			return all[i:]
		}
	}
	return nil
}

func sizeOf(dir string) (size int64) {
	entries, _ := os.ReadDir(dir)
	for _, e := range entries {
		if info, err := e.Info(); err == nil {
			size += info.Size()
		}
	}
	return size
}
