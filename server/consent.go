package server

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"strconv"
	"strings"
	"time"

	"github.com/mark3labs/mcp-go/mcp"
	mcpserver "github.com/mark3labs/mcp-go/server"

	"tmuxmcp/server/internal/reply"
	"tmuxmcp/server/internal/stdio"
	"tmuxmcp/server/internal/target"
)

// consentWait is how long the user may take to answer.
const consentWait = 2 * time.Minute

// askID names the only question of a call.
const askID = "consent"

// consent asks the user, if the client can, and fails unless the user agrees. The question
// is an empty form: accepting it means agreeing.
//
// From revision 2026-07-28 on, servers send no requests. The call ends with the question
// instead, and the client repeats it with the answer: see [call.answered]. In earlier
// revisions the question is a request of the server's, and the call waits.
func (c *call) consent(ctx context.Context, h harm, what string) error {
	refused := reply.Faultf(reply.KindRefused, "refusing to %s %s", h.verb(), what).
		Suggest("use another pane, or the user can do it by hand in tmux")
	ask := mcp.ElicitationParams{
		Message:         "The agent wants to " + h.verb() + " " + reply.Legible(what, "") + ". Allow it?",
		RequestedSchema: emptyForm(ctx),
	}
	if info := mcpserver.RequestProtocolInfoFromContext(ctx); info != nil && info.Modern {
		switch answer := c.answered(ask.Message); {
		case info.ClientCapabilities == nil || !canAsk(*info.ClientCapabilities):
			return refused
		case c.tool.aim.Rule == target.AimEach || inBatch(ctx):
			return refused.Suggest("call it by itself: the user is asked about a whole call, not about a part of one")
		case answer == nil:
			return c.ask(ask)
		case !agreed(ctx, answer):
			return refused
		}
		return nil
	}
	client, ok := mcpserver.ClientSessionFromContext(ctx).(mcpserver.SessionWithElicitation)
	info, known := client.(mcpserver.SessionWithClientInfo)
	if !ok || !known || !canAsk(info.GetClientCapabilities()) {
		return refused
	}
	wait, cancel := context.WithTimeout(ctx, c.s.consentWait)
	defer cancel()
	c.leave()
	res, err := client.RequestElicitation(wait, mcp.ElicitationRequest{Params: ask})
	if late := c.enter(ctx); late != nil {
		return late
	}
	switch {
	case errors.Is(err, context.DeadlineExceeded) && ctx.Err() == nil:
		return reply.Faultf(reply.KindRefused, "refusing to %s %s: the user did not answer in %v", h.verb(), what, c.s.consentWait).
			Suggest("ask the user, then call again")
	case err != nil || !agreed(ctx, res):
		return refused
	}
	return nil
}

// question is an error that ends a call with a question instead.
type question struct {
	*mcpserver.InputRequestBuilder
	fault *reply.Fault
}

func (q *question) Error() string { return q.fault.Error() }
func (q *question) Unwrap() error { return q.fault }

// ask returns the question, tied to this call.
func (c *call) ask(q mcp.ElicitationParams) error {
	return &question{mcpserver.NewInputRequestBuilder(c.stateOf(q.Message)).Elicit(askID, q), reply.Faultf(reply.KindAsked, "%s", q.Message)}
}

// codexName begins the name of codex. When it runs without approvals, it accepts an empty
// form by itself, without showing it to the user. So its form has a field, and is then
// declined.
const codexName = "codex"

// emptyForm returns the schema of the form that the client shows.
func emptyForm(ctx context.Context) map[string]any {
	fields := map[string]any{}
	if strings.HasPrefix(stdio.ClientName(ctx), codexName) {
		fields["allow"] = map[string]any{"type": "boolean", "title": "Allow", "default": true}
	}
	return map[string]any{"type": "object", "properties": fields}
}

// agreed reports whether an answer means yes: the form is accepted, and allows it if it
// holds anything, as it must if it has a field.
func agreed(ctx context.Context, res *mcp.ElicitationResult) bool {
	answers, ok := res.Content.(map[string]any)
	yes := answers["allow"] == true
	if len(answers) == 0 && !strings.HasPrefix(stdio.ClientName(ctx), codexName) {
		yes = ok || res.Content == nil
	}
	return res.Action == mcp.ElicitationResponseActionAccept && yes
}

// canAsk reports whether a client shows forms. A client that names no kind of question
// shows forms only.
func canAsk(caps mcp.ClientCapabilities) bool {
	e := caps.Elicitation
	return e != nil && (e.Form != nil || e.URL == nil)
}

// stateOf returns a state that ties an answer to the question and to this particular call,
// for one use within two minutes.
func (c *call) stateOf(question string) string {
	expires := time.Now().Add(c.s.answerWait).UnixMilli()
	return c.sealed(fmt.Sprintf("%016x%s%s", expires, rand.Text(), c.s.digest.mac(question)))
}

func (c *call) sealed(text string) string {
	return text + c.s.digest.mac(strings.Join([]string{c.tool.name, canonical(c.args), text}, "\x00"))
}

// canonical returns JSON as it is whatever programs on the way wrote it anew: they may order
// and escape it in another way.
func canonical(raw json.RawMessage) string {
	var value any
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	if d.Decode(&value) != nil {
		return string(raw)
	}
	text, _ := json.Marshal(value)
	return string(text)
}

// checkState refuses a request state that does not belong to this call, or was used.
func (c *call) checkState() error {
	state := c.answers.RequestState
	if state == "" {
		return nil
	}
	text := state[:max(0, len(state)-macSize)]
	if !hmac.Equal([]byte(state), []byte(c.sealed(text))) {
		return errForged
	}
	if mcpserver.ElicitationResponse(c.answers.InputResponses, askID) == nil {
		return nil
	}
	expires, _ := strconv.ParseInt(text[:16], 16, 64)
	if !c.s.firstUse(state, time.UnixMilli(expires)) {
		return reply.Faultf(reply.KindRefused, "the user's answer was used already, or came after %v", consentWait).
			Suggest("call again, and the user is asked again")
	}
	return nil
}

var errForged = reply.Faultf(reply.KindForged, "requestState is not one that this server gave for this request")

// answered returns the user's answer to a question, or nil.
func (c *call) answered(question string) *mcp.ElicitationResult {
	if !strings.Contains(c.answers.RequestState, c.s.digest.mac(question)) {
		return nil
	}
	return mcpserver.ElicitationResponse(c.answers.InputResponses, askID)
}

// maxUsed bounds the states that were used and have not expired.
const maxUsed = 1000

// firstUse reports whether a state has not expired and is used for the first time.
func (s *Server) firstUse(state string, expires time.Time) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := time.Now()
	maps.DeleteFunc(s.used, func(_ string, expires time.Time) bool { return expires.Before(now) })
	if _, again := s.used[state]; again || expires.Before(now) || len(s.used) >= maxUsed {
		return false
	}
	s.used[state] = expires
	return true
}
