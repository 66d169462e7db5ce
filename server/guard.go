package server

import (
	"context"
	"slices"

	"github.com/mark3labs/mcp-go/mcp"
	mcpserver "github.com/mark3labs/mcp-go/server"

	"tmuxmcp/tmux"
)

// Two checks stand before what a tool does to a pane.
//
//   - typeInto: whatever is typed or pasted goes to a pane that takes it.
//   - protect: what would disturb or end the pane that the agent itself runs in
//     happens only when the person says so.

// typeInto types what typing makes for a pane, in one round trip: tmux itself
// looks at the pane and types only if it takes keys. One whose program ended,
// whose input is off or which is in a mode is refused: keys would be lost, or
// drive the mode. Every tool that types goes through it. The commands of first
// run in any case.
//
// Into the caller's own pane it types when the person has agreed, which takes a
// second round trip.
func (c *call) typeInto(ctx context.Context, tool string, s selection, typing func(tmux.Target) ([]tmux.Command, error), first ...tmux.Command) (tmux.PaneID, error) {
	s, err := c.resolve(ctx, tool, s)
	if err != nil {
		return "", err
	}
	var own tmux.PaneID
	if c.s.mayHurtCaller(c.tmux) {
		own = c.s.cfg.Caller.Pane
	}
	pane, reaches, err := c.typeUnless(ctx, own, s, typing, first...)
	if err != nil || !reaches {
		return pane, err
	}
	if err := c.protect(ctx, typesInto, own); err != nil {
		return "", err
	}
	pane, _, err = c.typeUnless(ctx, "", selection{pane: pane}, typing, first...)
	return pane, err
}

// typeUnless is typeInto unless that reaches a certain pane, too. It tells which
// pane it is about.
func (c *call) typeUnless(ctx context.Context, not tmux.PaneID, s selection, typing func(tmux.Target) ([]tmux.Command, error), first ...tmux.Command) (pane tmux.PaneID, reaches bool, err error) {
	target, err := c.spec(s)
	if err != nil {
		return "", false, err
	}
	cmds, err := typing(target)
	if err != nil {
		return "", false, err
	}
	then, err := c.tmux.Script(ctx, cmds...)
	if err != nil {
		return "", false, err
	}
	condition := tmux.Format("#{?pane_id,#{?pane_dead,0,#{?pane_in_mode,0,#{?pane_input_off,0,1}}},0}")
	var b tmux.Batch
	for _, cmd := range first {
		b.Add(cmd)
	}
	rows := tmux.Rows[taker](&b, tmux.DisplayMessage{Target: target})
	reached := new(string)
	if not != "" {
		is := tmux.MatchEqual("pane_id", string(not))
		// Keys go to all panes of a window that are synchronized with this one.
		together := tmux.And("#{pane_synchronized}", "#{P:#{?"+tmux.And(is, "#{pane_synchronized}")+",1,}}")
		reach := tmux.Or(is, together)
		reached = tmux.Displayed(&b, tmux.DisplayMessage{Target: target, Message: reach})
		condition = "#{?" + reach + ",0," + condition + "}"
	}
	b.Add(tmux.IfShell{Target: target, Test: true, Condition: condition, Then: then})
	if err := b.Do(ctx, c.tmux); err != nil {
		return "", false, err
	}
	if err := c.takes(ctx, s, (*rows)[0]); err != nil {
		return "", false, err
	}
	return (*rows)[0].ID, *reached == "1", nil
}

// taker is what decides whether a pane takes what is typed.
type taker struct {
	ID     tmux.PaneID `tmux:"pane_id"`
	Dead   bool        `tmux:"pane_dead"`
	InMode bool        `tmux:"pane_in_mode"`
	Mode   string      `tmux:"pane_mode"`
	Off    bool        `tmux:"pane_input_off"`
}

