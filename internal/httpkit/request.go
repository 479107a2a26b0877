package httpkit

import (
	"context"
	"fmt"
	"maps"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/google/uuid"

	"reckon/domain/event"
)

// Request holds what is known of a request before its route is chosen.
type Request struct {
	ID          string // X-Request-Id, the client's or ours
	Traceparent string // W3C trace context: the request's span, or where none is recorded the client's, which is empty when absent or malformed
	Address     string // client address as rate limits key it: IPv4, or the /64 of an IPv6
	Agent       string // User-Agent, at most maxAgentBytes of printable text
	Base        string // scheme and host by which the client reaches the service; empty: neither configured nor a name of this machine
	Secure      bool   // reached over TLS: here, at a trusted proxy, or because that is the only public address
	Source      event.Source

	cookies []string // the headers as they came
}

// Cookies are the values of the request's cookies of a name, in their order: over plain HTTP a neighbour, another port of this host
// among them, may have set one of the same name and a longer path, which browsers send first.
func (r Request) Cookies(name string) []string {
	var values []string
	for _, c := range (&http.Request{Header: http.Header{"Cookie": r.cookies}}).CookiesNamed(name) {
		values = append(values, c.Value)
	}
	return values
}

type requestKey struct{}

// RequestOf returns the request a handler's context belongs to.
func RequestOf(ctx context.Context) Request {
	r, _ := ctx.Value(requestKey{}).(Request)
	return r
}

var (
	requestIDPattern = regexp.MustCompile(`^[A-Za-z0-9._-]{1,128}$`)
)

// maxAgentBytes bounds what is kept of a User-Agent.
const maxAgentBytes = 200

// readRequest reads the headers that every request may have.
func (a *API) readRequest(r *http.Request) Request {
	if d := delegationOf(r.Context()); d != nil {
		return d.request()
	}
	described := Request{
		Source:      event.SourceWeb,
		ID:          r.Header.Get("X-Request-Id"),
		Traceparent: r.Header.Get("Traceparent"), // beginSpan leaves out what is none
		Address:     a.clientAddress(r),
		Agent:       printable(r.UserAgent(), maxAgentBytes),
		cookies:     r.Header.Values("Cookie"),
		Secure: r.TLS != nil || strings.HasPrefix(a.settings.PublicURL, "https://") ||
			a.fromProxy(r) && r.Header.Get("X-Forwarded-Proto") == "https",
	}
	described.Base = a.baseOf(r, described.Secure)
	a.warnOfUntrustedProxy(r)
	if !requestIDPattern.MatchString(described.ID) {
		described.ID = uuid.Must(uuid.NewV7()).String()
	}
	return described
}

// baseOf is the public URL, and where none is configured the address that the client used, if that is an IP address or
// localhost: by any other name a page of another site could have made a browser come here (DNS rebinding).
func (a *API) baseOf(r *http.Request, secure bool) string {
	if a.settings.PublicURL != "" {
		return a.settings.PublicURL
	}
	name := r.Host
	if host, _, err := net.SplitHostPort(r.Host); err == nil {
		name = host
	}
	if _, err := netip.ParseAddr(strings.Trim(name, "[]")); err != nil && name != "localhost" {
		return ""
	}
	if secure {
		return "https://" + r.Host
	}
	return "http://" + r.Host
}

// printable returns at most most bytes of s, without control characters and invalid UTF-8.
func printable(s string, most int) string {
	if len(s) > most {
		s = s[:most]
	}
	return strings.Map(func(r rune) rune {
		if r < 0x20 || r == 0x7f || r == utf8.RuneError {
			return -1
		}
		return r
	}, s)
}

func (a *API) fromProxy(r *http.Request) bool {
	return a.trustsProxy(remoteAddress(r))
}

// untrustedPeers are the addresses of peers about which a warning was logged.
type untrustedPeers struct {
	mu   sync.Mutex
	seen []netip.Addr
}

// maxWarnedPeers bounds the warnings of one process: every client can send these headers.
const maxWarnedPeers = 8

