package adapter

import (
	"bufio"
	"context"
	"encoding/json"
	"io"
)

// Handler answers a request of the protocol: see [Library.Handle].
type Handler interface {
	Handle(ctx context.Context, method string, params json.RawMessage) (result any, err *Error)
}

// Serve answers requests of the protocol until the input ends, or returns why it could not go on.
func Serve(l Handler, stdin io.Reader, stdout io.Writer) error {
	sc := bufio.NewScanner(stdin)
	sc.Buffer(nil, maxMessage)
	for sc.Scan() {
		var request struct {
			ID     json.RawMessage
			Method string
			Params json.RawMessage
		}
		answer := envelope{}
		if err := json.Unmarshal(sc.Bytes(), &request); err != nil {
			answer.ID, answer.Error = json.RawMessage("null"), &Error{Code: codeParse, Message: err.Error()}
		} else {
			answer.ID = request.ID
			answer.Result, answer.Error = l.Handle(context.Background(), request.Method, request.Params)
		}
		line, err := answer.encode()
		if err == nil {
			_, err = stdout.Write(line)
		}
		if err != nil {
			return err
		}
	}
	return sc.Err()
}

// Open sets the tmux that an adapter uses. Its error is a [*Failure].
func Open(ctx context.Context, a Asker, tmux, socket, version string) error {
	_, err := a.Ask(ctx, Request{"open", map[string]any{"tmux": tmux, "socket": socket, "version": version}})
	if refused, is := err.(*Error); is {
		return &Failure{Kind: NotStarted, Text: "the adapter does not open a server: " + refused.Message}
	}
	return err
}
