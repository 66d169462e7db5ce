package server

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/mark3labs/mcp-go/mcp"
	mcpserver "github.com/mark3labs/mcp-go/server"

	"tmuxmcp/server/internal/reply"
	"tmuxmcp/server/internal/stdio"
	"tmuxmcp/tmux"
)

// A client may ask to be notified when a resource changes: with resources/subscribe or,
// from revision 2026-07-28 on, with subscriptions/listen. This attaches no tmux client:
// each tmux server is followed by a goroutine, which looks at panes when they print and
// rereads everything else at intervals.

// maxSubscriptions bounds the subscriptions of all clients.
const maxSubscriptions = 200

const (
	// followInterval is the time between two notifications for a pane that prints
	// continuously.
	followInterval = 250 * time.Millisecond
	// leastReading is the minimum time between two readings of something unannounced.
	leastReading = time.Second
)

// subscriptions are what clients are subscribed to. The zero value is ready to use.
type subscriptions struct {
	mu  sync.Mutex
	all map[subscriber]*subscription
	// changed has an entry for each tmux server that is followed, by socket, to be called
	// when its subscriptions change.
	changed map[string]context.CancelFunc
}

// subscriber is who is subscribed to a resource: a session, or a stream of one.
type subscriber struct {
	who any
	uri string
}

// subscription is a resource that is followed.
type subscription struct {
	socket  string
	read    func(ctx context.Context) (string, error)
	updated func()
	pane    tmux.PaneID // pane whose output may change it
	// drawn is set if nothing else can.
	drawn bool
	last  string
	due   time.Time // next reading, unless drawn
	over  atomic.Bool
}

// check reads the resource, within a time limit, and notifies the client if it has changed.
func (b *subscription) check(ctx context.Context, limit time.Duration) {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	text, err := b.read(ctx)
	if err != nil {
		text = "\x00" + err.Error() // becoming unreadable is a change
	}
	if ctx.Err() == nil && !errors.Is(err, tmux.ErrExhausted) && text != b.last && !b.over.Load() {
		b.last = text
		b.updated()
	}
}

// subscribe calls updated when a resource changes, until unsubscribe. The resource must
// exist. Subscribing twice makes one subscription.
func (s *Server) subscribe(ctx context.Context, who any, uri string, updated func()) error {
	var vars map[string]string
	i := slices.IndexFunc(s.resources, func(r resource) (ok bool) { vars, ok = r.variables(uri); return ok })
	if i < 0 {
		return mcpserver.ErrResourceNotFound
	}
	r := s.resources[i]
	srv, err := s.sockets.Get(vars["socket_name"])
	if err != nil {
		return err
	}
	b := &subscription{
		socket:  srv.SocketPath(),
		read:    func(ctx context.Context) (string, error) { return s.readResource(ctx, r, vars) },
		updated: updated, pane: tmux.PaneID(vars["pane_id"]), drawn: r.drawn,
	}
	if b.last, err = b.read(ctx); err != nil {
		return err
	}

	all := &s.subscriptions
	all.mu.Lock()
	defer all.mu.Unlock()
	switch {
	case ctx.Err() != nil: // nobody would end it
		return context.Cause(ctx)
	case all.all[subscriber{who, uri}] != nil:
		return nil
	case len(all.all) >= maxSubscriptions:
		return reply.Faultf(reply.KindRefused, "too many subscriptions (limit %d)", maxSubscriptions)
	case all.all == nil:
		all.all, all.changed = map[subscriber]*subscription{}, map[string]context.CancelFunc{}
	}
	all.all[subscriber{who, uri}] = b
	if changed := all.changed[b.socket]; changed != nil {
		changed()
	} else {
		all.changed[b.socket] = func() {}
		go s.follow(srv)
	}
	return nil
}

// unsubscribe ends a subscription; if the URI is empty, all subscriptions of who.
func (s *Server) unsubscribe(who any, uri string) {
	all := &s.subscriptions
	all.mu.Lock()
	defer all.mu.Unlock()
	for k, b := range all.all {
		if k.who == who && (uri == "" || k.uri == uri) {
			b.over.Store(true) // it may be being read right now
			delete(all.all, k)
			all.changed[b.socket]()
		}
	}
}

// on returns the subscriptions on a tmux server, and a context that ends when they change.
// If there are none, the server is no longer followed.
func (all *subscriptions) on(socket string) (subs []*subscription, unchanged context.Context) {
	all.mu.Lock()
	defer all.mu.Unlock()
	for _, b := range all.all {
		if b.socket == socket {
			subs = append(subs, b)
		}
	}
	all.changed[socket]() // end the previous context
	if subs == nil {
		delete(all.changed, socket)
		return nil, nil
	}
	unchanged, all.changed[socket] = context.WithCancel(context.Background())
	return subs, unchanged
}

