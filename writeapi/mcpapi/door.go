package mcpapi

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"

	"reckon/internal/auth"
	"reckon/internal/httpkit"
)

// door is what a request passes before the SDK: browsers of other sites and batches are refused, sessions of the older
// revisions get and show their ids, and a call is told when it is cancelled.
type door struct {
	api       *httpkit.API
	publicURL string
	transport http.Handler
	calls     calls
}

// message is the part of a JSON-RPC message that the door heeds; the SDK reads and judges all of it.
type message struct {
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
	Params params          `json:"params"`
}

// params are the parameters of the methods that the door knows; of another form they are empty.
type params struct {
	ClientInfo struct{ Name, Version string } `json:"clientInfo"` // initialize
	RequestID  json.RawMessage                `json:"requestId"`  // notifications/cancelled
}

// UnmarshalJSON is json.Unmarshaler.
func (p *params) UnmarshalJSON(data []byte) error {
	type plain params
	if json.Unmarshal(data, (*plain)(p)) != nil {
		*p = params{}
	}
	return nil
}

// ServeHTTP is http.Handler; httpkit has authenticated the caller, and bounded and checked the body.
func (d *door) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if problem := d.checkOrigin(r); problem != nil {
		d.api.WriteProblem(w, r, problem)
		return
	}
	body, err := io.ReadAll(r.Body)
	if err != nil { // it is in memory
		d.api.WriteProblem(w, r, httpkit.Translate(err, nil))
		return
	}
	r.Body = io.NopCloser(bytes.NewReader(body))
	if fault := checkMessage(body); fault != nil {
		fault.write(w, http.StatusBadRequest)
		return
	}
	var m message
	if err := json.Unmarshal(body, &m); err != nil { // it is a message
		d.api.WriteProblem(w, r, httpkit.Translate(err, nil))
		return
	}
	if fault := checkRevision(r.Header, m.ID); fault != nil {
		fault.write(w, http.StatusBadRequest)
		return
	}
	if _, known := paramsOf[m.Method]; !known && m.Method != "" && len(m.ID) > 0 && !strings.HasPrefix(m.Method, "notifications/") {
		status := http.StatusBadRequest
		if r.Header.Get(revisionHeader) >= firstStateless { // as that revision has it
			status = http.StatusNotFound
		}
		(&fault{id: m.ID, Code: jsonrpc.CodeMethodNotFound, Message: "there is no such method"}).write(w, status)
		return
	}
	if isNotification(m) && !knownNotifications[m.Method] {
		w.WriteHeader(http.StatusAccepted) // JSON-RPC 2.0, section 4.1: nothing is answered, and what is not known is ignored
		return
	}
	c := &call{of: r, agent: httpkit.RequestOf(r.Context()).Agent}
	session := r.Header.Get(sessionHeader)
	switch {
	case m.Method == "initialize":
		w.Header().Set(sessionHeader, newSessionID(clientName(m.Params.ClientInfo.Name, m.Params.ClientInfo.Version)))
	case session != "":
		client, ok := clientOf(session)
		if !ok {
			d.api.WriteProblem(w, r, httpkit.NoMCPSession.Problem("the MCP session is unknown; initialize again"))
			return
		}
		if client != "" {
			c.agent = client
		}
	}
	lasting := r.Context() // from the first stateless revision on, the end of the connection cancels the call
	if r.Header.Get(revisionHeader) < firstStateless {
		lasting = context.WithoutCancel(lasting)
	}
	var cancel context.CancelFunc
	c.wanted, cancel = context.WithCancel(lasting)
	defer cancel()
	account := auth.PrincipalOf(r.Context()).Account
	if m.Method == "notifications/cancelled" {
		d.calls.cancel(callKey{account, session, string(m.Params.RequestID)})
	}
	if session != "" && len(m.ID) > 0 {
		defer d.calls.add(callKey{account, session, string(m.ID)}, cancel)()
	}
	w.Header().Set("X-Accel-Buffering", "no") // proxies that know it pass each message on at once
	answer := &faultWriter{ResponseWriter: w, message: m, wanted: c.wanted}
	d.transport.ServeHTTP(answer, r.WithContext(context.WithValue(r.Context(), callOfRequest{}, c)))
	answer.finish()
}

// knownNotifications are those that the SDK takes; others it refuses.
var knownNotifications = map[string]bool{
	"notifications/initialized": true, "notifications/cancelled": true, "notifications/progress": true, "notifications/roots/list_changed": true,
}

// isNotification tells whether a message is one: a method, and no id to answer.
func isNotification(m message) bool {
	if len(m.ID) > 0 || m.Method == "" {
		return false
	}
	_, request := paramsOf[m.Method]
	return !request
}

// clientName is a client as the log names it.
func clientName(name, version string) string {
	if version == "" || name == "" {
		return name
	}
	return name + "/" + version
}

// checkOrigin refuses what a page of another site may have made a browser send, also one that has this server's address under
// a name of its own (DNS rebinding): without a public address the service is reached by loopback names only.
func (d *door) checkOrigin(r *http.Request) *httpkit.Problem {
	if origin := r.Header.Get("Origin"); origin != "" && origin != d.publicURL {
		from, err := url.Parse(origin)
		if err != nil || !isLoopback(from.Host) {
			return httpkit.CrossOrigin.Problem("the header Origin names another site")
		}
	}
	local, _ := r.Context().Value(http.LocalAddrContextKey).(net.Addr)
	if d.publicURL == "" && local != nil && isLoopback(local.String()) && !isLoopback(r.Host) {
		return httpkit.CrossOrigin.Problem("the header Host names another host than this one; behind a proxy, start with --public-url")
	}
	return nil
}

// isLoopback tells whether a host, with or without a port, is this machine.
func isLoopback(hostPort string) bool {
	host, _, err := net.SplitHostPort(hostPort)
	if err != nil {
		host = strings.Trim(hostPort, "[]")
	}
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}

// calls are the calls in flight in this process that a notification may cancel, of the revisions before the first stateless one. A
// notification that another process receives cancels nothing, which the protocol permits.
type calls struct {
	mu    sync.Mutex
	byKey map[callKey]*context.CancelFunc
}

type callKey struct{ account, session, id string }

// add adds a call; the returned function removes it.
func (c *calls) add(key callKey, cancel context.CancelFunc) (remove func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.byKey == nil {
		c.byKey = map[callKey]*context.CancelFunc{}
	}
	added := &cancel
	c.byKey[key] = added
	return func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		if c.byKey[key] == added { // a client may use an id twice
			delete(c.byKey, key)
		}
	}
}

func (c *calls) cancel(key callKey) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if cancel := c.byKey[key]; cancel != nil {
		(*cancel)()
	}
}
