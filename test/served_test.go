package test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"reckon/test/apitest"
)

const (
	apiPage    = "../docs/api/README.md"
	servedOpen = "<!-- not served: written by go test ./test -run TestWhatIsNotServed -update -->\n"
	servedEnd  = "<!-- end of not served -->"
)

// promised finds the routes of docs/api/interface.md: rows of its tables, and addresses in its sentences.
var promised = []*regexp.Regexp{
	regexp.MustCompile(`(?m)^\| (GET|POST|DELETE) \| (/\S+)`),
	regexp.MustCompile(`(?m)^(GET|POST|DELETE) (/[a-z/{}]+)`),
	unlisted,
}

// unlisted are the addresses that the description leaves out: documents, and a protocol of its own.
var unlisted = regexp.MustCompile(`()/?\b(mcp|llms\.txt|agents\.md|openapi\.json)\b`)

// TestWhatIsNotServed keeps the list in docs/api/README.md of what the interface promises and the service does not answer yet.
func TestWhatIsNotServed(t *testing.T) {
	t.Parallel()
	contract, err := os.ReadFile("../docs/api/interface.md")
	if err != nil {
		t.Fatal(err)
	}
	description, err := os.ReadFile("../docs/api/openapi.json")
	if err != nil {
		t.Fatal(err)
	}
	var served struct {
		Paths map[string]map[string]any `json:"paths"`
	}
	if err := json.Unmarshal(description, &served); err != nil {
		t.Fatal(err)
	}
	server := apitest.Start(t, apitest.Options{})
	var missing []string
	found := 0
	for _, pattern := range promised {
		for _, m := range pattern.FindAllStringSubmatch(string(contract), -1) {
			method, path := m[1], strings.TrimRight(m[2], ".")
			found++
			if _, ok := served.Paths[path][strings.ToLower(method)]; ok {
				continue
			}
			if pattern == unlisted && server.Do(t, http.MethodOptions, "/"+path, "").Status == http.StatusNoContent {
				continue
			}
			route := strings.TrimSpace(fmt.Sprintf("%s %s", method, path))
			if !slices.Contains(missing, route) {
				missing = append(missing, route)
			}
		}
	}
	if found < 30 {
		t.Fatalf("only %d routes found in the interface: the patterns are wrong", found)
	}
	var list strings.Builder
	for _, route := range missing {
		fmt.Fprintf(&list, "- `%s`\n", route)
	}
	text := list.String()
	if text != "" {
		text = "Of it these are not served yet:\n\n" + text
	}
	keepEqual(t, apiPage, servedOpen, text, servedEnd)
}
