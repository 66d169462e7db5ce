package server

import (
	"context"
	"crypto/hmac"
	"errors"
	"strings"
	"time"

	"github.com/mark3labs/mcp-go/mcp"
	mcpserver "github.com/mark3labs/mcp-go/server"
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
	refused := faultf(kindRefused, "refusing to %s %s", h.verb(), what).
		suggest("use another pane, or the user can do it by hand in tmux")
	question := mcp.ElicitationParams{
		Message:         "The agent wants to " + h.verb() + " " + legible(what, "") + ". Allow it?",
		RequestedSchema: map[string]any{"type": "object", "properties": map[string]any{}},
	}
	if info := mcpserver.RequestProtocolInfoFromContext(ctx); info != nil && info.Modern {
		state := c.stateOf(question.Message)
		switch answer := c.answered(state); {
		case info.ClientCapabilities == nil || !canAsk(*info.ClientCapabilities):
			return refused
		case c.tool.aim.rule == aimEach || inBatch(ctx):
			return refused.suggest("call it by itself: the user is asked about a whole call, not about a part of one")
		case answer == nil:
			return &fault{kind: kindAsked, msg: question.Message, ask: mcpserver.NewInputRequestBuilder(state).Elicit(askID, question)}
		case !agreed(answer):
			return refused
		}
		return nil
	}
	if strings.HasPrefix(clientOf(ctx), codexName) {
		question.RequestedSchema = map[string]any{"type": "object", "properties": map[string]any{
			"allow": map[string]any{"type": "boolean", "title": "Allow", "default": true},
		}}
	}
	client, ok := mcpserver.ClientSessionFromContext(ctx).(mcpserver.SessionWithElicitation)
	info, known := client.(mcpserver.SessionWithClientInfo)
	if !ok || !known || !canAsk(info.GetClientCapabilities()) {
		return refused
	}
	wait, cancel := context.WithTimeout(ctx, c.s.consentWait)
	defer cancel()
	c.leave()
	res, err := client.RequestElicitation(wait, mcp.ElicitationRequest{Params: question})
	if late := c.enter(ctx); late != nil {
		return late
	}
	switch {
	case errors.Is(err, context.DeadlineExceeded) && ctx.Err() == nil:
		return faultf(kindRefused, "refusing to %s %s: the user did not answer in %v", h.verb(), what, c.s.consentWait).
			suggest("ask the user, then call again")
	case err != nil || !agreed(res):
		return refused
	}
	return nil
}

// codexName begins the name of codex. When it runs without approvals, it accepts an empty
// form by itself, without showing it to the user. So its form has a field, and is then
// declined.
const codexName = "codex"

// agreed reports whether an answer means yes.
func agreed(res *mcp.ElicitationResult) bool {
	answers, _ := res.Content.(map[string]any)
	return res.Action == mcp.ElicitationResponseActionAccept && answers["allow"] != false
}

// canAsk reports whether a client shows forms. A client that names no kind of question
// shows forms only.
func canAsk(caps mcp.ClientCapabilities) bool {
	e := caps.Elicitation
	return e != nil && (e.Form != nil || e.URL == nil)
}

// stateOf ties an answer to the question and to this particular call.
func (c *call) stateOf(question string) string {
	return c.sealed(c.s.digest.mac(question))
}

func (c *call) sealed(question string) string {
	return question + c.s.digest.mac(strings.Join([]string{c.tool.name, string(c.args), question}, "\x00"))
}

// checkState refuses a request state that does not belong to this call.
func (c *call) checkState() error {
	state := c.answers.RequestState
	question := state[:len(state)/2]
	if state == "" || hmac.Equal([]byte(state), []byte(c.sealed(question))) {
		return nil
	}
	return errForged
}

var errForged = faultf(kindForged, "requestState is not one that this server gave for this request")

// answered returns the user's answer to the question of a state, or nil.
func (c *call) answered(state string) *mcp.ElicitationResult {
	if state != c.answers.RequestState {
		return nil
	}
	return mcpserver.ElicitationResponse(c.answers.InputResponses, askID)
}
