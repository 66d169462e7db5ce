package tmux_test

import (
	"errors"
	"strings"
	"testing"

	"tmuxmcp/tmux"
	"tmuxmcp/tmux/tmuxtest"
)

func TestDisplayAtEveryLevel(t *testing.T) {
	t.Parallel()
	srv, ctx := started(t), tmuxtest.Context(t)
	tmuxtest.Run(t, srv, "new-window", "-d", "-t", "main:7", "-n", "other")
	tmuxtest.Run(t, srv, "new-session", "-d", "-s", "two")
	// A window linked twice, once into the same session.
	tmuxtest.Run(t, srv, "link-window", "-d", "-s", "main:7", "-t", "main:9")
	id := tmuxtest.Run(t, srv, "display-message", "-p", "-t", "main:7", "#{window_id} #{pane_id}")
	window, pane, _ := strings.Cut(id, " ")
	for what, show := range map[string]func(tmux.Format) (string, error){
		"#{socket_path}=" + srv.SocketPath(): func(f tmux.Format) (string, error) { return srv.Display(ctx, f) },
		"#{session_name}=two":                func(f tmux.Format) (string, error) { return srv.Session("$1").Display(ctx, f) },
		"#{window_id} #{window_name}=" + window + " other": func(f tmux.Format) (string, error) {
			return srv.Window(tmux.WindowID(window)).Display(ctx, f)
		},
		"#{pane_id} #{session_name}=" + pane + " main": func(f tmux.Format) (string, error) { return srv.Pane(tmux.PaneID(pane)).Display(ctx, f) },
	} {
		format, want, _ := strings.Cut(what, "=")
		equal(t, format, want, must[string](t)(show(tmux.Format(format))))
	}
}

func TestDisplayOddFormats(t *testing.T) {
	t.Parallel()
	srv, ctx := started(t), tmuxtest.Context(t)
	for format, want := range map[tmux.Format]string{
		"": "", "plain": "plain", "}": "}", "a}#{pane_id}}": "a}%0}", "#": "#", "##": "#", "#S": "main", "a,b": "a,b", "#{pane_id": "", "x#{==:a,a}#": "x1#",
		"#{?pane_id,#{?window_id,in}},out}": "", "%H %%": "%H %%", "#{t/f/%Y:start_time}": "", "-x": "-x", "\n\n": "\n\n", `\n\\`: `\n\\`, "no such: #{nope}": "no such: ",
	} {
		got, err := srv.Pane("%0").Display(ctx, format)
		switch {
		case err != nil:
			t.Errorf("%q: %v", format, err)
		case format == "#{t/f/%Y:start_time}":
			equal(t, "digits of a year", 4, len(got))
		case format == "#{?pane_id,#{?window_id,in}},out}" || format == "#{pane_id":
			// Not well formed; an answer is enough.
		case got != want:
			t.Errorf("%q is %q, want %q", format, got, want)
		}
	}
	v := must[tmux.Version](t)(srv.Version(ctx))
	// On 3.2a this would end the server.
	isOld := errors.Is(second(srv.Pane("%0").Display(ctx, "#{client_activity}")), tmux.ErrUnsupported)
	equal(t, "a client's time in a pane's format is refused", v.Minor == 2, isOld)
	must[string](t)(srv.Display(ctx, "#{pid}"))
}

func TestDisplayOfAClient(t *testing.T) {
	t.Parallel()
	srv, ctx := started(t), tmuxtest.Context(t)
	client := control(t, srv)
	got := must[string](t)(client.Display(ctx, "#{client_control_mode} #{client_session} #{pane_id}\n#{client_name}"))
	equal(t, "displayed", "1 main %0\n"+client.Name, got)
	part := srv.Client(client.Name[:len(client.Name)-1])
	isKind(t, "a name that is not whole", second(part.Display(ctx, "x")), tmux.ErrNotFound)
	ok(t, second(client.Display(ctx, "#{client_activity}")))
}
