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
	Brief    bool // the tag brief: what it holds is described elsewhere, apart from what is required
	min      *float64
}

var fieldCache sync.Map // reflect.Type → []Field

// FieldsOf lists the properties of a struct type.
func FieldsOf(t reflect.Type) []Field {
	if f, ok := fieldCache.Load(t); ok {
		return f.([]Field)
	}
	fields := make([]Field, 0, t.NumField())
	for i := range t.NumField() {
		sf := t.Field(i)
		if sf.Anonymous && sf.Tag.Get("json") == "" {
			inner := FieldsOf(sf.Type)
			fields = slices.Grow(fields, len(inner)+t.NumField()-i)
			for _, f := range inner {
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
			Exact: sf.Tag.Get("exact") == "true", Unlisted: sf.Tag.Get("unlisted") == "true", Brief: sf.Tag.Get("brief") == "true"}
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
	w := schemas{input: true, defaults: defaults}
	w.object(t, false)
	return w.schema()
}

// OutputSchema returns the JSON schema of a tool's structured content.
func OutputSchema(t reflect.Type) json.RawMessage {
	var w schemas
	w.object(t, false)
	return w.schema()
}

// schemas are written without their enclosing braces.
type schemas struct {
	strings.Builder
	input    bool
	defaults map[string]string // of the outermost object
	brief    bool              // in what is described elsewhere
}

func (w *schemas) schema() json.RawMessage { return json.RawMessage("{" + w.String() + "}") }

func (w *schemas) write(texts ...string) {
	for _, text := range texts {
		w.WriteString(text)
	}
}

func (w *schemas) object(t reflect.Type, nullable bool) {
	defaults := w.defaults
	w.defaults = nil
	var required []string
	w.write(typeNamed("object", nullable), `,"properties":{`)
	comma, closed := "", w.input
	for _, f := range FieldsOf(t) {
		if w.input && f.Unlisted {
			closed = false // clients check arguments against the schema: it must not forbid this one
			continue
		}
		w.write(comma, strconv.Quote(f.Name), ":{")
		w.field(f, defaults[f.Name])
		w.write("}")
		comma = ","
		if !f.Optional {
			required = append(required, f.Name)
		}
	}
	w.write("}")
	if w.input && required != nil {
		w.write(`,"required":`, jsonOf(required))
	}
	if closed {
		w.write(`,"additionalProperties":false`)
	}
}

func (w *schemas) field(f Field, def string) {
	brief := w.brief
	w.brief = brief || f.Brief
	w.typ(Elem(f.Type), f.Type.Kind() == reflect.Pointer && !w.input)
	w.brief = brief
	if f.Enum != nil {
		w.write(`,"enum":`, jsonOf(f.Enum))
	}
	if f.min != nil {
		fmt.Fprintf(w, `,"minimum":%v`, *f.min)
	}
	if def = cmp.Or(def, f.Default); def != "" {
		w.write(`,"default":`, def)
	}
	if f.Desc != "" && !(brief && f.Optional) {
		w.write(`,"description":`, jsonOf(f.Desc))
	}
}

var (
	timeType  = reflect.TypeFor[time.Time]()
	typeNames = map[reflect.Kind]string{
		reflect.String: "string", reflect.Bool: "boolean", reflect.Int: "integer", reflect.Int64: "integer", reflect.Float64: "number",
	}
)

func (w *schemas) typ(t reflect.Type, nullable bool) {
	if s, ok := reflect.Zero(t).Interface().(Schema); ok {
		w.write(s.JSONSchema())
		return
	}
	switch kind := t.Kind(); {
	case t == timeType:
		w.write(typeNamed("string", nullable), `,"format":"date-time"`)
	case kind == reflect.Struct:
		w.object(t, nullable)
	case kind == reflect.Slice:
		w.write(typeNamed("array", nullable), `,"items":{`)
		w.typ(t.Elem(), false)
		w.write("}")
	case kind == reflect.Map && t.Elem().Kind() == reflect.Interface:
		w.write(typeNamed("object", nullable))
	case kind == reflect.Map:
		w.write(typeNamed("object", nullable), `,"additionalProperties":{`)
		w.typ(Elem(t.Elem()), t.Elem().Kind() == reflect.Pointer)
		w.write("}")
	case kind == reflect.Interface: // any value
	default:
		name, ok := typeNames[kind]
		if !ok {
			panic(fmt.Sprintf("params: no schema for type %s", t))
		}
		w.write(typeNamed(name, nullable))
	}
}

func typeNamed(name string, nullable bool) string {
	if nullable {
		return `"type":["` + name + `","null"]`
	}
	return `"type":"` + name + `"`
}

func jsonOf(v any) string {
	text, err := Marshal(v)
	if err != nil {
		panic(err)
	}
	return string(text)
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

// Listed returns the names that the schema of inputs has, sorted.
func Listed(t reflect.Type) []string {
	var names []string
	for _, f := range FieldsOf(t) {
		if !f.Unlisted {
			names = append(names, f.Name)
		}
	}
	slices.Sort(names)
	return names
}

// Schema returns the schema of the field's type and default.
func (f Field) Schema(input bool) json.RawMessage {
	w := schemas{input: input}
	w.field(Field{Type: f.Type, Default: f.Default}, "")
	return w.schema()
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
