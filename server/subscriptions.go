package server

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/mark3labs/mcp-go/mcp"
	mcpserver "github.com/mark3labs/mcp-go/server"

	"tmuxmcp/server/stdio"
	"tmuxmcp/tmux"
)

// A client may ask to be notified when a resource changes: with resources/subscribe or,
// from revision 2026-07-28 on, with subscriptions/listen. This attaches no tmux client:
// each tmux server has a follower, which looks at panes when they print and rereads
// everything else at intervals.

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
	mu        sync.Mutex
	followers map[string]*follower // by socket
	all       map[subscriber]*subscription
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
	last  [sha256.Size]byte
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
	now := sha256.Sum256([]byte(text))
	if ctx.Err() == nil && !errors.Is(err, tmux.ErrExhausted) && now != b.last && !b.over.Load() {
		b.last = now
		b.updated()
	}
}

// subscribe calls updated when a resource changes, until unsubscribe. The resource must
// exist. Subscribing twice makes one subscription.
func (s *Server) subscribe(ctx context.Context, who any, uri string, updated func()) error {
	r, vars, ok := findResource(uri)
	if !ok {
		return mcpserver.ErrResourceNotFound
	}
	srv, err := s.handle(vars["socket_name"])
	if err != nil {
		return err
	}
	b := &subscription{
		socket:  srv.SocketPath(),
		read:    func(ctx context.Context) (string, error) { return s.readResource(ctx, r, vars) },
		updated: updated, pane: tmux.PaneID(vars["pane_id"]), drawn: r.drawn,
	}
	text, err := b.read(ctx)
	if err != nil {
		return err
	}
	b.last = sha256.Sum256([]byte(text))

	all := &s.subscriptions
	all.mu.Lock()
	defer all.mu.Unlock()
	switch {
	case ctx.Err() != nil: // nobody would end it
		return context.Cause(ctx)
	case all.all[subscriber{who, uri}] != nil:
		return nil
	case len(all.all) >= maxSubscriptions:
		return faultf(kindRefused, "too many subscriptions (limit %d)", maxSubscriptions)
	case all.all == nil:
		all.all, all.followers = map[subscriber]*subscription{}, map[string]*follower{}
	}
	f := all.followers[b.socket]
	if f == nil {
		f = newFollower(srv, s.waits)
		all.followers[b.socket] = f
	}
	all.all[subscriber{who, uri}] = b
	f.add(b)
	return nil
}

// unsubscribe ends a subscription; if the URI is empty, all subscriptions of who.
func (s *Server) unsubscribe(who any, uri string) {
	var idle []*follower
	all := &s.subscriptions
	all.mu.Lock()
	for k, b := range all.all {
		if k.who == who && (uri == "" || k.uri == uri) {
			delete(all.all, k)
			if f := all.followers[b.socket]; f.remove(b) == 0 {
				delete(all.followers, b.socket)
				idle = append(idle, f)
			}
		}
	}
	all.mu.Unlock()
	for _, f := range idle {
		f.close()
	}
}

// follower follows the resources of a tmux server in its own goroutine.
type follower struct {
	waits
	srv   *tmux.Server
	close func() // ends it and waits for that, but not for a client that does not read

	mu      sync.Mutex
	subs    map[*subscription]bool
	changed context.CancelFunc // cancels waiting for changes to them
}

func newFollower(srv *tmux.Server, w waits) *follower {
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan struct{})
	f := &follower{waits: w, srv: srv, subs: map[*subscription]bool{}, changed: func() {}}
	f.close = func() {
		cancel()
		select {
		case <-ended:
		case <-time.After(time.Second):
		}
	}
	go func() {
		defer close(ended)
		f.run(ctx)
	}()
	return f
}

func (f *follower) add(b *subscription) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.subs[b] = true
	f.changed()
}

func (f *follower) remove(b *subscription) (left int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	b.over.Store(true) // it may be being read right now
	delete(f.subs, b)
	f.changed()
	return len(f.subs)
}

