// Package subscribe notifies clients of the resources that change.
package subscribe

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
	"tmuxmcp/server/internal/screen"
	"tmuxmcp/server/internal/stdio"
	"tmuxmcp/tmux"
	"tmuxmcp/tmux/follow"
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

// Subscriptions are what clients are subscribed to.
type Subscriptions struct {
	// find returns the resource of a URI.
	find    func(uri string) (*Resource, error)
	screens *screen.Reader
	// FollowInterval and LeastReading are the constants of these names, except in tests.
	FollowInterval, LeastReading time.Duration

	mu sync.Mutex
	of map[subscriber]*subscription
	// changed has an entry for each tmux server that is followed, by socket, to be called
	// when its subscriptions change.
	changed map[string]context.CancelFunc
}

// Resource is a resource that can be subscribed to.
type Resource struct {
	Tmux  *tmux.Server
	Pane  tmux.PaneID // whose output may change it
	Drawn bool        // nothing else can
	Read  func(context.Context) (string, error)
}

// New returns no subscriptions yet. find returns the resource of a URI.
func New(find func(uri string) (*Resource, error), screens *screen.Reader) *Subscriptions {
	return &Subscriptions{
		find: find, screens: screens, FollowInterval: followInterval, LeastReading: leastReading,
		of: map[subscriber]*subscription{}, changed: map[string]context.CancelFunc{},
	}
}

// subscriber is who is subscribed to a resource: a session, or a stream of one.
type subscriber struct {
	who any
	uri string
}

// subscription is a resource that is followed.
type subscription struct {
	*Resource
	updated func()
	last    string
	due     time.Time // next reading, unless drawn
	over    atomic.Bool
}

// check reads the resource, within a time limit, and notifies the client if it has changed.
func (b *subscription) check(ctx context.Context, limit time.Duration) {
	ctx, cancel := tmux.WithTimeout(ctx, limit)
	defer cancel()
	text, err := b.Read(ctx)
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
func (s *Subscriptions) subscribe(ctx context.Context, who any, uri string, updated func()) error {
	w, err := s.find(uri)
	if err != nil {
		return err
	}
	b := &subscription{Resource: w, updated: updated}
	if b.last, err = b.Read(ctx); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case ctx.Err() != nil: // nobody would end it
		return context.Cause(ctx)
	case s.of[subscriber{who, uri}] != nil:
		return nil
	case len(s.of) >= maxSubscriptions:
		return reply.Faultf(reply.KindRefused, "too many subscriptions (limit %d)", maxSubscriptions)
	}
	s.of[subscriber{who, uri}] = b
	socket := b.Tmux.SocketPath()
	if changed := s.changed[socket]; changed != nil {
		changed()
	} else {
		s.changed[socket] = func() {}
		go s.follow(b.Tmux)
	}
	return nil
}

// Count returns the number of subscriptions.
func (s *Subscriptions) Count() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.of)
}

// unsubscribe ends a subscription; if the URI is empty, all subscriptions of who.
func (s *Subscriptions) unsubscribe(who any, uri string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for k, b := range s.of {
		if k.who == who && (uri == "" || k.uri == uri) {
			b.over.Store(true) // it may be being read right now
			delete(s.of, k)
			s.changed[b.Tmux.SocketPath()]()
		}
	}
}

// on returns the subscriptions on a tmux server, and a context that ends when they change.
// If there are none, the server is no longer followed.
func (s *Subscriptions) on(socket string) (subs []*subscription, unchanged context.Context) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, b := range s.of {
		if b.Tmux.SocketPath() == socket {
			subs = append(subs, b)
		}
	}
	s.changed[socket]() // end the previous context
	if subs == nil {
		delete(s.changed, socket)
		return nil, nil
	}
	unchanged, s.changed[socket] = context.WithCancel(context.Background())
	return subs, unchanged
}

// follow follows the resources of a tmux server until there are no subscriptions.
func (s *Subscriptions) follow(srv *tmux.Server) {
	ctx := context.Background()
	watch := follow.New(ctx, srv, s.FollowInterval)
	defer watch.Close()
	screens := map[tmux.PaneID]*lastScreen{}
	for {
		subs, unchanged := s.on(srv.SocketPath())
		if subs == nil {
			return
		}
		panes := map[tmux.PaneID]bool{}
		next := time.Now().Add(time.Minute)
		for _, b := range subs {
			if !b.Drawn && b.due.Before(next) {
				next = b.due
			}
			panes[b.Pane] = true
			if b.Pane != "" && screens[b.Pane] == nil {
				screens[b.Pane] = &lastScreen{unread: true}
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
				drawn[id] = s.look(ctx, id, watch, shown)
			}
		}
		pause := max(s.LeastReading, time.Duration(len(subs))*s.LeastReading/50)
		for _, b := range subs {
			if drawn[b.Pane] || !b.Drawn && !time.Now().Before(b.due) {
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
func (s *Subscriptions) look(ctx context.Context, pane tmux.PaneID, watch *follow.Follower, shown *lastScreen) (changed bool) {
	ctx, cancel := tmux.WithTimeout(ctx, s.screens.LookTime)
	defer cancel()
	was := shown.text
	l, err := watch.Look(ctx, pane, nil)
	if shown.unread = l == nil; shown.unread {
		watch.Forget(pane)
		shown.text, shown.due = err.Error(), time.Now().Add(s.LeastReading)
	} else {
		shown.text = fmt.Sprintf("%dx%d %q", l.Width, l.Height, l.Lines())
	}
	return shown.text != was
}

// Hook makes mcp-go pass on the subscriptions of clients.
func (s *Subscriptions) Hook(hooks *mcpserver.Hooks) {
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
func (s *Subscriptions) listen(ctx context.Context, _ any, req *mcp.SubscriptionsListenRequest) {
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
