package writeapi

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"html/template"
	"net/http"
	"net/url"

	"reckon/domain/scope"
	"reckon/internal/access"
	"reckon/internal/oauth"
)

// pageStyle is the style of the pages, which the policy names by its hash.
const pageStyle = `body{font:16px/1.5 system-ui,sans-serif;max-width:30rem;margin:3rem auto;padding:0 1rem;color:#1a1a1a;background:#fff}
label{display:block;margin:.7rem 0}input{font:inherit;width:100%;box-sizing:border-box;padding:.4rem}button{font:inherit;padding:.4rem 1.2rem;margin:.7rem .7rem 0 0}
.note{border-left:3px solid #b50;padding-left:.7rem}code{font:.9em ui-monospace,monospace;overflow-wrap:anywhere}
@media (prefers-color-scheme:dark){body{color:#eee;background:#151515}}`

// pagePolicy lets the page be styled, and its form go to us and on to the client: browsers hold the redirect after a form against form-action too.
func pagePolicy(to *url.URL) string {
	sum := sha256.Sum256([]byte(pageStyle))
	policy := "default-src 'none'; style-src 'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'; frame-ancestors 'none'; base-uri 'none'; form-action 'self'"
	if to != nil {
		policy += " " + origin(to)
	}
	return policy
}

// origin is where an address leads, as policies and people are told: of an app's own scheme nothing but the scheme says that.
func origin(to *url.URL) string {
	if to.Scheme == "https" || to.Scheme == "http" {
		return to.Scheme + "://" + to.Host
	}
	return to.Scheme + ":"
}

// consent is what the page of an authorization shows.
type consent struct {
	Style    template.CSS
	Action   string
	Client   string
	Vouches  string // host whose document describes it; empty: it registered itself
	Host     string // where the browser goes afterwards
	Local    bool   // that is this person's own machine
	App      bool   // that is whichever app has claimed the scheme on this device
	Scopes   []scope.Scope
	Resource string
	Request  string
	Email    string // of who has signed in; empty: nobody
	SignedIn bool
	Proof    string
	Note     string
}

func (s Services) showConsent(w http.ResponseWriter, asked *oauth.Authorization, query string, who *person, note string, status int) {
	page := consent{
		Style: pageStyle, Action: oauth.AuthorizePath, Client: asked.Client.Name, Vouches: asked.Vouches, Host: asked.RedirectURI.Host, Scopes: asked.Scopes.Scopes(), Request: query, Note: note,
		Local: asked.RedirectURI.Scheme == "http", Resource: "your account's API",
	}
	if asked.RedirectURI.Scheme != "https" && !page.Local {
		page.App, page.Host = true, origin(asked.RedirectURI)
	}
	if asked.Resource == access.MCP {
		page.Resource = "the MCP endpoint, as you"
	}
	if who != nil {
		page.SignedIn, page.Email, page.Proof = true, who.email, who.proof(query)
	}
	show(w, consentPage, page, asked.RedirectURI, status)
}

func showError(w http.ResponseWriter, failed *oauth.Failure) {
	show(w, errorPage, struct {
		Style             template.CSS
		Code, Description string
	}{pageStyle, failed.Code, failed.Description}, nil, failed.Status)
}

func show(w http.ResponseWriter, page *template.Template, data any, to *url.URL, status int) {
	var body bytes.Buffer
	if err := page.Execute(&body, data); err != nil {
		panic(err) // the templates and what they show are ours
	}
	header := w.Header()
	header.Set("Content-Type", "text/html; charset=utf-8")
	header.Set("Content-Security-Policy", pagePolicy(to))
	header.Set("Referrer-Policy", "same-origin") // with no-referrer browsers send the form with Origin: null
	header.Set("X-Frame-Options", "DENY")
	header.Set("Cross-Origin-Opener-Policy", "unsafe-none") // an app that opened the page in a window waits there for the answer
	w.WriteHeader(status)
	_, _ = w.Write(body.Bytes()) // an error: the browser has gone
}

const oauthHead = `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<style>{{.Style}}</style>
`

var consentPage = template.Must(template.New("consent").Parse(oauthHead + `<title>Connect an app to Reckon</title></head><body><main>
<h1>Connect an app</h1>
{{with .Note}}<p class="note" role="alert">{{.}}</p>{{end}}
<p>An app that calls itself <strong>{{.Client}}</strong>{{with .Vouches}} and is of <strong>{{.}}</strong>{{end}} wants to use {{.Resource}}. Anybody can give an app any name: go on only if you have just started this yourself.</p>
<p>Afterwards you are sent to <code>{{.Host}}</code>{{if .Local}}, a program on your own computer{{end}}{{if .App}}, the app on this device that opens such addresses{{end}}.</p>
<p>It may</p>
<ul>{{range .Scopes}}<li>{{.Means}} <small>(<code>{{.}}</code>)</small></li>{{end}}</ul>
<p>It cannot see your password, your plan's invoices or your API tokens. You can disconnect it at any time.</p>
<form method="post" action="{{.Action}}">
<input type="hidden" name="request" value="{{.Request}}">
{{if .SignedIn}}<input type="hidden" name="consent" value="{{.Proof}}">
<p>You are signed in{{with .Email}} as <strong>{{.}}</strong>{{end}}.</p>
<button name="answer" value="allow">Allow</button><button name="answer" value="deny">Do not allow</button>
{{else}}<label>Email <input type="email" name="email" autocomplete="username" required autofocus></label>
<label>Password <input type="password" name="password" autocomplete="current-password" required></label>
<button name="answer" value="sign-in">Sign in</button>
{{end}}</form>
</main></body></html>
`))

var errorPage = template.Must(template.New("error").Parse(oauthHead + `<title>This cannot be connected</title></head><body><main>
<h1>This cannot be connected</h1>
<p class="note" role="alert">{{.Description}} <small>(<code>{{.Code}}</code>)</small></p>
<p>You were not sent back to the app, because the request does not say for certain where it came from. Go back to it and start again.</p>
</main></body></html>
`))
