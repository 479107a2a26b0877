package processes

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"reckon/internal/supervision"
)

// A server that ends says for unreadyGrace that it is not ready before it takes no connection any more; the balancer asks each server every
// readinessPeriod, by itself, so that one that is slow to answer delays the news of no other. As operators are told to (supervision.Readiness), it
// takes a server out after several failures in a row.
const (
	unreadyGrace    = 10 * time.Second
	readinessPeriod = 500 * time.Millisecond
)

// balancer sends requests to the servers whose /readyz answers 200, in turns, and never twice.
type balancer struct {
	mu       sync.Mutex
	backends []*backend
	next     int
	failed   atomic.Int64
}

type backend struct {
	address string
	proxy   *httputil.ReverseProxy
	ready   bool
	said    string // why it is not ready: its last answer that was not 200
	forget  context.CancelFunc
}

// newBalancer returns a balancer without servers and the URL it listens at until the test ends.
func newBalancer(t *testing.T) (b *balancer, address string) {
	t.Helper()
	b = &balancer{}
	front := httptest.NewServer(b)
	t.Cleanup(front.Close)
	return b, front.URL
}

func (b *balancer) add(t *testing.T, address string) {
	t.Helper()
	at, err := url.Parse(address)
	must(t, err)
	proxy := httputil.NewSingleHostReverseProxy(at)
	proxy.ErrorHandler = func(w http.ResponseWriter, _ *http.Request, err error) {
		b.failed.Add(1)
		http.Error(w, err.Error(), http.StatusBadGateway)
	}
	ctx, forget := context.WithCancel(t.Context())
	one := &backend{address: address, proxy: proxy, forget: forget}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.backends = append(b.backends, one)
	go b.watch(ctx, one)
}

// watch asks whether a server is ready until it is removed.
func (b *balancer) watch(ctx context.Context, one *backend) {
	for failures := 0; ctx.Err() == nil; {
		status, body := look(one.address + "/readyz")
		failures++
		if status == http.StatusOK {
			failures = 0
		}
		b.mu.Lock()
		if one.ready = failures == 0 || one.ready && failures < supervision.Readiness.Failures; failures > 0 {
			one.said = fmt.Sprint(status, " ", body)
		}
		b.mu.Unlock()
		select {
		case <-ctx.Done():
		case <-time.After(readinessPeriod):
		}
	}
}

func (b *balancer) remove(address string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	var left []*backend
	for _, one := range b.backends {
		if one.address == address {
			one.forget()
		} else {
			left = append(left, one)
		}
	}
	b.backends = left
}

func (b *balancer) ready() int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return len(b.readyOnes())
}

func (b *balancer) readyOnes() (list []*backend) {
	for _, one := range b.backends {
		if one.ready {
			list = append(list, one)
		}
	}
	return list
}

// ServeHTTP is http.Handler.
func (b *balancer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	b.mu.Lock()
	ready := b.readyOnes()
	if len(ready) == 0 {
		var why strings.Builder
		for _, one := range b.backends {
			fmt.Fprintf(&why, "\n%s: %s", one.address, one.said)
		}
		b.mu.Unlock()
		b.failed.Add(1)
		http.Error(w, "no server is ready:"+why.String(), http.StatusBadGateway)
		return
	}
	b.next++
	one := ready[b.next%len(ready)]
	b.mu.Unlock()
	one.proxy.ServeHTTP(w, r)
}

// readyStatus is what a server answers about itself; 0: it does not answer yet.
func readyStatus(address string) int {
	status, _ := look(address + "/readyz")
	return status
}
