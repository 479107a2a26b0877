package oauth

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/google/uuid"

	"reckon/internal/identity"
)

// Bounds of client ID metadata documents (draft-ietf-oauth-client-id-metadata-document, §6.6).
const (
	maxDocumentBytes  = 5 << 10
	maxClientURLBytes = 500
	documentTimeout   = 5 * time.Second
	documentFor       = 5 * time.Minute // a read document, or that it could not be read, holds
	maxDocuments      = 1000            // that are remembered at a time
)

// specialPrefixes are addresses that lead to no host of the public Internet, or to one by way of another network (RFC 6890 and its registry),
// beside those that netip.Addr names.
var specialPrefixes = []netip.Prefix{
	netip.MustParsePrefix("0.0.0.0/8"), netip.MustParsePrefix("100.64.0.0/10"), netip.MustParsePrefix("192.0.0.0/24"), netip.MustParsePrefix("192.0.2.0/24"),
	netip.MustParsePrefix("192.88.99.0/24"), netip.MustParsePrefix("198.18.0.0/15"), netip.MustParsePrefix("198.51.100.0/24"), netip.MustParsePrefix("203.0.113.0/24"),
	netip.MustParsePrefix("240.0.0.0/4"), netip.MustParsePrefix("64:ff9b::/96"), netip.MustParsePrefix("64:ff9b:1::/48"), netip.MustParsePrefix("100::/64"),
	netip.MustParsePrefix("2001::/23"), netip.MustParsePrefix("2001:db8::/32"), netip.MustParsePrefix("2002::/16"), netip.MustParsePrefix("3fff::/20"), netip.MustParsePrefix("5f00::/16"),
}

// isPublic tells whether an address may be a host of the public Internet.
func isPublic(address netip.Addr) bool {
	address = address.Unmap()
	if !address.IsGlobalUnicast() || address.IsPrivate() || address.Zone() != "" {
		return false
	}
	for _, prefix := range specialPrefixes {
		if prefix.Contains(address) {
			return false
		}
	}
	return true
}

// NewDocumentClient returns what reads documents: hosts of the public Internet only, whatever their names resolve to, and no proxy, which
// would connect in its place.
func NewDocumentClient() *http.Client {
	dialer := net.Dialer{Timeout: documentTimeout, Control: func(_, address string, _ syscall.RawConn) error {
		to, err := netip.ParseAddrPort(address)
		if err != nil || !isPublic(to.Addr()) {
			return fmt.Errorf("%s is no host of the public Internet", address)
		}
		return nil
	}}
	return &http.Client{Transport: &http.Transport{DialContext: dialer.DialContext, DisableKeepAlives: true, TLSHandshakeTimeout: documentTimeout, MaxResponseHeaderBytes: 16 << 10}}
}

// isDocument tells whether a client_id is the address of a document.
func isDocument(clientID string) bool { return strings.HasPrefix(clientID, "https://") }

// keyOf is the id under which a client is kept and named in the log: its own, or one made of its document's address.
func keyOf(clientID string) string {
	if isDocument(clientID) {
		return uuid.NewSHA1(uuid.NameSpaceURL, []byte(clientID)).String()
	}
	return clientID
}

// documents reads and remembers the documents that clients have as their ids.
type documents struct {
	http *http.Client
	now  func() time.Time
	mu   sync.Mutex
	read map[string]document
}

type document struct {
	client identity.OAuthClient
	err    error
	until  time.Time
}

