package adapter

import (
	"encoding/json"

	"tmuxmcp/conform/internal/gap"
)

// Codes of errors that are not the wrapper's.
const (
	codeNoMethod = -32601
	codeNoParam  = -32602
	codeInternal = -32603
	codeLookedUp = -32001 // the adapter looked an object up itself, and did not find it
	codeParse    = -32700
)

// Error is the error that an adapter answers with. A positive code is the wrapper's own error.
type Error struct {
	Code    int        `json:"code"`
	Message string     `json:"message"`
	Data    *ErrorData `json:"data,omitempty"`
}

func (e *Error) Error() string { return e.Message }

// ErrorData is what a wrapper's error carries besides its text. Fields that it does not have are
// nil.
type ErrorData struct {
	Type     *string `json:"type,omitempty"`
	Kind     *string `json:"kind,omitempty"`
	Command  *string `json:"command,omitempty"`
	Stderr   *string `json:"stderr,omitempty"`
	ExitCode *int    `json:"exit_code,omitempty"`
}

// class returns the error for the caller of [Call.Do]: e itself if it is the wrapper's own.
func (e *Error) class() error {
	switch {
	case e.Code > 0:
		return e
	case e.Code == codeNoMethod, e.Code == codeNoParam:
		return gap.NotOffered(e.Message)
	case e.Code == codeLookedUp:
		return gap.NotOffered("looked up by the adapter: " + e.Message)
	}
	return atFault("the adapter failed: %s", e.Message)
}

// value returns the error as scripts see it.
func (e *Error) value() any {
	v := map[string]any{}
	if data, err := json.Marshal(e.Data); err == nil && e.Data != nil {
		json.Unmarshal(data, &v)
	}
	v["message"] = e.Message
	return map[string]any{"error": v}
}

// Failure is the error of a request without a valid answer.
type Failure struct {
	Kind   Kind
	Text   string
	Stderr string // the end of the adapter's standard error, if it may say why
}

func (f *Failure) Error() string {
	if f.Kind == Misfit {
		return "schema: " + f.Why()
	}
	return f.Why()
}

// Why returns the error without its kind.
func (f *Failure) Why() string {
	if f.Stderr == "" {
		return f.Text
	}
	return f.Text + ": " + f.Stderr
}

// Kind is how a request failed.
type Kind int

const (
	Misfit     Kind = iota + 1 // the answer is not as the schema says
	AtFault                    // the adapter is at fault, not the wrapper
	Ended                      // the process ended, or closed its standard output
	TimedOut                   // there was no answer in time
	NotStarted                 // it did not start, or does not describe itself
)
