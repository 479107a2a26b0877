package readapi

import (
	"encoding/json"
	"fmt"
	"net/url"
	"strconv"
	"strings"
)

// sample is a request in one language, ready to run: RECKON_URL, RECKON_TOKEN and RECKON_COOKIE are read from the environment.
type sample struct{ Language, Text string }

// credential of a sample.
type credential struct{ header, before, variable string }

var (
	token  = credential{"Authorization", "Bearer ", "RECKON_TOKEN"}
	cookie = credential{"Cookie", "", "RECKON_COOKIE"}
)

// request is what a sample sends.
type request struct {
	method, path string
	credential   *credential // nil: none is needed
	body         string      // JSON; empty: none
	upload       string      // media type of a file that is sent instead; empty: none
}

// samples are the request in every language of the reference.
func (r request) samples() []sample {
	return []sample{{"curl", r.curl()}, {"Python", r.python()}, {"Go", r.golang()}, {"TypeScript", r.typescript()}}
}

// mediaType is the type of what is sent; empty: nothing is.
func (r request) mediaType() string {
	if r.body != "" {
		return "application/json"
	}
	return r.upload
}

// uploaded is the name of the file that is sent.
const uploaded = "proof.ndjson"

func (r request) curl() string {
	lines := []string{`curl -sS "$RECKON_URL` + r.path + `"`}
	if r.method != "GET" {
		lines[0] += " -X " + r.method
	}
	if c := r.credential; c != nil {
		lines = append(lines, fmt.Sprintf(`-H "%s: %s$%s"`, c.header, c.before, c.variable))
	}
	if media := r.mediaType(); media != "" {
		lines = append(lines, "-H 'Content-Type: "+media+"'")
	}
	switch {
	case r.body != "":
		lines = append(lines, "--data-binary '"+strings.ReplaceAll(r.body, "'", `'\''`)+"'")
	case r.upload != "":
		lines = append(lines, "--data-binary @"+uploaded)
	}
	return strings.Join(lines, " \\\n  ")
}

func (r request) python() string {
	var b strings.Builder
	b.WriteString("import os, urllib.request\n\nrequest = urllib.request.Request(\n    os.environ[\"RECKON_URL\"] + " + strconv.Quote(r.path) + ",\n    method=" + strconv.Quote(r.method) + ",\n    headers={")
	var headers []string
	if c := r.credential; c != nil {
		headers = append(headers, fmt.Sprintf("%q: %q + os.environ[%q]", c.header, c.before, c.variable))
	}
	if media := r.mediaType(); media != "" {
		headers = append(headers, fmt.Sprintf("%q: %q", "Content-Type", media))
	}
	b.WriteString(strings.Join(headers, ", ") + "},\n")
	switch {
	case r.body != "":
		b.WriteString("    data=" + strconv.QuoteToASCII(r.body) + ".encode(),\n")
	case r.upload != "":
		b.WriteString("    data=open(" + strconv.Quote(uploaded) + ", \"rb\").read(),\n")
	}
	b.WriteString(")\nwith urllib.request.urlopen(request) as answer:\n    print(answer.read().decode())\n")
	return b.String()
}

func (r request) golang() string {
	imports, body := []string{"fmt", "io", "log", "net/http", "os"}, "nil"
	var prepare string
	switch {
	case r.body != "":
		imports, body = append(imports, "strings"), "strings.NewReader("+strconv.Quote(r.body)+")"
	case r.upload != "":
		prepare, body = "\tfile, err := os.Open("+strconv.Quote(uploaded)+")\n\tif err != nil {\n\t\tlog.Fatal(err)\n\t}\n\tdefer file.Close()\n", "file"
	}
	var b strings.Builder
	b.WriteString("package main\n\nimport (\n")
	for _, name := range imports {
		b.WriteString("\t" + strconv.Quote(name) + "\n")
	}
	b.WriteString(")\n\nfunc main() {\n" + prepare + "\trequest, err := http.NewRequest(" + strconv.Quote(r.method) + ", os.Getenv(\"RECKON_URL\")+" + strconv.Quote(r.path) + ", " + body + ")\n\tif err != nil {\n\t\tlog.Fatal(err)\n\t}\n")
	if c := r.credential; c != nil {
		value := "os.Getenv(" + strconv.Quote(c.variable) + ")"
		if c.before != "" {
			value = strconv.Quote(c.before) + "+" + value
		}
		b.WriteString("\trequest.Header.Set(" + strconv.Quote(c.header) + ", " + value + ")\n")
	}
	if media := r.mediaType(); media != "" {
		b.WriteString("\trequest.Header.Set(\"Content-Type\", " + strconv.Quote(media) + ")\n")
	}
	b.WriteString("\tanswer, err := http.DefaultClient.Do(request)\n\tif err != nil {\n\t\tlog.Fatal(err)\n\t}\n\tdefer answer.Body.Close()\n\ttext, err := io.ReadAll(answer.Body)\n\tif err != nil {\n\t\tlog.Fatal(err)\n\t}\n\tfmt.Println(answer.Status, string(text))\n}\n")
	return b.String()
}

