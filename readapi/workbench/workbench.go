package workbench

import (
	"bytes"
	"context"
	"embed"
	"encoding/json"
	"errors"
	"html/template"
	"io/fs"
	"net/http"
	"regexp"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"reckon/domain/event"
	"reckon/internal/httpkit"
	"reckon/internal/view"
)

// Services are what the pages are served from.
type Services struct {
	API        *httpkit.API // with all its other routes
	Elaborates bool         // Lean source: the deployment has a toolchain
	Now        func() time.Time
	// AnonymousBudget is the longest that an evaluation without an account computes.
	AnonymousBudget time.Duration
	// Evaluate answers a question of the service itself, for the first page to show; nil: it shows none.
	Evaluate func(ctx context.Context, expression string) (view.Evaluation, error)

	shown *showcase
}

// policy of every page: its scripts, styles and pictures are this service's, its forms and requests come here, and nobody frames it.
const policy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"

// assetPolicy: what is no page runs and loads nothing.
const assetPolicy = "default-src 'none'; frame-ancestors 'none'"

// maxFormBytes bounds the form of a page: a JSON body at its limit, each byte of it percent-encoded.
const maxFormBytes = 3*httpkit.MaxJSONBytes + 64<<10

// Register serves the pages.
func (s Services) Register() {
	s.shown = &showcase{evaluate: s.Evaluate}
	templates() // a page that does not parse ends the process here
	httpkit.HandleRaw(s.API, http.MethodGet, "/assets/{version}/{name}", 0, s.serveAsset)
	s.API.ShowProblems(s.problemPage)
	s.get("/", (*visit).evaluatePage)
	s.post("/", (*visit).evaluateForm, (*visit).refuseEvaluation)
	s.get("/runs/{id}", (*visit).runPage)
	s.post("/runs/{id}", (*visit).checkForm, (*visit).refuse)
	s.get("/sign-in", (*visit).signInPage)
	s.post("/sign-in", (*visit).signInForm, (*visit).refuse)
	s.get("/sign-up", (*visit).signUpPage)
	s.post("/sign-up", (*visit).signUpForm, (*visit).refuse)
	s.post("/sign-out", (*visit).signOutForm, (*visit).refuseSignOut)
	s.get("/history", (*visit).historyPage)
	s.get("/jobs", (*visit).jobsPage)
	s.post("/jobs", (*visit).submitForm, (*visit).refuseSubmission)
	s.post("/jobs/drawing", (*visit).drawForm, (*visit).refuseDrawing)
	s.get("/jobs/{id}", (*visit).jobPage)
	s.post("/jobs/{id}", (*visit).cancelForm, (*visit).refuse)
	s.get("/proofs", (*visit).proofsPage)
	s.post("/proofs", (*visit).proofForm, (*visit).refuseProof)
	s.get("/certificates/{id}", (*visit).certificatePage)
	s.get("/bursts", (*visit).burstsPage)
	s.get("/bursts/{id}", (*visit).burstPage)
	s.get("/reference", (*visit).referencePage)
	s.get("/reference/{name}", (*visit).symbolPage)
	s.get("/plans", (*visit).plansPage)
	s.get("/account", (*visit).accountPage)
	s.post("/account", (*visit).accountForm, (*visit).refuse)
}

func (s Services) get(path string, page func(*visit)) {
	httpkit.HandleRaw(s.API, http.MethodGet, path, 0, func(w http.ResponseWriter, r *http.Request) {
		page(&visit{Services: s, w: w, r: r})
	})
}

// post serves what a form sends. One that was made for somebody else is shown by refused, which does nothing else.
func (s Services) post(path string, page func(*visit), refused func(*visit, *refusal)) {
	httpkit.HandleRaw(s.API, http.MethodPost, path, maxFormBytes, func(w http.ResponseWriter, r *http.Request) {
		v := &visit{Services: s, w: w, r: r}
		if problem := v.readForm(); problem != nil {
			v.show("problem", shown{Title: problem.Title, Problem: problem})
			return
		}
		if problem := v.madeForAnother(); problem != nil {
			refused(v, problem)
			return
		}
		page(v)
	})
}

// problemPage shows what the service refused before a page, or another route, was asked.
func (s Services) problemPage(w http.ResponseWriter, r *http.Request, p *httpkit.Problem) {
	v := &visit{Services: s, w: w, r: r}
	problem := &refusal{Problem: *p, Wait: w.Header().Get("Retry-After")}
	if p.Status >= http.StatusInternalServerError {
		v.person = &person{Problem: problem} // who it is could not be asked either
	}
	v.show("problem", shown{Title: p.Title, Problem: problem})
}

