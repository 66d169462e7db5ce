// Programs that use package tmux as anybody would, from a module of their own.
// TestLibrary in the directory above builds and tests them.
module example.com/library

go 1.25.5

require (
	golang.org/x/term v0.45.0
	tmuxmcp v0.0.0
)

require (
	golang.org/x/sys v0.47.0 // indirect
	golang.org/x/text v0.41.0 // indirect
)

replace tmuxmcp => ../..
