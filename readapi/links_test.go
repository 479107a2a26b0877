package readapi_test

import (
	"cmp"
	"encoding/json"
	"net/http"
	"regexp"
	"strings"
	"testing"

	"github.com/google/uuid"

	"reckon/commands"
	"reckon/domain/certificate"
	"reckon/domain/event"
	"reckon/internal/config"
	"reckon/test/apitest"
)

// TestEveryAddressHandedOutIsServed follows, from what has a fixed place, every
// address in every answer, as a client that knows only the public URL.
func TestEveryAddressHandedOutIsServed(t *testing.T) {
	t.Parallel()
	for written, base := range map[string]string{
		"":                                "",
		"https://reckon.example":          "https://reckon.example",
		"https://reckon.example/":         "https://reckon.example",
		"HTTPS://RECKON.example:443/":     "https://reckon.example",
		"http://reckon.example:8443":      "http://reckon.example:8443",
		"https://[2001:db8::1]:8443/":     "https://[2001:db8::1]:8443",
		"https://xn--bcher-kva.example:/": "https://xn--bcher-kva.example",
	} {
		t.Run(written, func(t *testing.T) {
			publicURL, err := config.PublicURL(written)
			if err != nil || publicURL != base {
				t.Fatal(publicURL, err)
			}
			s, _ := signedAt(t, publicURL)
			u := s.NewUser(t)
			u.Evaluate(t, "1+1").OK(t)
			plotted := u.Evaluate(t, "Plot[x,{x,0,1}]").OK(t)
			issued := certificate.Events()[0].Sample.(certificate.Issued)
			issued.Account = u.ID
			in := commands.Intent{ID: uuid.New(), At: s.Clock.Now()}
			if _, err := s.Store.Append(t.Context(), certificate.Stream(issued.CertificateID), event.NoStream, in.Propose(certificate.Stream(issued.CertificateID), []event.Event{issued})); err != nil {
				t.Fatal(err)
			}

			c := crawler{t: t, u: u, base: base, local: s.URL, seen: map[string]bool{}, names: map[string]int{}}
			c.collect("evaluation", plotted)
			for _, path := range []string{"/openapi.json", "/docs", "/docs/errors", "/api/history", "/api/jobs", "/api/certificates", "/api/sessions", "/api/tokens", "/billing/plans", "/.well-known/service-keys.json",
				"/healthz", "/readyz", "/api/receipts/1", "/api/certificates/" + issued.CertificateID, "/api/certificates/" + issued.CertificateID + "/public"} {
				c.follow("", path)
			}
			c.collect("problem", s.Do(t, http.MethodGet, "/nowhere", ""))
			c.collect("challenge", s.Do(t, http.MethodGet, "/api/history", ""))
			for _, name := range []string{"certificate_url", "public_url", "receipt_url", "keys_url", "plot_url", "href", "type"} {
				if c.names[name] == 0 {
					t.Errorf("no %s was met: %v", name, c.names)
				}
			}
			if base != "" && c.names["servers"] != 1 {
				t.Errorf("openapi.json names %d servers", c.names["servers"])
			}
		})
	}
}

type crawler struct {
	t     *testing.T
	u     *apitest.User
	base  string
	local string // where the service is reached if it has no public URL
	seen  map[string]bool
	names map[string]int // addresses met, by the name of their field
}

// addresses in what is no JSON.
var (
	hrefs  = regexp.MustCompile(`(?:href|src|action)="([^"]*)"`)
	quoted = regexp.MustCompile(`resource_metadata="([^"]*)"|<([^>]*)>`)
)

func (c *crawler) collect(from string, a apitest.Answer) {
	var value any
	if strings.Contains(a.Header.Get("Content-Type"), "json") && json.Unmarshal(a.Body, &value) == nil {
		c.walk(from, "", value)
	}
	if strings.HasPrefix(a.Header.Get("Content-Type"), "text/html") {
		for _, m := range hrefs.FindAllStringSubmatch(string(a.Body), -1) {
			c.address(from, "href", m[1])
		}
	}
	for _, name := range []string{"Location", "Content-Location"} {
		if address := a.Header.Get(name); address != "" {
			c.address(from, name, address)
		}
	}
	for _, name := range []string{"Link", "WWW-Authenticate"} {
		for _, m := range quoted.FindAllStringSubmatch(a.Header.Get(name), -1) {
			c.address(from, name, m[1]+m[2])
		}
	}
}

func (c *crawler) walk(from, name string, value any) {
	switch v := value.(type) {
	case map[string]any:
		if servers, ok := v["servers"].([]any); ok && from == "/openapi.json" {
			for _, server := range servers {
				c.names["servers"]++
				if url := server.(map[string]any)["url"]; url != cmp.Or(c.base, "/") {
					c.t.Errorf("openapi.json: server %v", url)
				}
			}
			delete(v, "servers")
		}
		for name, inner := range v {
			c.walk(from, name, inner)
		}
	case []any:
		for _, inner := range v {
			c.walk(from, name, inner)
		}
	case string:
		if v == "" || from == "/openapi.json" && !strings.Contains(v, "://") {
			return
		}
		if strings.HasSuffix(name, "_url") || name == "type" && strings.HasPrefix(v, "/") || strings.HasPrefix(v, "http://") || strings.HasPrefix(v, "https://") {
			c.address(from, name, v)
		}
	}
}

func (c *crawler) address(from, name, address string) {
	c.t.Helper()
	c.names[name]++
	path, ok := strings.CutPrefix(address, cmp.Or(c.base, c.local))
	if ok && path == "" {
		return // the service itself: an issuer, a resource
	}
	if strings.HasPrefix(address, "/") {
		path, ok = address, true
	}
	if path, _, _ = strings.Cut(path, "#"); !ok || path == "" || path[0] != '/' {
		c.t.Errorf("%s: %s %q is not below %q", from, name, address, c.base)
		return
	}
	c.follow(from, path)
}

func (c *crawler) follow(from, path string) {
	c.t.Helper()
	if c.seen[path] {
		return
	}
	c.seen[path] = true
	if path == "/mcp" || strings.HasPrefix(path, "/oauth/") { // they are not read: an app posts to them, or sends a person with a query
		if a := c.u.Do(c.t, http.MethodOptions, path, ""); path != "/mcp" && a.Status != http.StatusNoContent {
			c.t.Errorf("%s leads to %s: %d", from, path, a.Status)
		}
		return
	}
	a := c.u.Do(c.t, http.MethodGet, path, "")
	if a.Status != http.StatusOK {
		c.t.Errorf("%s leads to %s: %d", from, path, a.Status)
		return
	}
	c.collect(path, a)
}
