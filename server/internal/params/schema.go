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
	return json.RawMessage("{" + schemas{input: true, defaults: defaults}.object(t, false) + "}")
}

// OutputSchema returns the JSON schema of a tool's structured content.
func OutputSchema(t reflect.Type) json.RawMessage {
	return json.RawMessage("{" + schemas{}.object(t, false) + "}")
}

// schemas are written without their enclosing braces.
type schemas struct {
	input    bool
	defaults map[string]string
}

func (w schemas) object(t reflect.Type, nullable bool) string {
	var properties, required []string
	for _, f := range FieldsOf(t) {
		if w.input && f.Unlisted {
			continue
		}
		properties = append(properties, fmt.Sprintf("%q:{%s}", f.Name, w.field(f)))
		if !f.Optional {
			required = append(required, f.Name)
		}
	}
	s := typeNamed("object", nullable) + `,"properties":{` + strings.Join(properties, ",") + "}"
	if w.input && required != nil {
		s += `,"required":` + jsonOf(required)
	}
	if w.input {
		s += `,"additionalProperties":false`
	}
	return s
}

func (w schemas) field(f Field) string {
	s := schemas{input: w.input}.typ(Elem(f.Type), f.Type.Kind() == reflect.Pointer && !w.input)
	if f.Enum != nil {
		s += `,"enum":` + jsonOf(f.Enum)
	}
	if f.min != nil {
		s += fmt.Sprintf(`,"minimum":%v`, *f.min)
	}
	if def := cmp.Or(w.defaults[f.Name], f.Default); def != "" {
		s += `,"default":` + def
	}
	if f.Desc != "" {
		s += `,"description":` + jsonOf(f.Desc)
	}
	return s
}

var (
	timeType  = reflect.TypeFor[time.Time]()
	typeNames = map[reflect.Kind]string{
		reflect.String: "string", reflect.Bool: "boolean", reflect.Int: "integer", reflect.Int64: "integer", reflect.Float64: "number",
	}
)

func (w schemas) typ(t reflect.Type, nullable bool) string {
	if s, ok := reflect.Zero(t).Interface().(Schema); ok {
		return s.JSONSchema()
	}
	switch kind := t.Kind(); {
	case t == timeType:
		return typeNamed("string", nullable) + `,"format":"date-time"`
	case kind == reflect.Struct:
		return w.object(t, nullable)
	case kind == reflect.Slice:
		return typeNamed("array", nullable) + `,"items":{` + w.typ(t.Elem(), false) + "}"
	case kind == reflect.Map && t.Elem().Kind() == reflect.Interface:
		return typeNamed("object", nullable)
	case kind == reflect.Map:
		return typeNamed("object", nullable) + `,"additionalProperties":{` + w.typ(t.Elem(), false) + "}"
	case kind == reflect.Interface: // any value
		return ""
	}
	name, ok := typeNames[t.Kind()]
	if !ok {
		panic(fmt.Sprintf("params: no schema for type %s", t))
	}
	return typeNamed(name, nullable)
}

func typeNamed(name string, nullable bool) string {
	if nullable {
		return fmt.Sprintf(`"type":[%q,"null"]`, name)
	}
	return fmt.Sprintf(`"type":%q`, name)
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

// Schema returns the schema of the field's type and default.
func (f Field) Schema(input bool) json.RawMessage {
	return json.RawMessage("{" + schemas{input: input}.field(Field{Type: f.Type, Default: f.Default}) + "}")
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