// follow follows the resources of a tmux server until there are no subscriptions.
func (s *Server) follow(srv *tmux.Server) {
	ctx := context.Background()
	watch := srv.Watch(ctx, s.followInterval)
	defer watch.Close()
	screens := map[tmux.PaneID]*lastScreen{}
	for {
		subs, unchanged := s.subscriptions.on(srv.SocketPath())
		if subs == nil {
			return
		}
		panes := map[tmux.PaneID]bool{}
		next := time.Now().Add(time.Minute)
		for _, b := range subs {
			if !b.drawn && b.due.Before(next) {
				next = b.due
			}
			panes[b.pane] = true
			if b.pane != "" && screens[b.pane] == nil {
				screens[b.pane] = &lastScreen{unread: true}
			}
		}
		for id, shown := range screens {
			if !panes[id] {
				watch.Forget(id)
				delete(screens, id)
			} else if shown.unread && shown.due.Before(next) {
				next = shown.due
			}
		}
		printed, _ := watch.Next(unchanged, next) // an error means that they have changed
		drawn := map[tmux.PaneID]bool{}
		for id, shown := range screens {
			if slices.Contains(printed, id) || shown.unread && !time.Now().Before(shown.due) {
				drawn[id] = s.look(ctx, srv.Pane(id), watch, shown)
			}
		}
		pause := max(s.leastReading, time.Duration(len(subs))*s.leastReading/50)
		for _, b := range subs {
			if drawn[b.pane] || !b.drawn && !time.Now().Before(b.due) {
				b.check(ctx, s.screens.LookTime)
				b.due = time.Now().Add(pause)
			}
		}
	}
}

// lastScreen is what a pane showed at the last look.
type lastScreen struct {
	text   string    // or the error of the look
	unread bool      // no look yet, or it failed
	due    time.Time // time of the next attempt
}

// look looks at a pane, and reports whether it has changed since the last look.
func (s *Server) look(ctx context.Context, pane tmux.PaneRef, watch *tmux.Watcher, shown *lastScreen) (changed bool) {
	ctx, cancel := context.WithTimeout(ctx, s.screens.LookTime)
	defer cancel()
	began, was := time.Now(), shown.text
	l, err := pane.Look(ctx, nil)
	if shown.unread = err != nil; shown.unread {
		watch.Forget(pane.ID)
		shown.text, shown.due = err.Error(), time.Now().Add(s.leastReading)
		return shown.text != was
	}
	shown.text = fmt.Sprintf("%dx%d %q", l.Width, l.Height, l.Lines())
	watch.Looked(l.PaneState, began, shown.text != was)
	return shown.text != was
}

// addSubscriptions makes mcp-go pass on the subscriptions of clients.
func (s *Server) addSubscriptions(hooks *mcpserver.Hooks) {
	hooks.AddAfterSubscribe(func(ctx context.Context, id any, req *mcp.SubscribeRequest, _ *mcp.EmptyResult) {
		uri := req.Params.URI
		err := s.subscribe(ctx, mcpserver.ClientSessionFromContext(ctx), uri, func() {
			stdio.Notify(context.WithoutCancel(ctx), mcp.MethodNotificationResourceUpdated, map[string]any{"uri": uri})
		})
		if err != nil {
			stdio.KeepError(ctx, id, mcp.MethodResourcesSubscribe, req, err)
		}
	})
	hooks.AddAfterUnsubscribe(func(ctx context.Context, _ any, req *mcp.UnsubscribeRequest, _ *mcp.EmptyResult) {
		s.unsubscribe(mcpserver.ClientSessionFromContext(ctx), req.Params.URI)
	})
	hooks.AddOnUnregisterSession(func(_ context.Context, session mcpserver.ClientSession) {
		s.unsubscribe(session, "")
	})
	hooks.AddBeforeSubscriptionsListen(s.listen)
	hooks.AddAfterSubscriptionsListen(func(ctx context.Context, _ any, _ *mcp.SubscriptionsListenRequest, r *mcp.SubscriptionsListenResult) {
		r.EnsureResultMeta().SetSubscriptionID(stdio.RequestID(ctx))
	})
}

// listen subscribes a stream to resources for as long as its request runs. Before sending
// anything else on the stream, it acknowledges the subscriptions, even if there are none.
func (s *Server) listen(ctx context.Context, _ any, req *mcp.SubscriptionsListenRequest) {
	acknowledged := make(chan struct{})
	of := map[string]any{mcp.MetaKeySubscriptionID: stdio.RequestID(ctx)}
	var honoured mcp.SubscriptionFilter
	for _, uri := range req.Params.Notifications.ResourceSubscriptions {
		err := s.subscribe(ctx, acknowledged, uri, func() {
			select {
			case <-acknowledged:
				stdio.Notify(ctx, mcp.MethodNotificationResourceUpdated, map[string]any{"uri": uri, "_meta": of})
			case <-ctx.Done():
			}
		})
		if err == nil && !slices.Contains(honoured.ResourceSubscriptions, uri) {
			honoured.ResourceSubscriptions = append(honoured.ResourceSubscriptions, uri)
		}
	}
	context.AfterFunc(ctx, func() { s.unsubscribe(acknowledged, "") })
	stdio.Notify(ctx, mcp.MethodNotificationSubscriptionsAcknowledged, map[string]any{"notifications": honoured, "_meta": of})
	close(acknowledged)
	req.Params.Notifications = honoured
}
