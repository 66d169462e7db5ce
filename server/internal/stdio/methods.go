package stdio

import (
	"encoding/json"
	"errors"
	"fmt"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/tidwall/gjson"
)

// method is a request that a client may send.
type method struct {
	// in are the revisions that have the method.
	in era
	// atOnce methods need no answer from anyone. They are handled before the next message
	// is read, which can therefore rely on them.
	atOnce bool
}

// era is a set of revisions: those that begin with initialize, and those whose requests
// name their revision in _meta.
type era int

const (
	legacy era = 1 << iota
	modern
)

var methods = map[string]method{
	"initialize":               {legacy, true},
	"ping":                     {legacy, true},
	"logging/setLevel":         {legacy, true},
	"resources/subscribe":      {legacy, false},
	"resources/unsubscribe":    {legacy, false},
	"server/discover":          {modern, true},
	"subscriptions/listen":     {modern, false},
	"tools/list":               {legacy | modern, true},
	"tools/call":               {legacy | modern, false},
	"prompts/list":             {legacy | modern, true},
	"prompts/get":              {legacy | modern, true},
	"resources/list":           {legacy | modern, true},
	"resources/templates/list": {legacy | modern, true},
	"resources/read":           {legacy | modern, false},
	"completion/complete":      {legacy | modern, false},
}

// meta is what a request says about itself.
type meta struct {
	Revision      *string                 `json:"io.modelcontextprotocol/protocolVersion"`
	Capabilities  *mcp.ClientCapabilities `json:"io.modelcontextprotocol/clientCapabilities"`
	Client        *mcp.Implementation     `json:"io.modelcontextprotocol/clientInfo"`
	Level         *mcp.LoggingLevel       `json:"io.modelcontextprotocol/logLevel"`
	ProgressToken json.RawMessage         `json:"progressToken"`
}

// check returns the era of a request, or why it cannot be served. revision is that of the
// session, empty before initialize.
func (m message) check(revision string) (era, *mcp.JSONRPCErrorDetails) {
	var p struct {
		Meta meta `json:"_meta"`
	}
	if gjson.GetBytes(m.params, "_meta").Exists() {
		if err := json.Unmarshal(m.params, &p); err != nil {
			return 0, refuse(mcp.INVALID_PARAMS, Misfit(err))
		}
	}
	e := legacy
	switch named := p.Meta.Revision; {
	case named == nil:
	case !mcp.IsValidProtocolVersion(*named):
		d := mcp.UnsupportedProtocolVersionError{Version: *named, Supported: mcp.ValidProtocolVersions}.JSONRPCError().Error
		return 0, &d
	case mcp.IsModernProtocol(*named):
		e = modern
	}
	known := methods[m.method]
	_, validToken := idKey(p.Meta.ProgressToken)
	switch level := p.Meta.Level; {
	case known.in == modern && e == legacy && revision == "":
		return 0, refuse(mcp.INVALID_PARAMS, m.method+" needs params._meta with "+mcp.MetaKeyProtocolVersion+" and "+mcp.MetaKeyClientCapabilities)
	case known.in&e == 0:
		return 0, refuse(mcp.METHOD_NOT_FOUND, fmt.Sprintf("there is no method %q in this revision of MCP", m.method))
	case e == modern && p.Meta.Capabilities == nil:
		return 0, refuse(mcp.INVALID_PARAMS, "params._meta needs "+mcp.MetaKeyClientCapabilities+", an object that may be empty")
	case level != nil && !level.ShouldSendTo(mcp.LoggingLevelDebug):
		return 0, refuse(mcp.INVALID_PARAMS, "params._meta."+mcp.MetaKeyLogLevel+" must be debug, info, notice, warning, error, critical, alert or emergency")
	case p.Meta.ProgressToken != nil && !validToken:
		return 0, refuse(mcp.INVALID_PARAMS, "params._meta.progressToken must be a string or an integer")
	}
	return e, nil
}

func refuse(code int, msg string) *mcp.JSONRPCErrorDetails {
	d := mcp.NewJSONRPCErrorDetails(code, msg, nil)
	return &d
}

// Misfit returns which parameter has a value of the wrong type.
func Misfit(err error) string {
	var wrong *json.UnmarshalTypeError
	if errors.As(err, &wrong) && wrong.Field != "" {
		return wrong.Field + " has the wrong type: " + wrong.Value
	}
	return "the params do not have the form that the method wants"
}
