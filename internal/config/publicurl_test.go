package config_test

import (
	"strings"
	"testing"

	"reckon/internal/config"
)

func TestPublicURLHasOneForm(t *testing.T) {
	for written, want := range map[string]string{
		"":                            "",
		"https://reckon.example":      "https://reckon.example",
		"https://reckon.example/":     "https://reckon.example",
		"HTTPS://Reckon.Example:443/": "https://reckon.example",
		"http://reckon.example:80":    "http://reckon.example",
		"http://reckon.example:443":   "http://reckon.example:443",
		"https://reckon.example:8443": "https://reckon.example:8443",
		"https://reckon.example:0443": "https://reckon.example",
		"https://reckon.example:":     "https://reckon.example",
		"https://reckon.example./":    "https://reckon.example",
		"https://10.0.0.1":            "https://10.0.0.1",
		"https://[2001:DB8::0:1]:443": "https://[2001:db8::1]",
		"http://localhost:8080":       "http://localhost:8080",
		"https://xn--bcher-kva.de":    "https://xn--bcher-kva.de",
	} {
		s, err := parse(t, nil, "--public-url", written)
		if err != nil || s.PublicURL != want {
			t.Errorf("%q: %q %v, want %q", written, s.PublicURL, err, want)
		}
		if again, err := config.PublicURL(s.PublicURL); err != nil || again != s.PublicURL {
			t.Errorf("%q: %q is not the form it has itself: %q %v", written, s.PublicURL, again, err)
		}
	}
}

func TestPublicURLThatCannotBe(t *testing.T) {
	for written, says := range map[string]string{
		"reckon.example":                       "begin with https://",
		"//reckon.example":                     "begin with https://",
		"ftp://reckon.example":                 "begin with https://",
		"https:reckon.example":                 "DNS name",
		"https://":                             "DNS name",
		"https:///path":                        "under a path",
		"https://:443":                         "DNS name",
		"https://reckon.example/api":           "under a path",
		"https://reckon.example//":             "under a path",
		"https://reckon.example/.":             "under a path",
		"https://reckon.example/%2f":           "under a path",
		"https://reckon.example?":              "without ? or #",
		"https://reckon.example/?a=b":          "without ? or #",
		"https://reckon.example#":              "without ? or #",
		"https://reckon.example/#a":            "without ? or #",
		"https://hunter2:hunter2@host":         "user or a password",
		"https://hunter2@host":                 "user or a password",
		"https://@host":                        "user or a password",
		"https://reckon.example:0":             "between 1 and 65535",
		"https://reckon.example:65536":         "between 1 and 65535",
		"https://reckon.example:https":         "not an address",
		"https://hunter2:hunter2@host:x":       "not an address",
		"https://rec kon.example":              "not an address",
		"https://reckon.example\n":             "not an address",
		"https://bücher.de":                    "xn--",
		"https://reckon..example":              "DNS name",
		"https://-reckon.example":              "DNS name",
		"https://reckon%41.example":            "",
		"https://*.example":                    "DNS name",
		"https://a\"b":                         "",
		"https://[fe80::1%25eth0]":             "zone",
		"https://" + strings.Repeat("a.", 200): "DNS name",
	} {
		_, err := parse(t, nil, "--public-url", written)
		if err == nil || !strings.Contains(err.Error(), says) || !strings.Contains(err.Error(), "--public-url") || strings.Contains(err.Error(), "hunter2") {
			t.Errorf("%q: %v, want %q", written, err, says)
		}
	}
}
