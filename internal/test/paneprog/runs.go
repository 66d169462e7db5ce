package paneprog

import (
	"cmp"
	"flag"
	"sync"
	"sync/atomic"
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
}

// NewRuns declares the flags of a test, with two of their defaults.
func NewRuns(test string, programs, shrink int) *Runs {
	r := new(Runs)
	flag.IntVar(&r.Programs, "programs", programs, "how many random programs "+test+" runs")
	flag.Uint64Var(&r.Seed, "program-seed", 1, "the first program's seed; 0 picks one at random")
	flag.StringVar(&r.Text, "program", "", "run this program only, as a failure prints it")
	flag.IntVar(&r.Shrink, "program-shrink", shrink, "how many programs to run to shrink a failure")
	flag.IntVar(&r.workers, "program-workers", 2, "how many tmux servers run programs at a time")
	return r
}

// Run starts workers, and calls them with the seeds of programs. A worker returns an error
// if it cannot continue, and a function that reports a failure, or nil. The first failure
// ends the run. Run returns how many programs ran per second.
func (r *Runs) Run(t *testing.T, start func() func(seed uint64) (report func() string, err error)) float64 {
	var (
		next    atomic.Uint64
		failed  atomic.Bool
		workers sync.WaitGroup
	)
	first := cmp.Or(r.Seed, 1+uint64(time.Now().UnixNano()%1_000_000_000))
	t.Logf("the first program has -program-seed %d", first)
	began := time.Now()
	for range r.workers {
		run := start()
		workers.Go(func() {
			for n := next.Add(1); n <= uint64(r.Programs) && !failed.Load(); n = next.Add(1) {
				seed := first + n - 1
				report, err := run(seed)
				if err != nil {
					t.Errorf("program %d: %v", seed, err)
					return
				}
				if report != nil && failed.CompareAndSwap(false, true) {
					t.Errorf("program %d: %s", seed, report())
				}
			}
		})
	}
	workers.Wait()
	return float64(min(next.Load(), uint64(r.Programs))) / time.Since(began).Seconds()
}
