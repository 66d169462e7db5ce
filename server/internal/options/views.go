package options

import (
	"maps"
	"slices"
	"strconv"
	"strings"

	"tmuxmcp/server/internal/reply"
)

func (l hookList) View() reply.View {
	var v reply.View
	v.Fact("%s", reply.Count(len(l.Entries), "hook"))
	v.FactIf(l.Target != nil, "of %s", reply.ValueOr(l.Target, ""))
	v.Head = true
	for _, e := range l.Entries {
		name := e.HookName
		if e.Index != nil {
			name += "[" + strconv.Itoa(*e.Index) + "]"
		}
		v.Lines = append(v.Lines, name+" "+reply.OneLine(e.Command))
	}
	return v
}

func (o optionInfo) View() reply.View {
	var v reply.View
	v.Fact("%s", o.Option)
	switch value := o.Value.v.(type) {
	case string:
		v.Lines = strings.Split(value, "\n")
	case map[string]string:
		for _, i := range slices.Sorted(maps.Keys(value)) {
			v.Lines = append(v.Lines, i+" "+reply.OneLine(value[i]))
		}
	}
	switch {
	case o.Scope == nil:
		v.Fact("not set")
	case o.Inherited:
		v.Fact("inherited from %s", *o.Scope)
	default:
		v.Fact("%s", *o.Scope)
	}
	v.FactIf(o.Target != nil, "asked for %s", reply.ValueOr(o.Target, ""))
	return v
}

func (o optionSet) View() reply.View {
	v := o.optionInfo.View()
	v.Extend("%s", o.Status)
	return v
}

func (e environmentInfo) View() reply.View {
	var v reply.View
	v.Fact("%s", reply.Count(len(e.Variables), "variable"))
	v.FactIf(e.SessionID != nil, "of session %s", reply.ValueOr(e.SessionID, ""))
	v.Head = true
	for _, name := range slices.Sorted(maps.Keys(e.Variables)) {
		if value := e.Variables[name]; value != nil {
			name += "=" + reply.OneLine(*value)
		}
		v.Lines = append(v.Lines, name)
	}
	for _, name := range e.Removed {
		v.Lines = append(v.Lines, "-"+name)
	}
	return v
}
