package shell_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"tmuxmcp/tmux"
)

// A relay passes bytes between its terminal and a program on another one, as ssh does. Without a
// program it answers itself.
type relay struct {
	Program string // for sh -c
	Says    string // without a program: the prompt
	Echo    string // and how it echoes: all, upper or nothing

	In, Out int  // after so many bytes from the terminal or to it the relay exits; 0: never
	Bytes   bool // it reads and writes one byte at a time
	Delay   time.Duration
	Drop    int    // the number of a byte from the terminal that is dropped, from 1
	Alter   int    // and of one that is altered
	Input   string // a file for what it gets
	Child   string // a file for the pid of the program
}

const relayEnv = "TEST_SHELL_RELAY"

func init() {
	if text := os.Getenv(relayEnv); text != "" {
		var r relay
		err := json.Unmarshal([]byte(text), &r)
		if err == nil {
			err = r.run()
		}
		fmt.Fprint(os.Stderr, err, "\r\n")
		os.Exit(1)
	}
}

// line returns a shell command that starts the relay.
func (r relay) line(t testing.TB) string {
	t.Helper()
	self, err := os.Executable()
	text, _ := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	return relayEnv + "=" + tmux.ShellQuote(string(text)) + " " + tmux.ShellQuote(self)
}

func (r relay) run() error {
	before, err := unix.IoctlGetTermios(0, unix.TCGETS)
	if err != nil {
		return err
	}
	raw := *before
	raw.Iflag &^= unix.ICRNL | unix.IXON | unix.BRKINT | unix.INLCR | unix.IGNCR | unix.ISTRIP
	raw.Oflag &^= unix.OPOST
	raw.Lflag &^= unix.ECHO | unix.ICANON | unix.ISIG | unix.IEXTEN
	raw.Cc[unix.VMIN], raw.Cc[unix.VTIME] = 1, 0
	if err := unix.IoctlSetTermios(0, unix.TCSETS, &raw); err != nil {
		return err
	}
	var once sync.Mutex
	exit := func() {
		once.Lock()
		_ = unix.IoctlSetTermios(0, unix.TCSETSW, before)
		os.Exit(0)
	}
	input := io.Discard
	if r.Input != "" {
		if input, err = os.Create(r.Input); err != nil {
			return err
		}
	}
	if r.Program == "" {
		os.Stdout.WriteString(r.Says)
		for b := make([]byte, 1); ; {
			if _, err := os.Stdin.Read(b); err != nil {
				exit()
			}
			_, _ = input.Write(b)
			switch r.Echo {
			case "all":
				os.Stdout.Write(b)
			case "upper":
				os.Stdout.Write(bytes.ToUpper(b))
			}
		}
	}
	master, err := os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		return err
	}
	if err := unix.IoctlSetPointerInt(int(master.Fd()), unix.TIOCSPTLCK, 0); err != nil {
		return err
	}
	n, err := unix.IoctlGetInt(int(master.Fd()), unix.TIOCGPTN)
	if err != nil {
		return err
	}
	if size, err := unix.IoctlGetWinsize(0, unix.TIOCGWINSZ); err == nil {
		_ = unix.IoctlSetWinsize(int(master.Fd()), unix.TIOCSWINSZ, size)
	}
	slave, err := os.OpenFile(fmt.Sprintf("/dev/pts/%d", n), os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		return err
	}
	cmd := exec.Command("/bin/sh", "-c", "exec "+r.Program)
	for _, v := range os.Environ() {
		if !strings.HasPrefix(v, relayEnv+"=") && !strings.HasPrefix(v, "PS1=") {
			cmd.Env = append(cmd.Env, v)
		}
	}
	cmd.Env = append(cmd.Env, "PS1=remote$ ")
	cmd.Stdin, cmd.Stdout, cmd.Stderr = slave, slave, slave
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	if err := cmd.Start(); err != nil {
		return err
	}
	slave.Close()
	if r.Child != "" {
		if err := os.WriteFile(r.Child, []byte(strconv.Itoa(cmd.Process.Pid)), 0o600); err != nil {
			return err
		}
	}
	go r.copy(master, os.Stdin, r.In, r.Drop, r.Alter, input, exit)
	r.copy(os.Stdout, master, r.Out, 0, 0, io.Discard, exit)
	return nil
}

// copy copies until the relay is to exit.
func (r relay) copy(to io.Writer, from io.Reader, most, drop, alter int, record io.Writer, exit func()) {
	type chunk struct {
		at   time.Time
		text []byte
		last bool
	}
	chunks := make(chan chunk, 1<<16)
	go func() {
		size := 4096
		if r.Bytes {
			size = 1
		}
		for count := 0; ; {
			buf := make([]byte, size)
			n, err := from.Read(buf)
			if err != nil {
				chunks <- chunk{at: time.Now(), last: true}
				return
			}
			text := buf[:n]
			last := most > 0 && count+n >= most
			if last {
				text = text[:most-count]
			}
			_, _ = record.Write(text)
			if at := alter - count - 1; at >= 0 && at < len(text) {
				text[at] ^= 1
			}
			if at := drop - count - 1; at >= 0 && at < len(text) {
				text = append(text[:at:at], text[at+1:]...)
			}
			count += n
			chunks <- chunk{time.Now(), text, last}
			if last {
				return
			}
		}
	}()
	for c := range chunks {
		time.Sleep(time.Until(c.at.Add(r.Delay)))
		if r.Bytes {
			for _, b := range c.text {
				_, _ = to.Write([]byte{b})
			}
		} else {
			_, _ = to.Write(c.text)
		}
		if c.last {
			exit()
		}
	}
}
