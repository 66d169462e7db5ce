// Package docs hands out the documentation that the programs carry.
package docs

import _ "embed"

// AdapterSchema is the JSON schema of what adapters answer. The adapters to start from belong
// here too, once there is a directory adapters: //go:embed adapters
//
//go:embed adapter.schema.json
var AdapterSchema []byte
