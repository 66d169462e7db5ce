package adapter

import (
	"bytes"
	"encoding/json"
	"fmt"
	"unicode/utf8"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// maxMessage is the longest line that an adapter may write.
const maxMessage = 4 << 20

// envelope is a message of the protocol.
type envelope struct {
	JSONRPC string          `json:"jsonrpc"`
	ID      json.RawMessage `json:"id"`
	Method  string          `json:"method,omitempty"`
	Params  any             `json:"params,omitempty"`
	Result  any             `json:"result,omitempty"`
	Error   *Error          `json:"error,omitempty"`
}

// encode returns the message as a line.
func (e envelope) encode() ([]byte, error) {
	e.JSONRPC = "2.0"
	var b bytes.Buffer
	to := json.NewEncoder(&b)
	to.SetEscapeHTML(false)
	err := to.Encode(e)
	return b.Bytes(), err
}

func atFault(format string, args ...any) error {
	return &Failure{Kind: AtFault, Text: fmt.Sprintf(format, args...)}
}

// readAnswer decodes the answer to the request with this id. If the answer is an error, it returns
// that as an [*Error].
func readAnswer(line []byte, id int64) (json.RawMessage, error) {
	if !utf8.Valid(line) {
		return nil, atFault("the adapter wrote a line that is not UTF-8: %.200q", line)
	}
	value, err := jsonschema.UnmarshalJSON(bytes.NewReader(line))
	message, is := value.(map[string]any)
	if err != nil || !is {
		return nil, atFault("the adapter wrote a line to its standard output that is no message: %.200q", line)
	}
	if message["jsonrpc"] != "2.0" {
		return nil, atFault(`the adapter wrote a message without "jsonrpc": "2.0": %.200q`, line)
	}
	answered, text := answeredID(message["id"])
	switch _, method := message["method"]; {
	case method:
		return nil, atFault("the adapter wrote a request, which the protocol has none of: %.200q", line)
	case message["id"] == nil && message["error"] != nil:
		return nil, atFault("the adapter could not read request %d: %.200q", id, line)
	case answered > 0 && answered < id:
		return nil, atFault("the adapter answered request %d twice: %.200q", answered, line)
	case answered != id:
		return nil, atFault("the adapter answered request %s, and not %d: %.200q", text, id, line)
	}
	_, result := message["result"]
	if _, refused := message["error"]; refused == result {
		return nil, misfit("a message has either a result or an error")
	}
	if err := fit(schemas().message, value); err != nil {
		return nil, err
	}
	var m struct {
		Result json.RawMessage
		Error  *Error
	}
	if err := json.Unmarshal(line, &m); err != nil {
		return nil, misfit("%v", err)
	}
	if m.Error != nil {
		return nil, m.Error
	}
	return m.Result, nil
}

// answeredID returns the id of an answer, or 0 if it is not an integer, and its JSON text.
func answeredID(id any) (int64, string) {
	text, err := json.Marshal(id)
	if err != nil || id == nil {
		return 0, "without an id"
	}
	n, _ := id.(json.Number)
	f, err := n.Float64()
	if err != nil || f != float64(int64(f)) {
		return 0, string(text)
	}
	return int64(f), string(text)
}
