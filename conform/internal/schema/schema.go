// Package schema compares calls of an MCP server's tools, and their answers, with what the tools
// declare.
package schema

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/santhosh-tekuri/jsonschema/v6"

	"tmuxmcp/conform/internal/child"
)

// Undeclared returns an argument that a tool's schema does not have, or "".
func Undeclared(in mcp.ToolInputSchema, arguments map[string]any) string {
	if in.Properties == nil || in.AdditionalProperties != nil && in.AdditionalProperties != false {
		return "" // it may have any
	}
	for _, name := range slices.Sorted(maps.Keys(arguments)) {
		if _, ok := in.Properties[name]; !ok {
			return name
		}
	}
	return ""
}

// JSONWithin returns the first JSON object, or array of objects, in a text, as in
// "Pane split: {…}"; else the first array, or nil if there is none. It gives up after many
// places that only look like the beginning of one.
func JSONWithin(text string) (found json.RawMessage) {
	for at, begun := 0, 0; at < len(text) && begun < 100; at++ {
		if text[at] != '{' && text[at] != '[' {
			continue
		}
		var value json.RawMessage
		if json.NewDecoder(strings.NewReader(text[at:])).Decode(&value) != nil {
			begun++
			continue
		}
		if inner := bytes.TrimLeft(value[1:], " \t\r\n"); value[0] == '{' || inner[0] == '{' {
			return value
		}
		if found == nil {
			found = value
		}
		at += len(value) - 1
	}
	return found
}

// Declares returns an error if an answer is not as its tool declares it.
func Declares(tool mcp.Tool, structured json.RawMessage) error {
	if tool.OutputSchema.Type == "" {
		return nil
	}
	if structured == nil {
		return fmt.Errorf("%s declares an output schema and answers without structured content", tool.Name)
	}
	if err := Fits(tool.OutputSchema, structured); err != nil {
		return fmt.Errorf("the answer is not as %s declares it: %w", tool.Name, err)
	}
	return nil
}

// Fits returns an error if a value does not fit a schema.
func Fits(schema any, value json.RawMessage) error {
	raw, err := json.Marshal(schema)
	if err != nil {
		return err
	}
	v, err := jsonschema.UnmarshalJSON(bytes.NewReader(value))
	if err != nil {
		return err
	}
	c := jsonschema.NewCompiler()
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(raw))
	if err == nil {
		err = c.AddResource("schema.json", doc)
	}
	if err != nil {
		return fmt.Errorf("the schema: %w", err)
	}
	compiled, err := c.Compile("schema.json")
	if err != nil {
		return fmt.Errorf("the schema: %w", err)
	}
	if err := compiled.Validate(v); err != nil {
		_, where, _ := strings.Cut(err.Error(), "\n")
		return errors.New(child.OneLine(where))
	}
	return nil
}