// warnOfUntrustedProxy logs a warning, once for each address, when forwarded
// headers come from a peer that is not a trusted proxy: they are ignored.
func (a *API) warnOfUntrustedProxy(r *http.Request) {
	forwarded := ""
	for _, name := range []string{"X-Forwarded-For", "X-Forwarded-Proto", "Forwarded", "X-Real-Ip"} {
		if r.Header.Get(name) != "" {
			forwarded = name
			break
		}
	}
	if forwarded == "" || a.fromProxy(r) {
		return
	}
	from := remoteAddress(r)
	a.untrustedPeers.mu.Lock()
	defer a.untrustedPeers.mu.Unlock()
	if len(a.untrustedPeers.seen) >= maxWarnedPeers || slices.Contains(a.untrustedPeers.seen, from) {
		return
	}
	a.untrustedPeers.seen = append(a.untrustedPeers.seen, from)
	a.settings.Logger.Warn("forwarded headers come from an address that is not trusted: all its clients count as one, and its word about TLS is not believed; "+
		"if it is your proxy, start with --trusted-proxies and its network (docs/proxy.md)", "address", from, "header", forwarded,
		"remedy", "--trusted-proxies "+netip.PrefixFrom(from, from.BitLen()).String())
}

func (a *API) trustsProxy(address netip.Addr) bool {
	for _, prefix := range a.settings.TrustedProxies {
		if prefix.Contains(address) {
			return true
		}
	}
	return false
}

func remoteAddress(r *http.Request) netip.Addr {
	host, _, err := net.SplitHostPort(r.RemoteAddr)
	if err != nil {
		host = r.RemoteAddr
	}
	address, _ := netip.ParseAddr(host)
	return address.Unmap()
}

// clientAddress is the peer, or behind trusted proxies the last address of
// X-Forwarded-For that none of them wrote for another of them.
func (a *API) clientAddress(r *http.Request) string {
	address := remoteAddress(r)
	hops := strings.Split(strings.Join(r.Header.Values("X-Forwarded-For"), ","), ",")
	for i := len(hops) - 1; i >= 0 && a.trustsProxy(address); i-- {
		hop, err := netip.ParseAddr(strings.TrimSpace(hops[i]))
		if err != nil {
			break
		}
		address = hop.Unmap()
	}
	if address.Is6() {
		// One subscriber has a whole /64 (RFC 6177): limits count it as one.
		if network, err := address.WithZone("").Prefix(64); err == nil {
			return network.String()
		}
	}
	return address.String()
}

// checkAddress returns the problem of a path or query that two readers may read
// differently: not UTF-8, with U+0000, or with a repeated parameter. It rewrites the query
// in the form that was checked.
func checkAddress(r *http.Request) *Problem {
	if !plainText(r.URL.Path) {
		return InvalidParameter.Problem("the path is not UTF-8 or contains U+0000")
	}
	values, err := url.ParseQuery(r.URL.RawQuery)
	if err != nil {
		return InvalidParameter.Problem("the query cannot be read: two hexadecimal digits stand after each %%, and & between parameters").WithCause(err)
	}
	for _, name := range slices.Sorted(maps.Keys(values)) {
		all := values[name]
		if !plainText(name) {
			return InvalidParameter.Problem("a query parameter's name is not UTF-8 or contains U+0000")
		}
		if len(all) > 1 {
			return InvalidParameter.Problem("the query parameter %q is given %d times", truncate(name), len(all)).WithField("query."+truncate(name), "given more than once")
		}
		if !plainText(all[0]) {
			return InvalidParameter.Problem("the query parameter %q is not UTF-8 or contains U+0000", truncate(name)).WithField("query."+truncate(name), "not text")
		}
	}
	r.URL.RawQuery = values.Encode()
	return nil
}

// escapeReason says what is wrong with a percent-encoding, in words that are not Go's.
func escapeReason(escape url.EscapeError) string {
	return fmt.Sprintf("after %% come two hexadecimal digits, not as in %q; %% itself is %%25", truncate(string(escape)))
}

func plainText(s string) bool {
	return utf8.ValidString(s) && strings.IndexByte(s, 0) < 0
}
