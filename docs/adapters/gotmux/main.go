// Command gotmuxadapter lets mcp-conform test gotmux. docs/adapters.md has the protocol.
//
//	go build -C docs/adapters/gotmux -o /tmp/gotmux-adapter .
//	mcp-conform --api /tmp/gotmux-adapter
package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"reflect"
	"regexp"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"

	"github.com/GianlucaP106/gotmux/gotmux"
)

const ofGotmux, noMethod, noArgument, notListed = 1, -32601, -32602, -32001 // codes of errors

// offered are the verbs that gotmux has a method for: the method, and the parameters it takes.
var offered = map[string][]string{
	"describe": {"", "protocol"}, "open": {"DefaultTmux", "tmux", "socket", "version"}, "get": {"", "target"},
	"list": {"Tmux.ListAllPanes and the like", "kind", "within"}, "send_keys": {"Pane.SendKeys", "pane", "keys"},
	"capture": {"Pane.CapturePane", "pane"}, "new_session": {"Tmux.NewSession", "name"},
	"select_window": {"Window.Select", "session", "window"}, "command": {"Tmux.Command", "target", "name", "args"},
}

type (
	object  map[string]any
	failure map[string]any // the error of an answer, which verbs panic with
	params  struct {
		Target, Kind, Within, Pane, Name, Session, Window string
		Keys, Args                                        []string
	}
)

func fail(code int, format string, args ...any) {
	panic(failure{"code": code, "message": fmt.Sprintf(format, args...)})
}

// must returns what gotmux did, unless that is an error, or nil for one.
func must[T any](value T, err error) T {
	if err != nil {
		data := object{"type": fmt.Sprintf("%T", err)}
		if exit := (*exec.ExitError)(nil); errors.As(err, &exit) {
			data["stderr"], data["exit_code"] = string(exit.Stderr), exit.ExitCode()
		}
		panic(failure{"code": ofGotmux, "message": err.Error(), "data": data})
	}
	if v := reflect.ValueOf(value); v.Kind() == reflect.Pointer && v.IsNil() {
		fail(ofGotmux, "nil")
	}
	return value
}

// adapter has what a program would hold: the server, and the objects that it has found.
type adapter struct {
	tmux *gotmux.Tmux
	kept map[string]any
}

// find finds an object when its id is first named, and keeps it. gotmux has no method that finds
// a session or a client by its id, but lists of them.
func (a *adapter) find(id string) any {
	switch {
	case a.kept[id] != nil:
	case id == "server":
		a.kept[id] = must(a.tmux.GetServerInformation())
	case id[0] == '%':
		a.kept[id] = must(a.tmux.GetPaneById(id))
	case id[0] == '@':
		a.kept[id] = must(a.tmux.GetWindowById(id))
	case id[0] == '$':
		a.kept[id] = among(must(a.tmux.ListSessions()), func(s *gotmux.Session) bool { return s.Id == id })
	default:
		a.kept[id] = among(must(a.tmux.ListClients()), func(c *gotmux.Client) bool { return c.Name == id })
	}
	return a.kept[id]
}

func among[T any](all []*T, is func(*T) bool) *T {
	i := slices.IndexFunc(all, is)
	if i < 0 {
		fail(notListed, "none of the list")
	}
	return all[i]
}

// row has all fields by the names of tmux's tokens: a Pane's CurrentPath is pane_current_path.
func row(o any) object {
	r, v, inner := object{}, reflect.ValueOf(o).Elem(), regexp.MustCompile(`(.)([A-Z])`)
	kind := strings.TrimPrefix(v.Type().Name()+"_", "Server_")
	for _, f := range reflect.VisibleFields(v.Type()) {
		if f.IsExported() {
			r[strings.ToLower(kind+inner.ReplaceAllString(f.Name, "${1}_$2"))] = v.FieldByIndex(f.Index).Interface()
		}
	}
	if s, is := r["socket"].(*gotmux.Socket); is {
		delete(r, "socket")
		if r["socket_path"] = nil; s != nil {
			r["socket_path"] = s.Path
		}
	}
	return r
}