//go:embed pages assets samples
var files embed.FS

func read(path string) []byte {
	content, err := files.ReadFile(path)
	if err != nil {
		panic(err) // it is embedded
	}
	return content
}

// templates are the pages by name, each with the layout and the parts that pages share. They are parsed when a server begins: every other command
// and every child process would pay for them too.
var templates = sync.OnceValue(parse)

func parse() map[string]*template.Template {
	sources, err := fs.Glob(files, "pages/*.html")
	if err != nil {
		panic(err)
	}
	for _, path := range sources {
		if err := checkForms(string(read(path))); err != nil {
			panic(path + ": " + err.Error())
		}
	}
	shared := template.Must(template.New("layout").Option("missingkey=zero").Funcs(functions).ParseFS(files, "pages/layout.html", "pages/parts.html"))
	found, err := fs.Glob(files, "pages/page_*.html")
	if err != nil {
		panic(err)
	}
	all := map[string]*template.Template{}
	for _, path := range found {
		name := strings.TrimSuffix(strings.TrimPrefix(path, "pages/page_"), ".html")
		all[name] = template.Must(template.Must(shared.Clone()).ParseFS(files, path))
	}
	return all
}

// shown is what the layout shows of a page.
type shown struct {
	Title   string
	Section string // of the navigation that the page belongs to
	Person  person
	For     reader   // whose the forms of this page are
	Here    string   // path and query of this page, to come back to
	Scheme  string   // light or dark, where the reader has chosen one
	Problem *refusal // why there is nothing more to show
	Refused *refusal // what was asked for on the page
	Page    any
}

// visit is one request for a page.
type visit struct {
	Services
	w      http.ResponseWriter
	r      *http.Request
	person *person
}

// refusal is a problem that a route answered with.
type refusal struct {
	httpkit.Problem
	Wait string // Retry-After, in seconds; empty: none was given
}

// Patience is how long to wait before it is tried again, in milliseconds; 0: not known.
func (r *refusal) Patience() int64 {
	seconds, _ := integer(r.Wait)
	return seconds * 1000
}

// partOfRequest is what the API's names of fields begin with; a page names its own fields.
var partOfRequest = regexp.MustCompile(`\b(?:query|body)\.`)

// Said is the detail for a reader of pages.
func (r *refusal) Said() string { return partOfRequest.ReplaceAllString(r.Detail, "") }

// Further are the errors of fields that the detail does not say already, for a reader of pages.
func (r *refusal) Further() (further []httpkit.FieldError) {
	for _, e := range r.Errors {
		if !strings.Contains(r.Detail, e.Message) {
			e.Location = partOfRequest.ReplaceAllString(e.Location, "")
			further = append(further, e)
		}
	}
	return further
}

// ask answers a request to a route of the API as this page's reader; body is sent as JSON unless it is nil, and the answer is decoded
// into answer unless that is nil. The reply of a refusal is nil.
func (v *visit) ask(method, target string, body, answer any) (*httpkit.Reply, *refusal) {
	var sent []byte
	if body != nil {
		encoded, err := json.Marshal(body)
		if err != nil {
			return nil, v.broken(err)
		}
		sent = encoded
	}
	request := httpkit.RequestOf(v.r.Context())
	reply := v.API.ServeFor(v.r.Context(), httpkit.Delegation{Of: v.r, Source: event.SourceWeb, Agent: request.Agent}, method, target, sent)
	if reply.Status >= http.StatusBadRequest {
		problem := &refusal{Wait: reply.Header().Get("Retry-After")}
		if err := json.Unmarshal(reply.Body, &problem.Problem); err != nil || problem.Status == 0 {
			return nil, v.broken(errors.New("an answer of the API cannot be read"))
		}
		return nil, problem
	}
	if answer != nil {
		if err := json.Unmarshal(reply.Body, answer); err != nil {
			return nil, v.broken(err)
		}
	}
	return reply, nil
}

// broken is the refusal for a mistake of the program.
func (v *visit) broken(err error) *refusal {
	return &refusal{Problem: *httpkit.Internal.Problem("something went wrong here: %v", err)}
}

// severalFields are those of which a form may have more than one.
var severalFields = map[string]bool{"scope": true}

