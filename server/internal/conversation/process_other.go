//go:build !linux

package conversation

import (
	"io/fs"
	"time"

	"tmuxmcp/internal/reading"
)

const nonblock = 0

// process is known only on Linux.
type process struct {
	pid     int
	started int64
	began   time.Time
	dir     string
	env     map[string]string
}

func processOf(*reading.Budget, int) (*process, error) {
	return nil, unreadable("conversations are found by their processes, which only Linux shows in /proc")
}

func (*process) openFiles(*reading.Budget) ([]string, error) { return nil, nil }

func ownedByUs(fs.FileInfo) bool { return false }
