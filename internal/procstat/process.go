package procstat

// Process is the content of /proc/PID/stat.
type Process struct {
	PID        int
	Name       string
	State      byte
	Parent     int
	Group      int // its process group
	Session    int // its session: the process that began it, even if that has ended
	Terminal   int // the device number of its terminal
	Foreground int // the foreground process group of the terminal
	Forked     bool
	Dying      bool  // it was killed, or is exiting
	Started    int64 // in ticks since boot; together with PID it identifies a process
}

// mostAncestors bounds [Ancestors] in case the processes change while it reads them.
const mostAncestors = 64

// MostLine is how many bytes of a line, without its end, a terminal of Linux keeps that gathers
// lines for its program: N_TTY_BUF_SIZE in Linux's n_tty.c, less one. Anything typed beyond is
// lost.
const MostLine = 4095
