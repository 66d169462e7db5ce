// Package params is the contract between a tool and its callers: it binds the arguments of
// a call to a Go struct, and describes structs as JSON schemas. It does not depend on any
// tool.
//
// Inputs and outputs are structs. Schemas are made from their fields and field tags:
//
//	json:"name"            the property; in an input, it is required …
//	json:"name,omitempty"  … unless it has this, or a default
//	desc:"…"               its description
//	default:"500"          the value of an absent argument
//	enum:"stop,continue"   the allowed values of a text
//	min:"1"                the smallest number
//	exact:"true"           in an output: the text of a screen, not made legible
//
// The fields of embedded structs are promoted. In an input, null means absent, except for a
// pointer with a default, which it sets to nil. Input schemas do not mention null, because
// some clients drop a tool whose parameters have two types. In an output every property is
// always present, and a nil pointer is null.
package params
