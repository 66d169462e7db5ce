package runner

import "tmuxmcp/internal/turns"

// Turns lets one caller at a time use each thing. The zero Turns is ready to use.
type Turns = turns.Turns
