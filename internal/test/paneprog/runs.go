package paneprog

import (
	"cmp"
	"flag"
	"sync"
	"testing"
	"time"
)

// Runs are the flags of a test that runs many random programs.
type Runs struct {
	Programs int    // how many
	Seed     uint64 // of the first program; 0 picks one
	Text     string // the only program to run, if not empty
	Shrink   int    // how many programs to run to shrink a failure
	workers  int
	keep     int
}

// NewRuns declares the flags of a test, with two of their defaults.
func NewRuns(test string, programs, shrink int) *Runs {
	r := new(Runs)
	flag.IntVar(&r.Programs, "programs", programs, "how many random programs "+test+" runs")
	flag.Uint64Var(&r.Seed, "program-seed", 1, "the first program's seed; 0 picks one at random")
	flag.StringVar(&r.Text, "program", "", "run this program only, as a failure prints it")
	flag.IntVar(&r.Shrink, "program-shrink", shrink, "how many programs to run to shrink a failure")
	flag.IntVar(&r.workers, "program-workers", 2, "how many tmux servers run programs at a time")
	flag.IntVar(&r.keep, "program-failures", 1, "how many failures to shrink and print before giving up")
	return r
}

// Run starts workers, and calls them with the seeds of programs. A worker returns an error
// if it cannot continue, and a function that reports a failure, or nil. Run returns how
// many programs ran per second.
func (r *Runs) Run(t *testing.T, start func() func(seed uint64) (report func() string, err error)) float64 {
	var (
		mu       sync.Mutex
		failures int
		next     uint64
		workers  sync.WaitGroup
	)
	first := cmp.Or(r.Seed, 1+uint64(time.Now().UnixNano()%1_000_000_000))
	t.Logf("the first program has -program-seed %d", first)
	began := time.Now()
	take := func() (seed uint64, ok bool) {
		mu.Lock()
		defer mu.Unlock()
		if next >= uint64(r.Programs) || failures >= r.keep {
			return 0, false
		}
		next++
		return first + next - 1, true
	}
	wanted := func() bool {
		mu.Lock()
		defer mu.Unlock()
		failures++
		return failures <= r.keep
	}
	for range r.workers {
		run := start()
		workers.Go(func() {
			for seed, ok := take(); ok; seed, ok = take() {
				report, err := run(seed)
				if err != nil {
					t.Errorf("program %d: %v", seed, err)
					return
				}
				if report != nil && wanted() {
					t.Errorf("program %d: %s", seed, report())
				}
			}
		})
	}
	workers.Wait()
	return float64(next) / time.Since(began).Seconds()
}
