package conform

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os/exec"
	"strings"
	"time"
)

// controlEnd is printed by the last command that control sends.
const controlEnd = "mcp-conform-end"

// control runs a control client, which attaches with the flags given, sends it
// lines of commands, and returns all that it wrote from then on to the answer of the
// last. Lines that arrive before the client is attached can be answered differently. The
// client leaves with an empty line.
func (s *script) control(ctx context.Context, dir string, args []string) outcome {
	words := onServer(s.socket, "-C", "attach-session")
	for len(args) > 0 && strings.HasPrefix(args[0], "-") {
		n := 1
		if args[0] == "-t" && len(args) > 1 {
			n = 2
		}
		words, args = append(words, args[:n]...), args[n:]
	}
	if len(args) == 0 {
		return outcome{err: misused("usage: control [-r] [-t TARGET] LINE…")}
	}
	ctx, cancel := context.WithTimeout(ctx, s.req.Timeout/waitShare)
	defer cancel()
	c := client{cmd: exec.CommandContext(ctx, s.req.Target.Path, words...)}
	c.cmd.Dir, c.cmd.Env, c.cmd.WaitDelay = dir, s.env, time.Second
	if _, err := c.startControl(); err != nil {
		return outcome{err: err}
	}
	var text strings.Builder
	attached, ended := false, false
	sc := bufio.NewScanner(c.output)
	for !ended && text.Len() < maxOutput && sc.Scan() {
		switch line := sc.Text(); {
		case !attached && strings.HasPrefix(line, "%session-changed "):
			attached = true
			text.Reset()
			io.WriteString(c.input, strings.Join(args, "\n")+"\ndisplay-message -p "+controlEnd+"\n")
		case line == controlEnd:
			ended = true
		default:
			text.WriteString(line + "\n")
		}
	}
	io.WriteString(c.input, "\n")
	c.input.(io.Closer).Close()
	go io.Copy(io.Discard, c.output)
	waitErr := c.cmd.Wait()
	o := outcome{stdout: strings.TrimSuffix(text.String(), lastLine(text.String()))}
	switch {
	case ctx.Err() != nil:
		o.stdout, o.err = text.String(), fmt.Errorf("the control client gave no answer within %v", s.req.Timeout/waitShare)
	case !ended && text.Len() >= maxOutput:
		o.err = errTooMuch
	case !ended:
		o.stdout, o.err = text.String(), fmt.Errorf("the control client ended: %v", waitErr)
	}
	return o
}

// lastLine is the last line of a text, the %begin of the command that ends it.
func lastLine(text string) string {
	return text[strings.LastIndexByte(strings.TrimSuffix(text, "\n"), '\n')+1:]
}
