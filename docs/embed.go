// Package docs hands out the documentation that the programs carry.
package docs

import _ "embed"

// AdapterSchema is the JSON schema of what adapters answer.
//
//go:embed adapter.schema.json
var AdapterSchema []byte

// PythonAdapter and ShellAdapter are the adapters that are examples.
var (
	//go:embed adapters/libtmux.py
	PythonAdapter []byte
	//go:embed adapters/tmux.sh
	ShellAdapter []byte
)
