package workbench

import (
	"crypto/sha256"
	"encoding/base64"
	"html/template"
	"net/http"
	"strconv"

	"reckon/internal/httpkit"
	"reckon/readapi/workbench/htmx"
)

// asset is a file that pages load. Its address names its content.
type asset struct {
	contentType string
	body        []byte
	version     string // of the content: the beginning of its SHA-256, in base64url
}

// assets are all of them, by name.
var assets = versioned(map[string]asset{
	"workbench.css": {contentType: "text/css; charset=utf-8", body: Stylesheet},
	"workbench.js":  {contentType: "text/javascript; charset=utf-8", body: Script},
	"notebook.js":   {contentType: "text/javascript; charset=utf-8", body: read("assets/notebook.js")},
	"answers.js":    {contentType: "text/javascript; charset=utf-8", body: read("assets/answers.js")},
	"completion.js": {contentType: "text/javascript; charset=utf-8", body: read("assets/completion.js")},
	"proofs.js":     {contentType: "text/javascript; charset=utf-8", body: read("assets/proofs.js")},
	sampleExport:    {contentType: "application/x-ndjson", body: read("samples/" + sampleExport)},
	"timeline.js":   {contentType: "text/javascript; charset=utf-8", body: read("assets/timeline.js")},
	"brackets.js":   {contentType: "text/javascript; charset=utf-8", body: read("assets/brackets.js")},
	"icon.svg":      {contentType: "image/svg+xml", body: Icon},
	"htmx.js":       {contentType: "text/javascript; charset=utf-8", body: htmx.Script},
})

func versioned(all map[string]asset) map[string]asset {
	for name, a := range all {
		sum := sha256.Sum256(a.body)
		a.version = base64.RawURLEncoding.EncodeToString(sum[:12])
		all[name] = a
	}
	return all
}

// assetAddress is where a page loads an asset from; a name that there is not ends the page, which a test renders.
func assetAddress(name string) template.URL {
	a, is := assets[name]
	if !is {
		panic("there is no asset " + name)
	}
	return template.URL("/assets/" + a.version + "/" + name) //nolint:gosec // of names and digits of our own
}

// Policies of caching (RFC 9111, RFC 8246). A browser that has a page of another process, of another build, gets what there is, and keeps it for
// this page only.
const (
	cacheForEver = "public, max-age=31536000, immutable"
	cacheForNow  = "no-cache"
)

// serveAsset answers with an asset.
func (s Services) serveAsset(w http.ResponseWriter, r *http.Request) {
	a, is := assets[r.PathValue("name")]
	if !is {
		s.API.WriteProblem(w, r, httpkit.NoSuchRoute.Problem("there is no such file"))
		return
	}
	header := w.Header()
	header.Set("Content-Type", a.contentType)
	header.Set("Content-Security-Policy", assetPolicy)
	header.Set("Content-Length", strconv.Itoa(len(a.body)))
	header.Set("Cache-Control", cacheForNow)
	if r.PathValue("version") == a.version {
		header.Set("Cache-Control", cacheForEver)
	}
	_, _ = w.Write(a.body) // an error: the browser has gone
}