// client returns the client that the document at an address describes. count counts a reading, and may refuse it. Errors are *Failure, or one of
// our own parts.
func (d *documents) client(ctx context.Context, address string, count func() error) (identity.OAuthClient, error) {
	if err := checkClientURL(address); err != nil {
		return identity.OAuthClient{}, err
	}
	d.mu.Lock()
	known, ok := d.read[address]
	d.mu.Unlock()
	if ok && d.now().Before(known.until) {
		return known.client, known.err
	}
	if err := count(); err != nil {
		return identity.OAuthClient{}, err
	}
	client, err := d.fetch(ctx, address)
	if ctx.Err() != nil {
		return client, err
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if len(d.read) >= maxDocuments || d.read == nil {
		d.read = map[string]document{}
	}
	d.read[address] = document{client, err, d.now().Add(documentFor)}
	return client, err
}

func invalidDocument(format string, args ...any) error {
	return &Failure{Status: http.StatusBadRequest, Code: "invalid_client", Description: fmt.Sprintf(format, args...)}
}

// checkClientURL refuses addresses that readers may read differently (§3 of the draft).
func checkClientURL(address string) error {
	u, err := parseRedirectURI(address)
	if err != nil || u.Scheme != "https" || len(address) > maxClientURLBytes || strings.TrimPrefix(u.Path, "/") == "" || u.ForceQuery || u.RawQuery != "" {
		return invalidDocument("a client_id that is an address is https, with a path, without user, query and fragment, and not longer than %d bytes", maxClientURLBytes)
	}
	for segment := range strings.SplitSeq(u.Path, "/") {
		if segment == "." || segment == ".." {
			return invalidDocument("a client_id that is an address has no dot segments")
		}
	}
	return nil
}

// fetch reads a document: in 5 seconds and 5 KiB, from its own address, without redirects.
func (d *documents) fetch(ctx context.Context, address string) (identity.OAuthClient, error) {
	none := identity.OAuthClient{}
	ctx, cancel := context.WithTimeout(ctx, documentTimeout)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, address, http.NoBody)
	if err != nil {
		return none, invalidDocument("the client_id cannot be read as an address")
	}
	request.Header.Set("Accept", "application/json")
	client := http.Client{Transport: d.http.Transport, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	response, err := client.Do(request)
	if err != nil {
		return none, &Failure{Status: http.StatusBadRequest, Code: "invalid_client", Description: "the document that client_id names could not be read from here", cause: err}
	}
	defer func() { _ = response.Body.Close() }()
	media, _, _ := mime.ParseMediaType(response.Header.Get("Content-Type"))
	if response.StatusCode != http.StatusOK || media != "application/json" && !strings.HasSuffix(media, "+json") {
		return none, invalidDocument("the document that client_id names is answered with status %d and type %q; 200 and application/json are expected", response.StatusCode, plain(media))
	}
	body, err := io.ReadAll(io.LimitReader(response.Body, maxDocumentBytes+1))
	if err != nil || len(body) > maxDocumentBytes {
		return none, invalidDocument("the document that client_id names is longer than %d bytes, or could not be read to its end", maxDocumentBytes)
	}
	var asked struct {
		ClientMetadata

		ClientSecret json.RawMessage `json:"client_secret"`
	}
	if err := json.Unmarshal(body, &asked); err != nil || asked.ClientID != address {
		return none, invalidDocument("the document that client_id names is not a JSON object whose client_id is its own address")
	}
	if method := asked.TokenEndpointAuthMethod; asked.ClientSecret != nil || method != "" && method != "none" {
		return none, invalidDocument("the client of the document has a secret: clients of this server have none (token_endpoint_auth_method none)")
	}
	described, err := asked.client()
	if failed, ok := errors.AsType[*Failure](err); ok {
		return none, invalidDocument("the document that client_id names: %s", failed.Description)
	}
	described.ID = keyOf(address)
	return described, err
}

// presentedClient returns the client of a request for authorization. That of a document is kept nowhere until somebody approves it.
func (p *Provider) presentedClient(ctx context.Context, clientID, from string) (identity.OAuthClient, error) {
	if !isDocument(clientID) {
		client, err := p.store.OAuthClient(ctx, clientID)
		if errors.Is(err, identity.ErrNoOAuthClient) {
			err = &Failure{Status: http.StatusBadRequest, Code: "invalid_client", Description: "no client with this client_id is registered here; the app must register again"}
		}
		return client, err
	}
	return p.documents.client(ctx, clientID, func() error {
		allowance, err := p.store.CountClientRegistration(ctx, from)
		if err == nil && !allowance.Allowed {
			err = &Failure{Status: http.StatusTooManyRequests, Code: "temporarily_unavailable", Description: "too many clients came from this address; try again later"}
		}
		return err
	})
}

// hostOf is the host of an address, which was checked.
func hostOf(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return ""
	}
	return u.Host
}
