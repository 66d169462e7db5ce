package server

import (
	"context"
	"crypto/sha256"
	"fmt"
	"sync"
	"time"

	"github.com/mark3labs/mcp-go/mcp"
	mcpserver "github.com/mark3labs/mcp-go/server"

	"tmuxmcp/server/stdio"
	"tmuxmcp/tmux"
)

// A client may ask to be notified when a resource changes: with resources/subscribe or, from
// revision 2026-07-28 on, with subscriptions/listen. No client of tmux is attached for it: each
// tmux server has a follower, which looks at panes when they print and reads everything else anew
// in intervals.

// maxSubscriptions bounds the subscriptions of all clients.
const maxSubscriptions = 200

const (
	// followInterval is the time between two notifications of a pane that prints without end.
	followInterval = 250 * time.Millisecond
	// leastReading is the least time between two readings of what nothing announces.
	leastReading = time.Second
)

// subscriptions are the resources that clients want to know about. The zero value is ready to use.
type subscriptions struct {
	mu        sync.Mutex
	followers map[string]*follower // by socket
	n         int
	sessions  map[mcpserver.ClientSession]map[string]func() // what ends each of resources/subscribe, by URI
}

// subscription is a resource that is followed.
type subscription struct {
	read    func(ctx context.Context) (string, error)
	updated func()
	pane    tmux.PaneID // whose output may change it
	// drawn is set if nothing but that can.
	drawn bool
	last  [sha256.Size]byte
	due   time.Time // of the next reading, unless it is drawn
}

// check reads the resource, and notifies the client if it is another one.
func (b *subscription) check(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, 3*time.Second)
	defer cancel()
	now := b.digest(ctx)
	if ctx.Err() == nil && now != b.last {
		b.last = now
		b.updated()
	}
}

// digest is that of the resource, or of why it cannot be read.
func (b *subscription) digest(ctx context.Context) [sha256.Size]byte {
	text, err := b.read(ctx)
	if err != nil {
		text = "\x00" + err.Error()
	}
	return sha256.Sum256([]byte(text))
}

// subscribe calls updated when a resource changes, until stop is called. It must exist.
func (s *Server) subscribe(ctx context.Context, uri string, updated func()) (stop func(), err error) {
	r, vars, ok := findResource(uri)
	if !ok {
		return nil, mcpserver.ErrResourceNotFound
	}
	srv, err := s.handle(vars["socket_name"])
	if err != nil {
		return nil, err
	}
	b := &subscription{
		read:    func(ctx context.Context) (string, error) { return s.readResource(ctx, r, vars) },
		updated: updated, pane: tmux.PaneID(vars["pane_id"]), drawn: r.drawn,
	}
	text, err := b.read(ctx)
	if err != nil {
		return nil, err
	}
	b.last = sha256.Sum256([]byte(text))

	all := &s.subscriptions
	all.mu.Lock()
	defer all.mu.Unlock()
	if all.n >= maxSubscriptions {
		return nil, faultf(kindRefused, "there are %d subscriptions, and no more are taken", maxSubscriptions)
	}
	f := all.followers[srv.SocketPath()]
	if f == nil {
		f = newFollower(srv)
		if all.followers == nil {
			all.followers = map[string]*follower{}
		}
		all.followers[srv.SocketPath()] = f
	}
	all.n++
	f.add(b)
	return sync.OnceFunc(func() {
		all.mu.Lock()
		all.n--
		last := f.remove(b) == 0
		if last {
			delete(all.followers, srv.SocketPath())
		}
		all.mu.Unlock()
		if last {
			f.close()
		}
	}), nil
}

// follower follows the resources of a tmux server in a goroutine of its own.
type follower struct {
	srv   *tmux.Server
	close func() // ends it, and waits for that, but not for a client that does not read

	mu      sync.Mutex
	subs    map[*subscription]bool
	changed context.CancelFunc // ends what waits for something to happen to them
}

func newFollower(srv *tmux.Server) *follower {
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan struct{})
	f := &follower{srv: srv, subs: map[*subscription]bool{}, changed: func() {}}
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
	delete(f.subs, b)
	f.changed()
	return len(f.subs)
}

// now are the subscriptions there are, and a context that ends when there are others.
func (f *follower) now(ctx context.Context) ([]*subscription, context.Context) {
	f.mu.Lock()
	defer f.mu.Unlock()
	var subs []*subscription
	for b := range f.subs {
		subs = append(subs, b)
	}
	f.changed() // the one before
	ctx, f.changed = context.WithCancel(ctx)
	return subs, ctx
}

