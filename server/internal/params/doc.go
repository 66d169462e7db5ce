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
//	unlisted:"true"        in an input: accepted, but not in the schema
//	brief:"true"           in an input: what it holds is described where else it is listed
//	exact:"true"           in an output: the text of a screen, not made legible
//
// A bool of an input that is false by default has omitempty, and no default.
//
// A model reads a description behind the property's name, and pays for all of them with every
// list of tools. A desc
//
//   - says what the name does not: without anything to say there is none. It repeats neither the
//     name nor what other tags have, such as a default or the words of an enum;
//   - is a phrase in lower case, without a full stop: desc:"last line". Its parts are separated by
//     semicolons;
//   - has in this order the meaning, the unit or form ("seconds, to 300", "like %1"), what is taken
//     if it is absent ("default: below"), if no tag has that, and what null means ("null: all").
//
// The fields of embedded structs are promoted. In an input, null means absent, except for a
// pointer with a default, which it sets to nil. Input schemas do not mention null, because
// some clients drop a tool whose parameters have two types. In an output every property is
// always present, and a nil pointer is null.
package params
