package main

// The addresses of the project, to be set before it is published: see docs/release.md.
const (
	homepage   = "https://example.com/tmuxmcp"
	downloads  = homepage + "/releases"                      // the files of release 1.2.3 are below downloads/v1.2.3
	namespace  = "com.example"                               // in the MCP registry: the reverse of a domain that is the publisher's
	npmPackage = "tmuxmcp"                                   // on npm
	npmScope   = "@example"                                  // on npm: of the packages with the programs
	author     = "the tmuxmcp authors"                       // as in LICENSE
	maintainer = "The tmuxmcp authors <tmuxmcp@example.com>" // of the Debian package
)

// description is what catalogues show; the MCP registry takes at most 100 characters.
const description = "Lets an agent see and drive tmux: read and search panes, type, run commands, wait for their output"

// summary is what package managers show; Homebrew takes at most 80 characters, of certain forms.
const summary = "MCP server that lets coding agents see and drive tmux"
