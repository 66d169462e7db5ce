package adapter

import (
	"bytes"
	"strings"
	"sync"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"tmuxmcp/docs"
)

// schemaURL is the address of the schema in docs/adapter.schema.json.
const schemaURL = "https://tmuxmcp.invalid/adapter/1"

// schemas are compiled when the first adapter answers.
var schemas = sync.OnceValue(func() (s struct{ message, described *jsonschema.Schema }) {
	document, err := jsonschema.UnmarshalJSON(bytes.NewReader(docs.AdapterSchema))
	if err != nil {
		panic(err)
	}
	c := jsonschema.NewCompiler()
	if err := c.AddResource(schemaURL, document); err != nil {
		panic(err)
	}
	s.message, s.described = c.MustCompile(schemaURL), c.MustCompile(schemaURL+"#/$defs/described")
	return s
})

// fit returns a Misfit if a value does not fit a schema. Its numbers are [json.Number].
func fit(s *jsonschema.Schema, value any) error {
	err := s.Validate(value)
	if err == nil {
		return nil
	}
	_, where, _ := strings.Cut(err.Error(), "\n")
	return misfit("%s", strings.Join(strings.Fields(where), " "))
}

// RequestSchema returns the JSON schema of the requests that adapters get, made from [Verbs].
func RequestSchema() map[string]any {
	var all []any
	for _, v := range Verbs {
		all = append(all, map[string]any{
			"description": v.Doc, "required": []any{"params"},
			"properties": map[string]any{"method": map[string]any{"const": v.Name}, "params": v.paramsSchema()},
		})
	}
	return map[string]any{
		"$schema":  "https://json-schema.org/draft/2020-12/schema",
		"title":    "A request to an adapter, protocol 1",
		"type":     "object",
		"required": []any{"jsonrpc", "id", "method", "params"},
		"properties": map[string]any{
			"jsonrpc": map[string]any{"const": "2.0"}, "id": map[string]any{"type": "integer"}, "method": true, "params": true,
		},
		"additionalProperties": false,
		"oneOf":                all,
	}
}

// paramsSchema returns the JSON schema of the verb's parameters.
func (v *Verb) paramsSchema() map[string]any {
	properties, required := map[string]any{}, []any{}
	for _, p := range v.Params {
		s := map[string]any{"type": string(p.Type), "description": p.Doc}
		if p.Type == Texts {
			s["items"] = map[string]any{"type": "string"}
		}
		if p.Values != nil {
			var values []any
			for _, value := range p.Values {
				values = append(values, value)
			}
			s["enum"] = values
		}
		properties[p.Name] = s
		if !p.Optional {
			required = append(required, p.Name)
		}
	}
	return map[string]any{"type": "object", "properties": properties, "required": required, "additionalProperties": false}
}