// now returns the current subscriptions, and a context that is cancelled when they change.
func (f *follower) now(ctx context.Context) ([]*subscription, context.Context) {
	f.mu.Lock()
	defer f.mu.Unlock()
	var subs []*subscription
	for b := range f.subs {
		subs = append(subs, b)
	}
	f.changed() // cancel the previous one
	ctx, f.changed = context.WithCancel(ctx)
	return subs, ctx
}

func (f *follower) run(ctx context.Context) {
	watch := f.srv.Watch(ctx, f.followInterval)
	defer watch.Close()
	screens := map[tmux.PaneID]*screen{}
	for ctx.Err() == nil {
		subs, unchanged := f.now(ctx)
		panes := map[tmux.PaneID]bool{}
		next := time.Now().Add(time.Minute)
		for _, b := range subs {
			if b.pane != "" {
				panes[b.pane] = true
			}
			if !b.drawn && b.due.Before(next) {
				next = b.due
			}
		}
		var due []tmux.PaneID
		for id, s := range screens {
			switch {
			case !panes[id]:
				watch.Forget(id)
				delete(screens, id)
			case s.unread && s.due.Before(next):
				next = s.due
			}
		}
		for id := range panes {
			if screens[id] == nil {
				screens[id] = &screen{unread: true}
			}
			if s := screens[id]; s.unread && !time.Now().Before(s.due) {
				due = append(due, id)
			}
		}
		if len(due) == 0 {
			var err error
			if due, err = watch.Next(unchanged, next); err != nil {
				continue
			}
		}
		drawn := map[tmux.PaneID]bool{}
		for _, id := range due {
			drawn[id] = f.look(ctx, watch, screens[id], id)
		}
		pause := max(f.leastReading, time.Duration(len(subs))*f.leastReading/50)
		for _, b := range subs {
			if drawn[b.pane] || !b.drawn && !time.Now().Before(b.due) {
				b.check(ctx, f.lookTime)
				b.due = time.Now().Add(pause)
			}
		}
	}
}

// screen is what a pane showed at the last look.
type screen struct {
	digest [sha256.Size]byte
	unread bool      // no look yet, or it failed
	due    time.Time // time of the next attempt
}

// look looks at a pane, and reports whether it has changed since the last look.
func (f *follower) look(ctx context.Context, watch *tmux.Watcher, s *screen, id tmux.PaneID) (changed bool) {
	ctx, cancel := context.WithTimeout(ctx, f.lookTime)
	defer cancel()
	began := time.Now()
	h := sha256.New()
	l, err := f.srv.Pane(id).Look(ctx, nil)
	s.unread = err != nil
	if s.unread {
		watch.Forget(id)
		s.due = time.Now().Add(f.leastReading)
		fmt.Fprint(h, err)
	} else {
		fmt.Fprintf(h, "%dx%d %q", l.Width, l.Height, l.Lines())
	}
	old := s.digest
	h.Sum(s.digest[:0])
	changed = s.digest != old
	if !s.unread {
		watch.Looked(l.PaneState, began, changed)
	}
	return changed
}

// addSubscriptions makes mcp-go pass on the subscriptions of clients.
func (s *Server) addSubscriptions(hooks *mcpserver.Hooks) {
	hooks.AddAfterSubscribe(func(ctx context.Context, id any, req *mcp.SubscribeRequest, _ *mcp.EmptyResult) {
		uri := req.Params.URI
		err := s.subscribe(ctx, mcpserver.ClientSessionFromContext(ctx), uri, func() {
			s.notify(context.WithoutCancel(ctx), mcp.MethodNotificationResourceUpdated, map[string]any{"uri": uri})
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
				s.notify(ctx, mcp.MethodNotificationResourceUpdated, map[string]any{"uri": uri, "_meta": of})
			case <-ctx.Done():
			}
		})
		if err == nil && !slices.Contains(honoured.ResourceSubscriptions, uri) {
			honoured.ResourceSubscriptions = append(honoured.ResourceSubscriptions, uri)
		}
	}
	context.AfterFunc(ctx, func() { s.unsubscribe(acknowledged, "") })
	s.notify(ctx, mcp.MethodNotificationSubscriptionsAcknowledged, map[string]any{"notifications": honoured, "_meta": of})
	close(acknowledged)
	req.Params.Notifications = honoured
}
