package guard

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"strconv"
	"strings"
	"sync"
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

// Questions are those that a server asks its user.
type Questions struct {
	// Wait is how long the user may take, in revisions in which a call waits for the answer,
	// and Stands how long an answer counts in later ones. Both are two minutes.
	Wait, Stands time.Duration

	key   [32]byte
	began time.Time // with the monotonic clock, from which answers age
	mu    sync.Mutex
	used  map[string]time.Duration // states whose answers came, until they expire
}

// NewQuestions returns questions with a key of their own.
func NewQuestions() *Questions {
	q := &Questions{Wait: consentWait, Stands: consentWait, began: time.Now(), used: map[string]time.Duration{}}
	rand.Read(q.key[:])
	return q
}

// Asker asks the user about one call.
type Asker struct {
	questions *Questions
	tool      string
	args      json.RawMessage
	answers   mcp.MultiRoundTripParams // of an earlier attempt of the same call
	pause     Pause
}

// Pause lets other calls run while this one waits for the user, or for its turn in a pane.
// resume waits until it may continue.
type Pause func() (resume func(context.Context) error)

// Of returns the asker for a call of a tool, with the answers that came with the call.
func (q *Questions) Of(tool string, args json.RawMessage, answers mcp.MultiRoundTripParams, pause Pause) *Asker {
	return &Asker{questions: q, tool: tool, args: args, answers: answers, pause: pause}
}

// Consent asks the user, if the client can, and fails unless the user agrees. The question
// is an empty form: accepting it means agreeing.
//
// From revision 2026-07-28 on, servers send no requests. The call ends with the question
// instead, and the client repeats it with the answer: see [Asker.answered]. In earlier
// revisions the question is a request of the server's, and the call waits.
func (g *Guard) Consent(ctx context.Context, h Harm, what string) error {
	refused := reply.Faultf(reply.KindRefused, "refusing to %s %s", h.Verb(), what).
		Suggest("use another pane, or the user can do it by hand in tmux")
	ask := mcp.ElicitationParams{
		Message:         "The agent wants to " + h.Verb() + " " + reply.Legible(what, "") + ". Allow it?",
		RequestedSchema: emptyForm(ctx),
	}
	if info := mcpserver.RequestProtocolInfoFromContext(ctx); info != nil && info.Modern {
		switch answer := g.ask.answered(ask.Message); {
		case info.ClientCapabilities == nil || !canAsk(*info.ClientCapabilities):
			return refused
		case g.Aim.Rule == target.AimEach || InBatch(ctx):
			return refused.Suggest("call it by itself: the user is asked about a whole call, not about a part of one")
		case answer == nil:
			return g.ask.question(ask)
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
	wait, cancel := context.WithTimeout(ctx, g.ask.questions.Wait)
	defer cancel()
	resume := g.ask.pause()
	res, err := client.RequestElicitation(wait, mcp.ElicitationRequest{Params: ask})
	if late := resume(ctx); late != nil {
		return late
	}
	switch {
	case errors.Is(err, context.DeadlineExceeded) && ctx.Err() == nil:
		return reply.Faultf(reply.KindRefused, "refusing to %s %s: the user did not answer in %v", h.Verb(), what, g.ask.questions.Wait).
			Suggest("ask the user, then call again")
	case err != nil || !agreed(ctx, res):
		return refused
	}
	return nil
}

// Question is an error that ends a call with a question instead.
type Question struct {
	*mcpserver.InputRequestBuilder
	fault *reply.Fault
}

func (q *Question) Error() string { return q.fault.Error() }
func (q *Question) Unwrap() error { return q.fault }

// question returns a question that is tied to the call.
func (a *Asker) question(q mcp.ElicitationParams) error {
	return &Question{mcpserver.NewInputRequestBuilder(a.stateOf(q.Message)).Elicit(askID, q), reply.Faultf(reply.KindAsked, "%s", q.Message)}
}

// codexName is how codex's client name begins. When it runs without approvals, it accepts an
// empty form by itself, without showing it to the user. So its form has a field, and is then
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
func (a *Asker) stateOf(question string) string {
	expires := time.Since(a.questions.began) + a.questions.Stands
	return a.sealed(fmt.Sprintf("%016x%s%s", int64(expires), rand.Text(), a.questions.mac(question)))
}

func (a *Asker) sealed(text string) string {
	return text + a.questions.mac(strings.Join([]string{a.tool, canonical(a.args), text}, "\x00"))
}

// canonical returns JSON in one form: programs on the way may reorder it and escape it
// differently.
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

// Check refuses a request state that does not belong to this call, or was used.
func (a *Asker) Check() error {
	state := a.answers.RequestState
	if state == "" {
		return nil
	}
	text := state[:max(0, len(state)-macSize)]
	if !hmac.Equal([]byte(state), []byte(a.sealed(text))) {
		return ErrForged
	}
	if mcpserver.ElicitationResponse(a.answers.InputResponses, askID) == nil {
		return nil
	}
	expires, _ := strconv.ParseInt(text[:16], 16, 64)
	if !a.questions.firstUse(state, time.Duration(expires)) {
		return reply.Faultf(reply.KindRefused, "the user's answer was used already, or came after %v", consentWait).
			Suggest("call again, and the user is asked again")
	}
	return nil
}

// ErrForged rejects a request state that this server did not issue for this request.
var ErrForged = reply.Faultf(reply.KindForged, "requestState is not one that this server gave for this request")

// answered returns the user's answer to a question, or nil.
func (a *Asker) answered(question string) *mcp.ElicitationResult {
	if !strings.Contains(a.answers.RequestState, a.questions.mac(question)) {
		return nil
	}
	return mcpserver.ElicitationResponse(a.answers.InputResponses, askID)
}

// maxUsed bounds the states that were used and have not expired.
const maxUsed = 1000

// firstUse reports whether a state has not expired and is used for the first time.
func (q *Questions) firstUse(state string, expires time.Duration) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	now := time.Since(q.began)
	maps.DeleteFunc(q.used, func(_ string, expires time.Duration) bool { return expires < now })
	if _, again := q.used[state]; again || expires < now || len(q.used) >= maxUsed {
		return false
	}
	q.used[state] = expires
	return true
}

const macSize = 2 * sha256.Size // of a code, in hex

func (q *Questions) mac(s string) string {
	mac := hmac.New(sha256.New, q.key[:])
	mac.Write([]byte(s))
	return hex.EncodeToString(mac.Sum(nil))
}
