package prompt

import (
	"context"
	"fmt"
	"strings"
	"time"

	"tmuxmcp/internal/lazy"
	"tmuxmcp/internal/pause"
	"tmuxmcp/tmux"
)

// drawnIn is how long a shell may be busy with what was typed at its prompt, and tmux may take to
// show what was written to the terminal.
const drawnIn = time.Second

// styles matches what capture-pane prints of the style of cells.
var styles = lazy.Regexp(`\x1b\[[0-9;:]*m|\x1b\]8;[^\x1b]*\x1b\\|[\x0e\x0f]`)

// Clear resets the terminal of a pane, and discards its screen and history. A shell at its
// prompt does not notice, and neither a key nor a signal has every shell draw its line again.
// So that is written to the terminal, at the top: what shows the line is kept, as C-l in a
// shell does, whether the shell or its terminal edits it, and whatever is typed in it.
func Clear(ctx context.Context, srv *tmux.Server, at tmux.Target) (tmux.PaneID, error) {
	var b tmux.Batch
	panes := tmux.AddRows[Pane](&b, tmux.DisplayMessage{Target: at})
	plain := tmux.Add(&b, tmux.CapturePane{Target: at, Print: true})
	styled := tmux.Add(&b, tmux.CapturePane{Target: at, Print: true, Escapes: true})
	tmux.Add(&b, tmux.SendKeys{Target: at, Reset: true})
	tmux.Add(&b, tmux.ClearHistory{Target: at})
	if err := b.Do(ctx, srv); err != nil {
		return "", err
	}
	p := (*panes)[0]
	p.Screen = strings.Split(string(*plain), "\n")
	line, top := p.line(strings.Split(string(*styled), "\n"))
	if p.Dead || line == "" {
		return p.ID, nil
	}
	drawn, begun, now := false, time.Now(), p
	for d := range pause.Growing(20 * time.Millisecond) {
		if shell, err := p.Foreground(); !drawn && (err != nil || !shell.Prompt) || time.Since(begun) > drawnIn {
			break
		} else if !drawn { // unless it is still busy with what was typed
			drawn = shell.Draw(line, drawnIn)
		}
		if drawn && (now.LookAgain(ctx, srv) != nil || now.Y == p.Y-top && now.Screen[now.Y] == p.Screen[p.Y]) {
			break
		}
		if err := pause.For(ctx, d); err != nil {
			return p.ID, err
		}
	}
	return p.ID, nil
}

// line returns what draws the rows around the cursor at the top of an empty screen, given all
// rows with their styles, and the first of them: those that continue in the cursor's, and
// those below it up to an empty one. It returns "" if the cursor's row is empty.
func (p Pane) line(styled []string) (text string, top int) {
	if p.Y >= len(p.Screen) || p.Y >= len(styled) || p.Screen[p.Y] == "" {
		return "", 0
	}
	full := func(y int) bool { return len([]rune(p.Screen[y])) >= p.Width }
	for top = p.Y; top > 0 && full(top-1); {
		top--
	}
	var b strings.Builder
	b.WriteString("\x1b[H\x1b)0") // and the line drawing characters that styles may switch to
	for _, row := range styled[:top] {
		b.WriteString(strings.Join(styles().FindAllString(row, -1), "")) // a row begins as the last one ended
	}
	for y := top; y < len(p.Screen) && y < len(styled) && (y <= p.Y || p.Screen[y] != ""); y++ {
		if y > top && !full(y-1) { // otherwise it continues by itself
			b.WriteString("\r\n")
		}
		b.WriteString(styled[y])
	}
	fmt.Fprintf(&b, "\x0f\x1b)B\x1b[m\x1b[%d;%dH", p.Y-top+1, p.X+1)
	return b.String(), top
}
