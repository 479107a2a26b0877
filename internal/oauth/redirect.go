package oauth

import (
	"errors"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// maxRedirectURIBytes is the longest redirect address.
const maxRedirectURIBytes = 500

// hosts are the host names, with a port or without, that redirect addresses have: what may stand in a Content-Security-Policy.
var hosts = regexp.MustCompile(`^(?:[A-Za-z0-9](?:[A-Za-z0-9.-]*[A-Za-z0-9])?|\[::1\])(?::[0-9]{1,5})?$`)

// privateSchemes are what an app may claim on a device (RFC 8252 §7.1), in lower case and long enough to be no drive's letter.
var privateSchemes = regexp.MustCompile(`^[a-z][a-z0-9+.-]+$`)

// takenSchemes mean something to browsers and systems themselves: no app's.
var takenSchemes = []string{
	"about", "blob", "chrome", "chrome-extension", "content", "data", "edge", "file", "filesystem", "ftp", "ftps", "http", "https", "intent", "jar", "javascript",
	"ldap", "ldaps", "mailto", "moz-extension", "ms-msdt", "resource", "search-ms", "sftp", "shell", "sms", "smsto", "ssh", "tel", "telnet", "urn", "vbscript", "view-source", "ws", "wss",
}

var errRedirectURI = errors.New("a redirect address is https, or http on 127.0.0.1, [::1] or localhost, or of an app's own scheme (com.example.app:/callback), without user, fragment, white space and the parameters of an answer (code, state, iss, error, error_description, error_uri), with a port from 1 to 65535 if with any, and not longer than 500 bytes")

// answerParameters are those that an answer to a client has: in a registered address they would be taken for one.
var answerParameters = []string{"code", "state", "iss", "error", "error_description", "error_uri"}

// checkRedirectURI returns an error for an address that no client can register.
func checkRedirectURI(address string) error {
	u, err := parseRedirectURI(address)
	switch {
	case err != nil:
		return errRedirectURI
	case u.Scheme == "https", u.Scheme == "http" && (isLoopback(u) || u.Hostname() == "localhost"), isPrivate(u):
		return nil
	}
	return errRedirectURI
}

// isPrivate tells whether an address is of an app's own scheme.
func isPrivate(u *url.URL) bool {
	return privateSchemes.MatchString(u.Scheme) && !slices.Contains(takenSchemes, u.Scheme)
}

// parseRedirectURI reads an address that every reader reads alike: printable ASCII without what browsers change.
func parseRedirectURI(address string) (*url.URL, error) {
	if len(address) > maxRedirectURIBytes || strings.ContainsFunc(address, func(r rune) bool { return r <= ' ' || r >= 0x7f || r == '\\' || r == '#' }) {
		return nil, errRedirectURI
	}
	u, err := url.Parse(address)
	if err != nil || u.Opaque != "" || u.User != nil || !strings.HasPrefix(address, u.Scheme+":/") {
		return nil, errRedirectURI
	}
	if named := strings.HasPrefix(address, u.Scheme+"://"); named && !hosts.MatchString(u.Host) || !named && !isPrivate(u) { // com.example.app:/callback has no host
		return nil, errRedirectURI
	}
	if port := u.Port(); port != "" {
		if n, err := strconv.ParseUint(port, 10, 16); err != nil || n == 0 {
			return nil, errRedirectURI
		}
	}
	query, err := url.ParseQuery(u.RawQuery)
	if err != nil || slices.ContainsFunc(answerParameters, query.Has) {
		return nil, errRedirectURI
	}
	return u, nil
}

// isLoopback tells whether an address is on one of the two loopback addresses of RFC 8252 §7.3.
func isLoopback(u *url.URL) bool { return u.Hostname() == "127.0.0.1" || u.Hostname() == "::1" }

// matchRedirectURI tells whether a client that registered these addresses may be answered at this one: it is one of them, or
// differs from one on a loopback address by the port only (RFC 8252 §7.3).
func matchRedirectURI(registered []string, asked string) bool {
	u, err := parseRedirectURI(asked)
	if err != nil || checkRedirectURI(asked) != nil {
		return false
	}
	for _, one := range registered {
		if one == asked {
			return true
		}
		known, err := parseRedirectURI(one)
		if err == nil && u.Scheme == "http" && known.Scheme == "http" && isLoopback(u) && known.Hostname() == u.Hostname() && afterHost(one) == afterHost(asked) {
			return true
		}
	}
	return false
}

// afterHost is what of an address follows its host and port.
func afterHost(address string) string {
	_, rest, _ := strings.Cut(address, "://")
	if i := strings.IndexAny(rest, "/?"); i >= 0 {
		return rest[i:]
	}
	return ""
}
