package config

import (
	"fmt"
	"net/netip"
	"net/url"
	"regexp"
	"strconv"
	"strings"
)

// hostName is a DNS name (RFC 1123), or what internal networks call hosts.
var hostName = regexp.MustCompile(`^[a-z0-9_]([a-z0-9_-]*[a-z0-9_])?(\.[a-z0-9_]([a-z0-9_-]*[a-z0-9_])?)*$`)

// PublicURL is the one form of the address clients use: scheme and host in lower
// case, no default port, nothing after it, so that a path can be appended. Empty
// stays empty. The errors never repeat what was written: it may hold a password.
func PublicURL(written string) (string, error) {
	if written == "" {
		return "", nil
	}
	u, err := url.Parse(written)
	switch {
	case err != nil:
		return "", fmt.Errorf("this is not an address; say https://host or https://host:port")
	case u.Scheme != "http" && u.Scheme != "https":
		return "", fmt.Errorf("the address must begin with https:// (or http://); say https://host or https://host:port")
	case u.User != nil:
		return "", fmt.Errorf("the address must not hold a user or a password: everyone who reads an answer would see them")
	case strings.ContainsAny(written, "?#"):
		return "", fmt.Errorf("the address must end with the host, without ? or #")
	case u.Path != "" && u.Path != "/":
		return "", fmt.Errorf("the address must end with the host: the service cannot lie under a path; give it a host name of its own")
	}
	host, err := publicHost(u)
	if err != nil {
		return "", err
	}
	port := u.Port()
	if port != "" {
		number, err := strconv.ParseUint(port, 10, 16)
		if err != nil || number == 0 {
			return "", fmt.Errorf("the port must be between 1 and 65535")
		}
		port = strconv.FormatUint(number, 10)
	}
	if port == "" || u.Scheme == "https" && port == "443" || u.Scheme == "http" && port == "80" {
		return u.Scheme + "://" + host, nil
	}
	return u.Scheme + "://" + host + ":" + port, nil
}

func publicHost(u *url.URL) (string, error) {
	host := strings.TrimSuffix(strings.ToLower(u.Hostname()), ".")
	if address, err := netip.ParseAddr(host); err == nil {
		switch {
		case address.Zone() != "":
			return "", fmt.Errorf("an address with a zone means nothing elsewhere; give the host a name")
		case address.Is6():
			return "[" + address.String() + "]", nil
		}
		return address.String(), nil
	}
	if !hostName.MatchString(host) || len(host) > 253 {
		return "", fmt.Errorf("the host must be a DNS name (a name with other letters in its xn-- form) or an IP address")
	}
	return host, nil
}