// list calls an object's method of that name, if it has one.
func list(of any, name string) object {
	method := reflect.ValueOf(of).MethodByName(name)
	if !method.IsValid() {
		fail(noMethod, "no %s.%s", reflect.TypeOf(of).Elem().Name(), name)
	}
	returned, rows := method.Call(nil), []object{}
	err, _ := returned[1].Interface().(error)
	for i := range must(returned[0].Len(), err) {
		rows = append(rows, row(returned[0].Index(i).Interface()))
	}
	return object{"rows": rows}
}

func (a *adapter) ask(verb string, p params) object {
	switch verb {
	case "describe":
		build, _ := debug.ReadBuildInfo()
		version := strings.TrimPrefix(build.Deps[0].Version, "v")
		return object{"protocol": 1, "name": "gotmux", "version": version, "language": "go", "url": "https://" + build.Deps[0].Path}
	case "open": // with NewTmux, which takes a socket, GetServerInformation does not work
		a.tmux = must(gotmux.DefaultTmux())
	case "get": // gotmux has no method that refreshes an object, so it is found again
		delete(a.kept, p.Target)
		return object{"row": row(a.find(p.Target))}
	case "list":
		kind := strings.ToUpper(p.Kind[:1]) + p.Kind[1:]
		if p.Within != "" && p.Within != "server" {
			return list(a.find(p.Within), "List"+kind)
		} else if kind == "Panes" || kind == "Windows" {
			kind = "All" + kind
		}
		return list(a.tmux, "List"+kind)
	case "send_keys":
		if len(p.Keys) != 1 {
			fail(noArgument, "no argument for %d keys of Pane.SendKeys", len(p.Keys))
		}
		must(0, a.find(p.Pane).(*gotmux.Pane).SendKeys(p.Keys[0]))
	case "capture":
		return object{"value": must(a.find(p.Pane).(*gotmux.Pane).CapturePane(nil))}
	case "new_session":
		return object{"row": row(must(a.tmux.NewSession(&gotmux.SessionOptions{Name: p.Name})))}
	case "select_window":
		index, _ := strconv.Atoi(p.Window)
		must(0, must(a.find(p.Session).(*gotmux.Session).GetWindowByIndex(index)).Select())
	case "command":
		if p.Target != "server" {
			fail(noMethod, "no method of an object that runs a command")
		}
		return object{"value": must(a.tmux.Command(append([]string{p.Name}, p.Args...)...))}
	}
	return object{}
}

func (a *adapter) answer(verb string, raw json.RawMessage) (answer object) {
	defer func() {
		if r := recover(); r != nil {
			answer = object{"error": r.(failure)} // a panic with anything else is a crash of gotmux
		}
	}()
	if offered[verb] == nil {
		fail(noMethod, "no method for %s", verb)
	}
	given, p := map[string]any{}, params{}
	_, _ = json.Unmarshal(raw, &given), json.Unmarshal(raw, &p)
	for _, name := range slices.Sorted(maps.Keys(given)) {
		if !slices.Contains(offered[verb][1:], name) {
			fail(noArgument, "no argument %s of %s", name, offered[verb][0])
		}
	}
	return object{"result": a.ask(verb, p)}
}

func main() {
	in, out, a := json.NewDecoder(os.Stdin), json.NewEncoder(os.Stdout), adapter{kept: map[string]any{}}
	os.Stdout = os.Stderr // standard output is for messages
	for {
		var request struct{ ID, Method, Params json.RawMessage }
		if in.Decode(&request) != nil {
			return
		}
		answer := a.answer(strings.Trim(string(request.Method), `"`), request.Params)
		answer["jsonrpc"], answer["id"] = "2.0", request.ID
		out.Encode(answer)
	}
}
