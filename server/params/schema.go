package params

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

// Field is a property of an input or output.
type Field struct {
	Name     string
	Index    []int // for [reflect.Value.FieldByIndex]
	Type     reflect.Type
	Desc     string
	Default  string // JSON
	Enum     []string
	Optional bool
	Exact    bool // the tag exact
	Unlisted bool // the tag unlisted: accepted, but not in the schema of inputs
	min      *float64
}

var fieldCache sync.Map // reflect.Type → []Field

// FieldsOf lists the properties of a struct type.
func FieldsOf(t reflect.Type) []Field {
	if f, ok := fieldCache.Load(t); ok {
		return f.([]Field)
	}
	var fields []Field
	for i := range t.NumField() {
		sf := t.Field(i)
		if sf.Anonymous && sf.Tag.Get("json") == "" {
			for _, f := range FieldsOf(sf.Type) {
				f.Index = append([]int{i}, f.Index...)
				fields = append(fields, f)
			}
			continue
		}
		name, options, _ := strings.Cut(sf.Tag.Get("json"), ",")
		if name == "" || name == "-" {
			continue
		}
		f := Field{Name: name, Index: []int{i}, Type: sf.Type, Desc: sf.Tag.Get("desc"), Optional: options == "omitempty",
			Exact: sf.Tag.Get("exact") == "true", Unlisted: sf.Tag.Get("unlisted") == "true"}
		if d, ok := sf.Tag.Lookup("default"); ok {
			f.Default, f.Optional = d, true
			if Elem(sf.Type).Kind() == reflect.String {
				f.Default = strconv.Quote(d)
			}
		}
		if e := sf.Tag.Get("enum"); e != "" {
			f.Enum = strings.Split(e, ",")
		}
		if m := sf.Tag.Get("min"); m != "" {
			n, err := strconv.ParseFloat(m, 64)
			if err != nil {
				panic(fmt.Sprintf("params: min of %s.%s: %v", t, sf.Name, err))
			}
			f.min = &n
		}
		fields = append(fields, f)
	}
	fieldCache.Store(t, fields)
	return fields
}

// Elem returns the type that a pointer points to, or the type itself.
func Elem(t reflect.Type) reflect.Type {
	if t.Kind() == reflect.Pointer {
		return t.Elem()
	}
	return t
}

// Schema is implemented by types whose JSON schema does not follow from their Go type.
type Schema interface {
	// JSONSchema returns the inside of a JSON object, such as `"type":"string"`.
	JSONSchema() string
}

// InputSchema returns the JSON schema of a tool's arguments. defaults, as JSON by property,
// take precedence over those in the tags; it may be nil.
func InputSchema(t reflect.Type, defaults map[string]string) json.RawMessage {
	w := schemaWriter{input: true, defaults: defaults}
	w.object(t)
	return w.Bytes()
}

// OutputSchema returns the JSON schema of a tool's structured content.
func OutputSchema(t reflect.Type) json.RawMessage {
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
	first := true
	for _, f := range FieldsOf(t) {
		if w.input && f.Unlisted {
			continue
		}
		if !first {
			w.WriteByte(',')
		}
		first = false
		fmt.Fprintf(w, "%q:{", f.Name)
		w.field(f)
		w.WriteByte('}')
		if !f.Optional {
			required = append(required, f.Name)
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

func (w *schemaWriter) field(f Field) {
	nullable := f.Type.Kind() == reflect.Pointer && !w.input
	w.typ(Elem(f.Type), nullable)
	if f.Enum != nil {
		w.WriteString(`,"enum":`)
		w.json(f.Enum)
	}
	if f.min != nil {
		fmt.Fprintf(w, `,"minimum":%v`, *f.min)
	}
	if def := cmp.Or(w.defaults[f.Name], f.Default); def != "" {
		w.WriteString(`,"default":` + def)
	}
	if f.Desc != "" {
		w.WriteString(`,"description":`)
		w.json(f.Desc)
	}
}

var timeType = reflect.TypeFor[time.Time]()

// typ writes the schema of a type without the enclosing braces.
func (w *schemaWriter) typ(t reflect.Type, nullable bool) {
	if s, ok := reflect.Zero(t).Interface().(Schema); ok {
		w.WriteString(s.JSONSchema())
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
		panic(fmt.Sprintf("params: no schema for type %s", t))
	}
}

func (w *schemaWriter) json(v any) {
	text, err := Marshal(v)
	if err != nil {
		panic(err)
	}
	w.Write(text)
}

// Names returns the names of a struct's properties, sorted.
func Names(t reflect.Type) []string {
	var names []string
	for _, f := range FieldsOf(t) {
		names = append(names, f.Name)
	}
	slices.Sort(names)
	return names
}

// Schema returns the schema of the field's type and default.
func (f Field) Schema(input bool) json.RawMessage {
	w := schemaWriter{input: input}
	w.WriteByte('{')
	w.field(Field{Type: f.Type, Default: f.Default})
	w.WriteByte('}')
	return w.Bytes()
}

// Marshal is json.Marshal without HTML escapes, which would only cost bytes.
func Marshal(v any) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), nil
}
