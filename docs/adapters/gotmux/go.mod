// A module of its own: mcp-conform does not depend on the wrappers that it tests.
module gotmuxadapter

go 1.24

require github.com/GianlucaP106/gotmux v0.5.0
