package httpkit_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"mime"
	"mime/multipart"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"reckon/internal/httpkit"
)

const fileContent = "0123456789abcdef"

var fileWritten = time.Date(2026, 11, 22, 17, 0, 0, 0, time.UTC)

func addFile(api *httpkit.API) {
	httpkit.HandleFile(api, httpkit.Route{Method: http.MethodGet, Path: "/file", ID: "file", Tag: "test"}, func(context.Context, *struct{}) (*httpkit.File, error) {
		return &httpkit.File{Content: seekCloser{strings.NewReader(fileContent)}, Name: "f.bin", ETag: "e", Modified: fileWritten}, nil
	})
}

// TestRangesOfFiles: RFC 9110 section 14. What is refused is a problem that says how long the file is.
func TestRangesOfFiles(t *testing.T) {
	t.Parallel()
	server := serve(t, httpkit.Settings{})
	const whole, beyond = "bytes 0-15/16", "bytes */16"
	for value, want := range map[string]struct {
		status int
		place  string // Content-Range
		body   string
	}{
		"bytes=0-3": {206, "bytes 0-3/16", "0123"}, "bytes=4-": {206, "bytes 4-15/16", "456789abcdef"}, "bytes=-2": {206, "bytes 14-15/16", "ef"},
		"Bytes=15-15": {206, "bytes 15-15/16", "f"}, "bytes=, 2-3 ,": {206, "bytes 2-3/16", "23"}, "bytes=002-3": {206, "bytes 2-3/16", "23"},
		"bytes=14-99": {206, "bytes 14-15/16", "ef"}, "bytes=14-99999999999999999999": {206, "bytes 14-15/16", "ef"},
		"bytes=-16": {206, whole, fileContent}, "bytes=-99999999999999999999": {206, whole, fileContent}, "bytes=99-,5-5": {206, "bytes 5-5/16", "5"}, "bytes=5-5,-0": {206, "bytes 5-5/16", "5"},
		"bytes=0-9,5-15": {200, "", fileContent}, // more than the file
		"lines=0-3":      {200, "", fileContent}, "bytes": {200, "", fileContent}, "x": {200, "", fileContent}, "=0-3": {200, "", fileContent},
		"bytes=16-": {416, beyond, ""}, "bytes=99-100,16-": {416, beyond, ""}, "bytes=-0": {416, beyond, ""}, "bytes=99999999999999999999-": {416, beyond, ""},
		"bytes=z": {416, beyond, ""}, "bytes=9-3": {416, beyond, ""}, "bytes=0-3,9-3": {416, beyond, ""}, "bytes=": {416, beyond, ""}, "bytes=-": {416, beyond, ""},
		"bytes=+1-3": {416, beyond, ""}, "bytes=1 - 3": {416, beyond, ""}, "bytes=--1": {416, beyond, ""}, "bytes=1-2-3": {416, beyond, ""}, "bytes=1": {416, beyond, ""}, "bytes=٣-": {416, beyond, ""},
	} {
		a := ask(t, server, http.MethodGet, "/file", "", "Range", value)
		if a.status != want.status || a.header.Get("Content-Range") != want.place || want.body != "" && a.body != want.body {
			t.Errorf("%q: %d, %q, %q", value, a.status, a.header.Get("Content-Range"), a.body)
		}
		if want.status == http.StatusRequestedRangeNotSatisfiable {
			refusedFile(t, value, a, httpkit.RangeRefused)
		} else if a.header.Get("Content-Type") != "application/octet-stream" || a.header.Get("ETag") != `"e"` || a.header.Get("Content-Length") != fmt.Sprint(len(want.body)) {
			t.Errorf("%q: %v", value, a.header)
		}
		if head := ask(t, server, http.MethodHead, "/file", "", "Range", value); head.status != http.StatusOK || head.header.Get("Content-Length") != "16" {
			t.Errorf("HEAD %q: %d %v", value, head.status, head.header)
		}
	}
	ask(t, server, http.MethodGet, "/file", "", "Range", "").want(t, httpkit.InvalidParameter)
	ask(t, server, http.MethodGet, "/file", "", "Range", "bytes=0-1", "Range", "bytes=2-3").want(t, httpkit.InvalidParameter)
}

// refusedFile tells whether an answer is a problem and nothing of the file's.
func refusedFile(t *testing.T, name string, a answer, kind httpkit.Kind) {
	t.Helper()
	a.want(t, kind)
	if a.header.Get("Content-Disposition") != "" || a.header.Get("Accept-Ranges") != "" || a.header.Get("Last-Modified") != "" || a.header.Get("X-Request-Id") == "" {
		t.Errorf("%s: %v", name, a.header)
	}
}

