package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/google/uuid"

	"reckon/commands"
	"reckon/internal/auth"
	"reckon/internal/httpkit"
	"reckon/internal/identity"
)

// localSessionLifetime is how long a local session can be used when the server that opened it was killed before it could end it.
const localSessionLifetime = time.Hour

// localAccountNamespace makes the id of the local account from that of the log (RFC 9562 §5.5): every log has one, however often
// and by however many servers it is asked for.
var localAccountNamespace = uuid.MustParse("5d0f6a1c-3a53-4c0e-9a8b-6f0c1d2e7b44")

// localSession signs its holder in, over the API, to the account of whoever may enter the data folder.
type localSession struct {
	URL    string `json:"url"`    // of the API, from this machine
	Cookie string `json:"cookie"` // its name
	Secret string `json:"secret"` // its value
}

// localSessions counts the local sessions of a server that ends when nobody needs it any more.
type localSessions struct {
	mu     sync.Mutex
	closed bool
	open   sync.WaitGroup
}

// enter reports whether a session may be opened; then leave must be called.
func (l *localSessions) enter() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.closed {
		l.open.Add(1)
	}
	return !l.closed
}

func (l *localSessions) leave() { l.open.Done() }

// closeAndWait refuses further sessions and waits for the end of those that are open.
func (l *localSessions) closeAndWait(ctx context.Context) {
	l.mu.Lock()
	l.closed = true
	l.mu.Unlock()
	ended := make(chan struct{})
	go func() { l.open.Wait(); close(ended) }()
	select {
	case <-ended:
	case <-ctx.Done():
	}
}

// serveLocalSession opens a session of the local account and ends it with the connection, so that nothing of it stays: no token, no
// event, and no row in the identity tables. The account has no address, so that nobody can sign in to it otherwise.
func (s *service) serveLocalSession(w http.ResponseWriter, r *http.Request) {
	if s.api == nil {
		http.Error(w, fmt.Sprintf("the server that runs on %s answers no HTTP (--roles): name the --data of one that does", s.config.Data), http.StatusConflict)
		return
	}
	select {
	case <-s.ready:
	case <-r.Context().Done():
		return
	}
	if !s.local.enter() {
		http.Error(w, "this server is about to end", http.StatusServiceUnavailable)
		return
	}
	defer s.local.leave()
	opened, err := s.openLocalSession(r.Context())
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	defer func() {
		if err := s.stores.identity.SignOut(context.WithoutCancel(r.Context()), opened.Secret); err != nil {
			s.logger.Warn("a local session was not ended; it expires", "expires", opened.ExpiresAt, "error", err)
		}
	}()
	cookie := auth.CookieName(httpkit.Request{Secure: strings.HasPrefix(s.config.PublicURL, "https://")})
	err = json.NewEncoder(w).Encode(localSession{URL: "http://" + reachable(s.api.listener.Addr()), Cookie: cookie, Secret: opened.Secret})
	if err = errors.Join(err, http.NewResponseController(w).Flush()); err == nil {
		<-r.Context().Done()
	}
}

func (s *service) openLocalSession(ctx context.Context) (identity.Session, error) {
	named, err := s.log.store.Identity(ctx)
	if err != nil {
		return identity.Session{}, err
	}
	in := operatorIntent()
	in.Account = uuid.NewSHA1(localAccountNamespace, []byte(named.Origin)).String()
	if _, err := commands.RegisterAccount(ctx, s.log.store, s.plans, in); err != nil {
		return identity.Session{}, err
	}
	return s.stores.identity.OpenSession(ctx, in.Account, localSessionLifetime, identity.Client{Agent: "reckon try"})
}

// reachable is the address at which a listener is reached from its own machine.
func reachable(address net.Addr) string {
	tcp, ok := address.(*net.TCPAddr)
	if !ok || !tcp.IP.IsUnspecified() {
		return address.String()
	}
	return net.JoinHostPort("localhost", fmt.Sprint(tcp.Port))
}
