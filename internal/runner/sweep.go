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

func sweep(home string, now time.Time, most int64) {
	type result struct {
		dir  string
		at   time.Time
		size int64
	}
	if checkHome(home) != nil {
		return
	}
	links, _ := filepath.Glob(filepath.Join(home, aliasPrefix+"*"))
	for _, link := range links {
		id, err := os.Readlink(link)
		s := script{dir: filepath.Join(home, id)}
		if err == nil && jobID().MatchString(id) && s.alias() == link && s.Removed() {
			os.Remove(link) // somebody else has removed the job
		}
	}
	var ended []result
	for _, id := range jobsIn(home) {
		dir := filepath.Join(home, id)
		info, err := os.Lstat(dir)
		if err != nil || private(info) != nil {
			continue // not ours
		}
		j, err := load(home, id)
		if errors.Is(err, errBoot) {
			remove(dir)
			continue
		}
		if err != nil {
			// It is being created, while it or its description is empty; or it was being
			// removed when its server was killed; or it belongs to another machine or
			// PID namespace, whose recorder shows every hour that it is there.
			files, _ := os.ReadDir(dir)
			old := now.Sub(info.ModTime())
			for _, f := range files {
				if info, err := f.Info(); err == nil {
					old = min(old, now.Sub(info.ModTime()))
				}
			}
			described, err := os.Lstat(filepath.Join(dir, "job"))
			if old > foreignFor || err != nil && (old > beginsIn || len(files) > 0) || err == nil && described.Size() == 0 && old > writtenIn {
				remove(dir)
			}
			continue
		}
		s := j.Look()
		if (s.Phase == Running || s.Phase == Lost && now.Sub(s.At) <= keptFor) && j.attended() {
			continue // it is answered first, with what its recorder is still reading
		}
		switch {
		case j.Resting && now.Sub(j.At) > writtenIn, Gone(j.Server), s.Phase == Waiting && now.Sub(s.At) > beginsIn, s.Phase > Running && now.Sub(s.At) > keptFor:
			j.Stop()
			remove(dir)
		case s.Phase > Running && !j.Resting:
			if s.Phase == Lost {
				j.Stop() // otherwise nothing would end it, for a job that never reported its end
			}
			ended = append(ended, result{dir, s.At, sizeOf(dir)})
		}
	}
	slices.SortFunc(ended, func(a, b result) int { return b.at.Compare(a.at) })
	var size int64
	for _, r := range ended {
		size += r.size
	}
	if free, ok := freeIn(home); ok {
		most = min(most, (free+size)/2)
	}
	size = 0
	for i, r := range ended {
		if size += r.size; i >= mostEnded || size > most {
			remove(r.dir)
		}
	}
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