// TestSeveralRangesOfAFile come in parts of their own.
func TestSeveralRangesOfAFile(t *testing.T) {
	t.Parallel()
	a := ask(t, serve(t, httpkit.Settings{}), http.MethodGet, "/file", "", "Range", "bytes=0-1, 99-, -2")
	media, parameters, err := mime.ParseMediaType(a.header.Get("Content-Type"))
	if a.status != http.StatusPartialContent || media != "multipart/byteranges" || err != nil {
		t.Fatalf("%d %v, %v", a.status, a.header, err)
	}
	var got []string
	for parts := multipart.NewReader(strings.NewReader(a.body), parameters["boundary"]); ; {
		part, err := parts.NextPart()
		if err == io.EOF { //nolint:errorlint // as the package says
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		content, err := io.ReadAll(part)
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, part.Header.Get("Content-Range")+": "+string(content))
	}
	if want := []string{"bytes 0-1/16: 01", "bytes 14-15/16: ef"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

// TestConditionsOfFiles: RFC 9110 section 13.
func TestConditionsOfFiles(t *testing.T) {
	t.Parallel()
	server := serve(t, httpkit.Settings{})
	before, at := fileWritten.Add(-time.Hour).Format(http.TimeFormat), fileWritten.Format(http.TimeFormat)
	for _, c := range []struct {
		headers []string
		status  int
	}{
		{[]string{"If-Match", `"e"`}, 200}, {[]string{"If-Match", `"a", "e"`}, 200}, {[]string{"If-Match", `"a"`, "If-Match", `"e"`}, 200}, {[]string{"If-Match", "*"}, 200},
		{[]string{"If-Match", ""}, 200}, {[]string{"If-Unmodified-Since", at}, 200}, {[]string{"If-Unmodified-Since", "yesterday"}, 200},
		{[]string{"If-Match", `"a"`}, 412}, {[]string{"If-Match", `W/"e"`}, 412}, {[]string{"If-Unmodified-Since", before}, 412}, {[]string{"If-Match", `"a"`, "Range", "bytes=99-"}, 412},
		{[]string{"If-None-Match", `"e"`}, 304}, {[]string{"If-None-Match", `"a"`, "If-None-Match", `W/"e"`}, 304}, {[]string{"If-Modified-Since", at}, 304}, {[]string{"If-None-Match", `"e"`, "Range", "bytes=99-"}, 304},
		{[]string{"If-None-Match", `"a"`, "If-Modified-Since", at}, 200},
		{[]string{"If-Range", `"e"`, "Range", "bytes=0-0"}, 206}, {[]string{"If-Range", `"a"`, "Range", "bytes=0-0"}, 200}, {[]string{"If-Range", `"a"`, "Range", "bytes=99-"}, 200}, {[]string{"If-Range", at, "Range", "bytes=0-0"}, 206},
	} {
		a := ask(t, server, http.MethodGet, "/file", "", c.headers...)
		if a.status != c.status || a.header.Get("ETag") != `"e"` {
			t.Errorf("%q: %d %v %s", c.headers, a.status, a.header, a.body)
		}
		switch c.status {
		case http.StatusPreconditionFailed:
			refusedFile(t, fmt.Sprint(c.headers), a, httpkit.ConditionFailed)
		case http.StatusNotModified:
			if a.body != "" || a.header.Get("Content-Type") != "" || a.header.Get("Content-Length") != "" {
				t.Errorf("%q: %v %q", c.headers, a.header, a.body)
			}
		}
		if head := ask(t, server, http.MethodHead, "/file", "", c.headers...); head.status != c.status && c.status != http.StatusPartialContent || head.body != "" {
			t.Errorf("HEAD %q: %d %q", c.headers, head.status, head.body)
		}
	}
}

// TestFilesAreDescribed: every answer that a file has stands in the description, with what it carries.
func TestFilesAreDescribed(t *testing.T) {
	t.Parallel()
	type described struct {
		Description string
		Headers     map[string]any
		Content     map[string]any
	}
	var api struct {
		Paths map[string]map[string]struct {
			Parameters []struct{ Name, In string }
			Responses  map[string]described
		}
	}
	routes := httpkit.New(httpkit.Settings{Logger: slog.New(slog.DiscardHandler), Authenticator: open{}, Access: rules})
	addFile(routes)
	description, err := routes.OpenAPI()
	if err == nil {
		err = json.Unmarshal(description, &api)
	}
	if err != nil {
		t.Fatal(err)
	}
	file := api.Paths["/file"]["get"]
	for status, want := range map[string]struct{ header, content string }{
		"200": {"ETag", "application/octet-stream"}, "206": {"Content-Range", "multipart/byteranges"}, "304": {"ETag", ""},
		"412": {"ETag", "application/problem+json"}, "416": {"Content-Range", "application/problem+json"},
	} {
		got := file.Responses[status]
		if got.Headers[want.header] == nil || got.Headers["X-Request-Id"] == nil || want.content != "" && got.Content[want.content] == nil {
			t.Errorf("%s: %+v", status, got)
		}
	}
	var names []string
	for _, p := range file.Parameters {
		names = append(names, p.In+" "+p.Name)
	}
	for _, name := range []string{"Range", "If-Range", "If-Match", "If-None-Match", "If-Modified-Since", "If-Unmodified-Since"} {
		if !slices.Contains(names, "header "+name) {
			t.Errorf("%s is not among %v", name, names)
		}
	}
}