// readForm reads the form that was sent. Its text is held to what JSON bodies are: UTF-8, no name twice.
func (v *visit) readForm() *refusal {
	if err := v.r.ParseForm(); err != nil {
		if tooLong, is := errors.AsType[*http.MaxBytesError](err); is {
			return &refusal{Problem: *httpkit.TooLarge.Problem("the form is larger than %d bytes", tooLong.Limit)}
		}
		return &refusal{Problem: *httpkit.InvalidRequest.Problem("the form cannot be read")}
	}
	for name, values := range v.r.PostForm {
		if len(values) > 1 && !severalFields[name] {
			return &refusal{Problem: *httpkit.InvalidRequest.Problem("the form has a field more than once: %.40q", name)}
		}
		for _, value := range append(values, name) {
			if !utf8.ValidString(value) {
				return &refusal{Problem: *httpkit.InvalidRequest.Problem("the form is not UTF-8")}
			}
		}
	}
	return nil
}

// field is a text of the form, with the line ends of JSON rather than those of forms.
func (v *visit) field(name string) string {
	return strings.ReplaceAll(v.r.PostFormValue(name), "\r\n", "\n")
}

// person is who reads the page, as far as the page knows.
type person struct {
	SignedIn bool
	Account  string   // id; empty: nobody is signed in
	Email    string   // empty: the account has none
	Plan     string   // in force
	Problem  *refusal // why it is not known who it is
}

// who tells who reads the page, once.
func (v *visit) who() person {
	if v.person != nil {
		return *v.person
	}
	v.person = &person{}
	if !v.hasSession() {
		return *v.person
	}
	var account struct {
		UserID      string `json:"user_id"`
		Email, Plan string
	}
	switch _, problem := v.ask(http.MethodGet, "/api/account", nil, &account); {
	case problem == nil:
		v.person.SignedIn, v.person.Account, v.person.Email, v.person.Plan = true, account.UserID, account.Email, account.Plan
	case problem.Status != http.StatusUnauthorized:
		v.person.Problem = problem
	}
	return *v.person
}

// stranger tells whether it is known that nobody is signed in.
func (v *visit) stranger() bool { return !v.who().SignedIn && v.who().Problem == nil }

// hasSession tells whether the request has any credential that could be somebody's.
func (v *visit) hasSession() bool {
	return v.r.Header.Get("Cookie") != "" || v.r.Header.Get("Authorization") != ""
}

// show answers with a page. Its status is that of the problem, if it has one.
func (v *visit) show(name string, s shown) { v.showWithStatus(name, s, s.Problem) }

// scheme is the scheme of colours that the reader has chosen on a page, whose script sets the cookie; empty: that of the system.
func (v *visit) scheme() string {
	chosen, err := v.r.Cookie("reckon-scheme")
	if err != nil || chosen.Value != "light" && chosen.Value != "dark" {
		return ""
	}
	return chosen.Value
}

// showWithStatus answers with a page that shows a problem, if there is one, in a place of its own.
func (v *visit) showWithStatus(name string, s shown, problem *refusal) {
	s.Person = v.who()
	if s.For == "" {
		s.For = s.Person.reader()
	}
	s.Here, s.Scheme = local(v.r.URL.RequestURI()), v.scheme()
	if v.r.Method == http.MethodPost {
		s.Here = local(v.r.URL.Path)
	}
	var body bytes.Buffer
	status := http.StatusOK
	if problem != nil {
		status = pageStatus(problem.Status)
	}
	if err := templates()[name].ExecuteTemplate(&body, "layout", s); err != nil {
		panic(err) // the templates and what they show are ours
	}
	header := v.w.Header()
	header.Set("Content-Type", "text/html; charset=utf-8")
	header.Set("Content-Security-Policy", policy)
	header.Set("Referrer-Policy", "same-origin") // with no-referrer browsers send forms with Origin: null
	if problem != nil && problem.Wait != "" {
		header.Set("Retry-After", problem.Wait)
	}
	v.w.WriteHeader(status)
	_, _ = v.w.Write(body.Bytes()) // an error: the browser has gone
}

// pageStatus is the status of a page that shows a problem: its own, but for 408. Browsers take that for a connection that had been idle for
// too long, and send what they had sent once more (RFC 9110, section 15.5.9): a form would be evaluated several times.
func pageStatus(status int) int {
	if status == http.StatusRequestTimeout {
		return http.StatusUnprocessableEntity
	}
	return status
}

// go on to another page, by GET.
func (v *visit) redirect(to string) {
	v.w.Header().Set("Location", to)
	v.w.WriteHeader(http.StatusSeeOther)
}

// local is an address of this service to go on to, or the first page where it is none, or one of those to sign in and out by.
func local(to string) string {
	unsafe := strings.ContainsFunc(to, func(r rune) bool { return r <= ' ' || r == '\\' || r == 0x7f })
	if !strings.HasPrefix(to, "/") || strings.HasPrefix(to, "//") || strings.HasPrefix(to, "/sign-") || unsafe {
		return "/"
	}
	return to
}
