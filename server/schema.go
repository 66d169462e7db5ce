package server

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

// Inputs and outputs are structs. Their schemas come from their fields and the
// fields' tags:
//
//	json:"name"            the property; in an input, it is required …
//	json:"name,omitempty"  … unless it has this, or a default
//	desc:"…"               its description
//	default:"500"          what an absent argument is
//	enum:"stop,continue"   the values a text may have
//	min:"1"                the smallest number
//
// Fields of embedded structs stand in their places. In an input, null is the
// same as absent, but for a pointer with a default, where it is nil; no input
// schema tells of it, because some clients drop a tool over two types. In an
// output every property is always present, and a nil pointer is null.

// field is a property of an input or output.
type field struct {
	name     string
	index    []int
	typ      reflect.Type
	desc     string
	def      string // JSON
	enum     []string
	min      *float64
	optional bool
}

var fieldCache sync.Map // reflect.Type → []field

// fieldsOf lists the properties of a struct type.
func fieldsOf(t reflect.Type) []field {
	if f, ok := fieldCache.Load(t); ok {
		return f.([]field)
	}
	var fields []field
	for i := range t.NumField() {
		sf := t.Field(i)
		if sf.Anonymous && sf.Tag.Get("json") == "" {
			for _, f := range fieldsOf(sf.Type) {
				f.index = append([]int{i}, f.index...)
				fields = append(fields, f)
			}
			continue
		}
		name, options, _ := strings.Cut(sf.Tag.Get("json"), ",")
		if name == "" || name == "-" {
			continue
		}
		f := field{name: name, index: []int{i}, typ: sf.Type, desc: sf.Tag.Get("desc"), optional: options == "omitempty"}
		if d, ok := sf.Tag.Lookup("default"); ok {
			f.def, f.optional = d, true
			if elem(sf.Type).Kind() == reflect.String {
				f.def = strconv.Quote(d)
			}
		}
		if e := sf.Tag.Get("enum"); e != "" {
			f.enum = strings.Split(e, ",")
		}
		if m := sf.Tag.Get("min"); m != "" {
			n, err := strconv.ParseFloat(m, 64)
			if err != nil {
				panic(fmt.Sprintf("server: min of %s.%s: %v", t, sf.Name, err))
			}
			f.min = &n
		}
		fields = append(fields, f)
	}
	fieldCache.Store(t, fields)
	return fields
}

func elem(t reflect.Type) reflect.Type {
	if t.Kind() == reflect.Pointer {
		return t.Elem()
	}
	return t
}

// schemaText is implemented by types whose schema their Go type does not tell.
type schemaText interface {
	// schema is the inside of a JSON object: `"type":"string"`.
	schema() string
}

// inputSchema is the JSON schema of a tool's arguments.
func inputSchema(t reflect.Type) json.RawMessage { return inputSchemaWith(t, nil) }

// inputSchemaWith is inputSchema with defaults, by property and in JSON, besides
// those of the tags.
func inputSchemaWith(t reflect.Type, defaults map[string]string) json.RawMessage {
	w := schemaWriter{input: true, defaults: defaults}
	w.object(t)
	return w.Bytes()
}

// outputSchema is the JSON schema of a tool's structured content.
func outputSchema(t reflect.Type) json.RawMessage {
	var w schemaWriter
	w.object(t)
	return w.Bytes()
}

type schemaWriter struct {
	bytes.Buffer
	input    bool
	defaults map[string]string
}

func (w *schemaWriter) object(t reflect.Type) {
	w.WriteString(`{"type":"object","properties":{`)
	var required []string
	for i, f := range fieldsOf(t) {
		if i > 0 {
			w.WriteByte(',')
		}
		fmt.Fprintf(w, "%q:{", f.name)
		w.field(f)
		w.WriteByte('}')
		if !f.optional {
			required = append(required, f.name)
		}
	}
	w.WriteByte('}')
	if w.input {
		if len(required) > 0 {
			w.WriteString(`,"required":`)
			w.json(required)
		}
		w.WriteString(`,"additionalProperties":false`)
	}
	w.WriteByte('}')
}

func (w *schemaWriter) field(f field) {
	nullable := f.typ.Kind() == reflect.Pointer && !w.input
	w.typ(elem(f.typ), nullable)
	if f.enum != nil {
		w.WriteString(`,"enum":`)
		w.json(f.enum)
	}
	if f.min != nil {
		fmt.Fprintf(w, `,"minimum":%v`, *f.min)
	}
	if def := cmp.Or(w.defaults[f.name], f.def); def != "" {
		w.WriteString(`,"default":` + def)
	}
	if f.desc != "" {
		w.WriteString(`,"description":`)
		w.json(f.desc)
	}
}

var timeType = reflect.TypeFor[time.Time]()

// typ writes the schema of a type, without the braces around it.
func (w *schemaWriter) typ(t reflect.Type, nullable bool) {
	if s, ok := reflect.Zero(t).Interface().(schemaText); ok {
		w.WriteString(s.schema())
		return
	}
	name := func(name string) {
		if nullable {
			fmt.Fprintf(w, `"type":[%q,"null"]`, name)
		} else {
			fmt.Fprintf(w, `"type":%q`, name)
		}
	}
	switch t.Kind() {
	case reflect.String:
		name("string")
	case reflect.Bool:
		name("boolean")
	case reflect.Int, reflect.Int64:
		name("integer")
	case reflect.Float64:
		name("number")
	case reflect.Slice:
		name("array")
		w.WriteString(`,"items":{`)
		if t.Elem().Kind() == reflect.Struct && t.Elem() != timeType {
			w.Truncate(w.Len() - 1)
			w.object(t.Elem())
			return
		}
		w.typ(t.Elem(), false)
		w.WriteByte('}')
	case reflect.Map:
		name("object")
		if t.Elem().Kind() != reflect.Interface {
			w.WriteString(`,"additionalProperties":{`)
			w.typ(t.Elem(), false)
			w.WriteByte('}')
		}
	case reflect.Struct:
		if t == timeType {
			name("string")
			w.WriteString(`,"format":"date-time"`)
			return
		}
		var inner schemaWriter
		inner.input = w.input
		inner.object(t)
		text := inner.Bytes()
		if nullable {
			text = bytes.Replace(text, []byte(`"type":"object"`), []byte(`"type":["object","null"]`), 1)
		}
		w.Write(text[1 : len(text)-1])
	case reflect.Interface: // any value
	default:
		panic(fmt.Sprintf("server: no schema for type %s", t))
	}
}

func (w *schemaWriter) json(v any) {
	text, err := marshal(v)
	if err != nil {
		panic(err)
	}
	w.Write(text)
}

// propertyNames are the names of a struct's properties, sorted.
func propertyNames(t reflect.Type) []string {
	var names []string
	for _, f := range fieldsOf(t) {
		names = append(names, f.name)
	}
	slices.Sort(names)
	return names
}
