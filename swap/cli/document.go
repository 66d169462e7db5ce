package cli

import "tmuxmcp/swap"

// A document is what --json prints. docs/mcp-swap.schema.json describes its fields.
type document struct {
	Version  int            `json:"version"`
	Command  string         `json:"command"`
	Repo     string         `json:"repo"`
	Server   string         `json:"server"`
	DryRun   bool           `json:"dry_run,omitempty"`
	Clients  any            `json:"clients"` // a list, of a type for each command
	Swaps    []swap.Swap    `json:"swaps,omitempty"`
	Findings []swap.Finding `json:"findings,omitzero"`
	Notes    []string       `json:"notes,omitempty"`
	Error    string         `json:"error,omitempty"`
}

// schemaVersion is incremented when a field is removed or changes meaning.
const schemaVersion = 1

// An outcome is a result with the text of its error.
type outcome struct {
	swap.Result
	Error string `json:"error,omitempty"`
}

func outcomes(results []swap.Result) []outcome {
	out := make([]outcome, len(results))
	for i, r := range results {
		out[i].Result = r
		if r.Err != nil {
			out[i].Error = r.Err.Error()
		}
	}
	return out
}
