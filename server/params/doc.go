// Package params is the contract between a tool and its callers: it binds the
// arguments of a call to a Go struct, and describes structs as JSON schemas. It
// knows no tool.
//
// Inputs and outputs are structs. Their schemas come from their fields and the
// fields' tags:
//
//	json:"name"            the property; in an input, it is required …
//	json:"name,omitempty"  … unless it has this, or a default
//	desc:"…"               its description
//	default:"500"          what an absent argument is
//	enum:"stop,continue"   the values a text may have
//	min:"1"                the smallest number
//	exact:"true"           in an output: the text of a screen, not made legible
//
// Fields of embedded structs stand in their places. In an input, null is the same
// as absent, except for a pointer with a default, where it is nil. Input schemas do
// not mention null, because some clients drop a tool over two types. In an output
// every property is always present, and a nil pointer is null.
package params