func (c *call) takes(ctx context.Context, s selection, pane taker) error {
	switch {
	case pane.ID == "": // a message to a target that does not exist is no error
		return c.missing(ctx, s)
	case pane.Dead:
		return faultf(kindRefused, "the program in pane %s has ended", pane.ID).suggest("respawn_pane starts it again")
	case pane.InMode:
		return faultf(kindRefused, "pane %s is in %s, which would take the keys", pane.ID, pane.Mode).suggest("exit_copy_mode leaves it")
	case pane.Off:
		return faultf(kindRefused, "the input of pane %s is off, so keys would be lost", pane.ID).
			suggest("its person can turn it on with tmux select-pane -e; another pane can be used instead")
	}
	return nil
}

// danger is what a tool would do to the caller's pane.
type danger struct {
	verb string
	// A yes to what is not ending may be remembered.
	ending bool
}

var (
	typesInto = danger{verb: "type into"}
	disturbs  = danger{verb: "change"} // pipe, clear, resize, move
	ends      = danger{verb: "end", ending: true}
)

// protect refuses what a tool would do to the caller's pane, if that is among
// the panes it is about, unless the person agrees.
func (c *call) protect(ctx context.Context, d danger, panes ...tmux.PaneID) error {
	own := c.s.cfg.Caller.Pane
	if own == "" || !slices.Contains(panes, own) || !c.s.mayHurtCaller(c.tmux) {
		return nil
	}
	return c.consent(ctx, d, "pane "+string(own)+", in which this agent runs")
}

// protectIn is protect for whatever is in a selection, told by its filter: it
// asks tmux whether the caller's pane is, when that is possible at all.
func (c *call) protectIn(ctx context.Context, d danger, within tmux.Format) error {
	own := c.s.cfg.Caller.Pane
	if own == "" || !c.s.mayHurtCaller(c.tmux) {
		return nil
	}
	type row struct {
		ID tmux.PaneID `tmux:"pane_id"`
	}
	both := "#{&&:" + tmux.MatchEqual("pane_id", string(own)) + "," + within + "}"
	rows, err := tmux.List[row](ctx, c.tmux, tmux.ListPanes{All: true, Filter: both})
	if err := noneIsEmpty(err); err != nil || len(rows) == 0 {
		return err
	}
	return c.protect(ctx, d, own)
}

// protectServer is protect for the whole tmux server.
func (c *call) protectServer(ctx context.Context) error {
	if !c.s.mayHurtCaller(c.tmux) {
		return nil
	}
	return c.consent(ctx, ends, "the tmux server in which this agent runs")
}

// consent asks the person, where the client can.
func (c *call) consent(ctx context.Context, d danger, what string) error {
	c.s.mu.Lock()
	agreed := c.s.agreed[d.verb]
	c.s.mu.Unlock()
	if agreed {
		return nil
	}
	refused := faultf(kindRefused, "refusing to %s %s", d.verb, what).
		suggest("its person can do it by hand in tmux; another pane can be used instead")
	client, ok := mcpserver.ClientSessionFromContext(ctx).(mcpserver.SessionWithElicitation)
	info, known := client.(mcpserver.SessionWithClientInfo)
	if !ok || !known || info.GetClientCapabilities().Elicitation == nil {
		return refused
	}
	var req mcp.ElicitationRequest
	req.Params.Message = "The agent wants to " + d.verb + " " + what + ". Allow it?"
	properties := map[string]any{"allow": map[string]any{"type": "boolean", "title": "Allow"}}
	if !d.ending {
		properties["remember"] = map[string]any{"type": "boolean", "title": "Do not ask again", "default": false}
	}
	req.Params.RequestedSchema = map[string]any{"type": "object", "properties": properties, "required": []string{"allow"}}
	res, err := client.RequestElicitation(ctx, req)
	if err != nil {
		return refused
	}
	answers, _ := res.Content.(map[string]any)
	if res.Action != mcp.ElicitationResponseActionAccept || answers["allow"] != true {
		return refused
	}
	if answers["remember"] == true && !d.ending {
		c.s.mu.Lock()
		if c.s.agreed == nil {
			c.s.agreed = map[string]bool{}
		}
		c.s.agreed[d.verb] = true
		c.s.mu.Unlock()
	}
	return nil
}