func (f *follower) run(ctx context.Context) {
	watch := f.srv.Watch(ctx, followInterval)
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
		pause := max(leastReading, time.Duration(len(subs))*leastReading/50)
		for _, b := range subs {
			if drawn[b.pane] || !b.drawn && !time.Now().Before(b.due) {
				b.check(ctx)
				b.due = time.Now().Add(pause)
			}
		}
	}
}

// screen is what a pane showed at the last look.
type screen struct {
	digest [sha256.Size]byte
	unread bool      // there was none, or it failed
	due    time.Time // of the next try
}

// look looks at a pane, and reports whether it shows something else than at the last look.
func (f *follower) look(ctx context.Context, watch *tmux.Watcher, s *screen, id tmux.PaneID) (changed bool) {
	ctx, cancel := context.WithTimeout(ctx, 3*time.Second)
	defer cancel()
	began := time.Now()
	h := sha256.New()
	l, err := f.srv.Pane(id).Look(ctx, nil)
	s.unread = err != nil
	if s.unread {
		watch.Forget(id)
		s.due = time.Now().Add(leastReading)
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

// addSubscriptions has mcp-go hand over what clients subscribe to.
func (s *Server) addSubscriptions(hooks *mcpserver.Hooks) {
	hooks.AddAfterSubscribe(func(ctx context.Context, id any, req *mcp.SubscribeRequest, _ *mcp.EmptyResult) {
		if err := s.subscribeSession(ctx, req.Params.URI); err != nil {
			stdio.KeepError(ctx, id, mcp.MethodResourcesSubscribe, req, err)
		}
	})
	hooks.AddAfterUnsubscribe(func(ctx context.Context, _ any, req *mcp.UnsubscribeRequest, _ *mcp.EmptyResult) {
		s.unsubscribeSession(mcpserver.ClientSessionFromContext(ctx), req.Params.URI)
	})
	hooks.AddOnUnregisterSession(func(_ context.Context, session mcpserver.ClientSession) {
		s.unsubscribeSession(session, "")
	})
	hooks.AddBeforeSubscriptionsListen(s.listen)
}

// subscribeSession subscribes the session of a request to a resource.
func (s *Server) subscribeSession(ctx context.Context, uri string) error {
	session := mcpserver.ClientSessionFromContext(ctx)
	stop, err := s.subscribe(ctx, uri, func() {
		s.notify(context.WithoutCancel(ctx), mcp.MethodNotificationResourceUpdated, map[string]any{"uri": uri})
	})
	if err != nil {
		return err
	}
	s.unsubscribeSession(session, uri)
	s.subscriptions.mu.Lock()
	defer s.subscriptions.mu.Unlock()
	if s.subscriptions.sessions == nil {
		s.subscriptions.sessions = map[mcpserver.ClientSession]map[string]func(){}
	}
	if s.subscriptions.sessions[session] == nil {
		s.subscriptions.sessions[session] = map[string]func(){}
	}
	s.subscriptions.sessions[session][uri] = stop
	return nil
}

// unsubscribeSession ends a subscription of a session; all of them if the URI is empty.
func (s *Server) unsubscribeSession(session mcpserver.ClientSession, uri string) {
	var stops []func()
	s.subscriptions.mu.Lock()
	for u, stop := range s.subscriptions.sessions[session] {
		if uri == "" || u == uri {
			stops = append(stops, stop)
			delete(s.subscriptions.sessions[session], u)
		}
	}
	if len(s.subscriptions.sessions[session]) == 0 {
		delete(s.subscriptions.sessions, session)
	}
	s.subscriptions.mu.Unlock()
	for _, stop := range stops {
		stop()
	}
}

// listen subscribes a stream to resources, for as long as its request runs. Those that cannot be
// subscribed to are left out, and so not acknowledged.
func (s *Server) listen(ctx context.Context, id any, req *mcp.SubscriptionsListenRequest) {
	acknowledged := make(chan struct{})
	stdio.AfterAcknowledging(ctx, id, func() { close(acknowledged) })
	var uris []string
	for _, uri := range req.Params.Notifications.ResourceSubscriptions {
		stop, err := s.subscribe(ctx, uri, func() {
			select {
			case <-acknowledged:
			case <-ctx.Done():
				return
			}
			s.notify(ctx, mcp.MethodNotificationResourceUpdated, map[string]any{
				"uri": uri, "_meta": map[string]any{mcp.MetaKeySubscriptionID: id},
			})
		})
		if err == nil {
			uris = append(uris, uri)
			context.AfterFunc(ctx, stop)
		}
	}
	req.Params.Notifications.ResourceSubscriptions = uris
}