func (r request) typescript() string {
	var b strings.Builder
	if r.upload != "" {
		b.WriteString("import { readFileSync } from \"node:fs\";\n\n")
	}
	b.WriteString("const answer = await fetch(process.env.RECKON_URL + " + strconv.Quote(r.path) + ", {\n  method: " + strconv.Quote(r.method) + ",\n")
	var headers []string
	if c := r.credential; c != nil {
		headers = append(headers, fmt.Sprintf("%q: `%s${process.env.%s}`", c.header, c.before, c.variable))
	}
	if media := r.mediaType(); media != "" {
		headers = append(headers, fmt.Sprintf("%q: %q", "Content-Type", media))
	}
	if len(headers) > 0 {
		b.WriteString("  headers: { " + strings.Join(headers, ", ") + " },\n")
	}
	switch {
	case r.body != "":
		b.WriteString("  body: JSON.stringify(" + r.body + "),\n")
	case r.upload != "":
		b.WriteString("  body: readFileSync(" + strconv.Quote(uploaded) + "),\n")
	}
	b.WriteString("});\nconsole.log(answer.status, await answer.text());\n")
	return b.String()
}

// shape is the part of a JSON schema that examples are made from.
type shape struct {
	Ref        string `json:"$ref"`
	Type       any
	Enum       []any
	Examples   []any
	Default    any
	Minimum    *float64
	MinLength  int
	Properties map[string]shape
	Required   []string
	Items      *shape
	OneOf      []shape
}

// shapesByName are the schemas of a description.
type shapesByName map[string]shape

// maxExampleDepth bounds examples: schemas may refer to themselves.
const maxExampleDepth = 8

// example is a value of a schema: its first example, and otherwise the least that it takes.
func (s shapesByName) example(of shape, depth int) any {
	if depth > maxExampleDepth {
		return nil
	}
	switch {
	case len(of.Examples) > 0:
		return of.Examples[0]
	case of.Ref != "":
		return s.example(s[of.Ref[strings.LastIndex(of.Ref, "/")+1:]], depth+1)
	case len(of.Enum) > 0:
		return of.Enum[0]
	case of.Default != nil:
		return of.Default
	case len(of.OneOf) > 0 && len(of.Properties) == 0:
		return s.example(of.OneOf[0], depth+1)
	}
	kinds, _ := of.Type.([]any) // nullable
	kind, _ := of.Type.(string)
	if len(kinds) > 0 {
		kind, _ = kinds[0].(string)
	}
	switch kind {
	case "object":
		return s.object(of, depth)
	case "array":
		if of.Items == nil {
			return []any{}
		}
		return []any{s.example(*of.Items, depth+1)}
	case "integer", "number":
		if of.Minimum != nil {
			return *of.Minimum
		}
		return 1
	case "boolean":
		return true
	case "null":
		return nil
	}
	return "text"
}

// object is the example of an object with the properties that are required, and with those of the first alternative.
func (s shapesByName) object(of shape, depth int) any {
	required := of.Required
	if len(of.OneOf) > 0 {
		required = append(append([]string{}, required...), of.OneOf[0].Required...)
	}
	object := map[string]any{}
	for _, name := range required {
		object[name] = s.example(of.Properties[name], depth+1)
	}
	return object
}

// exampleText is an example of a parameter as it stands in an address.
func (s shapesByName) exampleText(of shape) string {
	switch value := s.example(of, 0).(type) {
	case string:
		return value
	case float64:
		return strconv.FormatFloat(value, 'f', -1, 64)
	default:
		return fmt.Sprint(value)
	}
}

// fill puts examples into the parameters of a path.
func (s shapesByName) fill(path string, parameters []parameter) string {
	for _, p := range parameters {
		if p.In == "path" {
			path = strings.ReplaceAll(path, "{"+p.Name+"}", url.PathEscape(s.exampleText(p.Schema)))
		}
	}
	return path
}

// body is an example of a JSON body.
func (s shapesByName) body(of shape) (string, error) {
	var b strings.Builder
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(s.example(of, 0)); err != nil {
		return "", fmt.Errorf("example: %w", err)
	}
	return strings.TrimSpace(b.String()), nil
}
