package operator

import (
	"bytes"
	"context"
	"embed"
	"errors"
	"fmt"
	"html/template"
	"io/fs"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"reckon/projections/engine"
	"reckon/readapi/workbench"
	"reckon/readapi/workbench/htmx"
)

// The bounds of a page.
const (
	LogEvents    = 100             // events of the log
	LogLookBack  = 20_000          // newest events of the log that are searched for them
	StreamEvents = 100             // events of a stream
	TreeEvents   = 1000            // events of a correlation
	maxFormBytes = 16 << 10        // of a form
	maxFieldText = 2000            // bytes of a field
	readFor      = time.Minute     // at most, for a page
	actFor       = 5 * time.Minute // at most, for what was asked for
)

// ErrNotFound says that what a page asks for is not there.
var ErrNotFound = errors.New("there is no such thing")

// ErrNoServer says that no server runs, so that nothing is appended. To look would open the log's files, which a starting server needs.
var ErrNoServer = errors.New("no server runs")

// renewal tells whether a page renews itself, rather than that its reader asks for it (htmx sends the header).
func renewal(r *http.Request) bool { return r.Header.Get("HX-Request") == "true" }

// Source is what the pages show and do: the operator's commands. Their errors are shown; ErrNotFound in them makes a page's status 404.
type Source interface {
	// Projections and Log also answer pages that renew themselves: then they are ErrNoServer where no server runs.
	Projections(ctx context.Context, renewal bool) (list []engine.Status, live bool, err error)
	Log(ctx context.Context, filter Filter, renewal bool) (Log, error)
	Stream(ctx context.Context, name string, from int64) (Stream, error)
	Correlation(ctx context.Context, of string, since uint64) (Tree, error)
	Parked(ctx context.Context) ([]Parked, error)
	ParkedEvents(ctx context.Context, by, stream string) ([]Parked, error)
	Retry(ctx context.Context, by string) error
	Drop(ctx context.Context, by, stream string) error
}

// Event is an event as people read it: its texts cut, and what a terminal would obey written as \uXXXX.
type Event struct {
	Position    uint64
	Stream      string
	Revision    int64
	Name        string
	Version     int
	At          time.Time // zero: not known
	Correlation string
	Facts       []Fact // of its metadata
	Data        string // JSON
	Unreadable  string // why Data is as stored
}

// Fact is a field of an event's metadata.
type Fact struct{ Name, Value string }

// Filter is which events of the log are asked for. An empty field takes all.
type Filter struct {
	Type    string // of a type, or of all whose names begin so where it ends in a dot
	Kind    string // of streams of this kind: job takes job-…
	Account string // about this account: address or id
}

// Log is the newest events that match, newest first.
type Log struct {
	Events   []Event
	Searched int  // events that were looked at
	Whole    bool // to the beginning of the log
	Live     bool // more may be appended: a server runs
}

// Stream is StreamEvents of a stream from a revision on, and the state after its newest event.
type Stream struct {
	Events  []Event
	Last    int64  // revision of the newest event
	State   string // JSON
	Missing string // why there is no state
}

// Tree is what one request led to.
type Tree struct {
	Correlation string   // empty: it is of a trace
	Traces      []string // ids of the OpenTelemetry traces of its events
	At          time.Time
	Actor       string
	Source      string
	Rows        []Row // a parent stands before its children
	Truncated   bool  // there are more than TreeEvents
}

// Row is an event of a tree.
type Row struct {
	Event
	Branch  string        // its place, drawn
	Level   int           // from 1
	After   time.Duration // since the tree's first event
	Guessed bool          // it follows the event above in its stream; its metadata name no cause
}

// Parked is an event that was set aside. A projection's may be given up, a reaction's not.
type Parked struct {
	By       string
	Reaction bool
	Version  int // of the projection
	Event    Event
	Since    time.Time
	Reason   string
	Gone     bool // it is not in the log
}

// Pages serves the pages of a source, below whatever path the door has.
func Pages(source Source) http.Handler {
	p := pages{source}
	mux := http.NewServeMux()
	for path, asset := range map[string]struct {
		contentType string
		body        []byte
	}{
		"workbench.css": {"text/css; charset=utf-8", workbench.Stylesheet}, "workbench.js": {"text/javascript; charset=utf-8", workbench.Script},
		"operator.css": {"text/css; charset=utf-8", read("assets/operator.css")}, "htmx.js": {"text/javascript; charset=utf-8", htmx.Script},
		"icon.svg": {"image/svg+xml", workbench.Icon},
	} {
		mux.HandleFunc("GET /"+path, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", asset.contentType)
			_, _ = w.Write(asset.body) // an error: the browser has gone
		})
	}
	mux.HandleFunc("GET /overview", p.page("overview", "Overview", p.overview))
	mux.HandleFunc("GET /log", p.page("log", "Log", p.log))
	mux.HandleFunc("GET /stream", p.page("stream", "Stream", p.stream))
	mux.HandleFunc("GET /correlation", p.page("correlation", "Correlation", p.correlation))
	mux.HandleFunc("GET /parked", p.page("parked", "Parked events", p.parked))
	mux.HandleFunc("GET /ask", p.page("ask", "Parked events", p.ask))
	mux.HandleFunc("POST /parked", p.act)
	mux.HandleFunc("/", p.page("none", "Nothing here", func(context.Context, *http.Request) (any, error) {
		return nil, fmt.Errorf("%w: no page has this address, or it takes no request of this kind", ErrNotFound)
	}))
	return mux
}

type pages struct{ source Source }

// shown is what the layout shows of a page.
type shown struct {
	Title   string
	Section string
	Problem string // why there is nothing more to show
	Page    any
}

func (p pages) page(name, title string, read func(context.Context, *http.Request) (any, error)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		ctx, cancel := context.WithTimeout(r.Context(), readFor)
		defer cancel()
		content, err := read(ctx, r)
		show(w, name, shown{Title: title, Section: name, Page: content}, err)
	}
}

func show(w http.ResponseWriter, name string, s shown, err error) {
	status := http.StatusOK
	switch invalid := (*invalidError)(nil); {
	case err == nil:
	case errors.As(err, &invalid):
		status = http.StatusBadRequest
	case errors.Is(err, ErrNotFound):
		status = http.StatusNotFound
	case errors.Is(err, ErrNoServer):
		status = http.StatusServiceUnavailable
	default:
		status = http.StatusInternalServerError
	}
	if err != nil {
		s.Problem = err.Error()
	}
	if s.Problem != "" && templates()[name] == nil {
		name = "overview" // any: the layout shows the problem instead
	}
	var body bytes.Buffer
	if err := templates()[name].ExecuteTemplate(&body, "layout", s); err != nil {
		panic(err) // the templates and what they show are ours
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.WriteHeader(status)
	_, _ = w.Write(body.Bytes()) // an error: the browser has gone
}

// invalidError is a mistake in what the reader asked for.
type invalidError struct{ reason string }

func (e *invalidError) Error() string { return e.reason }

// field is a text of the query or the form.
func field(values url.Values, name string) (string, error) {
	value := strings.TrimSpace(values.Get(name))
	if len(value) > maxFieldText || !utf8.ValidString(value) {
		return "", &invalidError{fmt.Sprintf("%s: say at most %d bytes of UTF-8", name, maxFieldText)}
	}
	return value, nil
}

// fields reads several fields.
func fields(values url.Values, into map[string]*string) error {
	for name, to := range into {
		value, err := field(values, name)
		if err != nil {
			return err
		}
		*to = value
	}
	return nil
}

// number is a field that is a count from 0; 0 where it is empty.
func number(values url.Values, name string) (int64, error) {
	text, err := field(values, name)
	if err != nil || text == "" {
		return 0, err
	}
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil || n < 0 {
		return 0, &invalidError{fmt.Sprintf("%s: say a whole number from 0", name)}
	}
	return n, nil
}

func (p pages) overview(ctx context.Context, r *http.Request) (any, error) {
	list, live, err := p.source.Projections(ctx, renewal(r))
	if err != nil {
		return nil, err
	}
	parked, err := p.source.Parked(ctx)
	counts := map[string]int{} // by reaction; read models have their own
	for _, each := range parked {
		if each.Reaction {
			counts[each.By]++
		}
	}
	return struct {
		Projections []engine.Status
		Reactions   map[string]int
		Live        bool
	}{list, counts, live}, err
}

func (p pages) log(ctx context.Context, r *http.Request) (any, error) {
	page := struct {
		Log
		Filter Filter
		Here   string
	}{}
	query := r.URL.Query()
	if err := fields(query, map[string]*string{"type": &page.Filter.Type, "kind": &page.Filter.Kind, "account": &page.Filter.Account}); err != nil {
		return nil, err
	}
	page.Here = "log?" + url.Values{"type": {page.Filter.Type}, "kind": {page.Filter.Kind}, "account": {page.Filter.Account}}.Encode()
	var err error
	page.Log, err = p.source.Log(ctx, page.Filter, renewal(r))
	return page, err
}

func (p pages) stream(ctx context.Context, r *http.Request) (any, error) {
	page := struct {
		Stream
		Name  string
		From  int64
		Newer int64 // revision of the next page's first event; 0: there is none
	}{}
	var err error
	if page.Name, err = field(r.URL.Query(), "name"); err != nil || page.Name == "" {
		return page, err
	}
	if page.From, err = number(r.URL.Query(), "from"); err != nil {
		return nil, err
	}
	page.Stream, err = p.source.Stream(ctx, page.Name, page.From)
	if n := len(page.Events); n > 0 && page.Events[n-1].Revision < page.Last {
		page.Newer = page.Events[n-1].Revision + 1
	}
	return page, err
}

func (p pages) correlation(ctx context.Context, r *http.Request) (any, error) {
	page := struct {
		Tree
		Of    string
		Since int64
	}{}
	var err error
	if page.Of, err = field(r.URL.Query(), "of"); err != nil || page.Of == "" {
		return page, err
	}
	if page.Since, err = number(r.URL.Query(), "since"); err != nil {
		return nil, err
	}
	page.Tree, err = p.source.Correlation(ctx, page.Of, uint64(page.Since)) //nolint:gosec // not below 0
	return page, err
}

func (p pages) parked(ctx context.Context, r *http.Request) (any, error) {
	page := struct {
		By, Stream string
		Parked     []Parked
	}{}
	err := fields(r.URL.Query(), map[string]*string{"by": &page.By, "stream": &page.Stream})
	switch {
	case err != nil:
	case page.By == "" && page.Stream == "":
		page.Parked, err = p.source.Parked(ctx)
	default:
		page.Parked, err = p.source.ParkedEvents(ctx, page.By, page.Stream)
	}
	return page, err
}

// ask shows what would be done and the button that does it.
func (p pages) ask(ctx context.Context, r *http.Request) (any, error) {
	page := struct {
		Do, By, Stream string
		Count          int
	}{}
	if err := fields(r.URL.Query(), map[string]*string{"do": &page.Do, "by": &page.By, "stream": &page.Stream}); err != nil {
		return nil, err
	}
	if page.Do != "retry" && page.Do != "drop" {
		return nil, &invalidError{"do: say retry or drop"}
	}
	all, err := p.source.Parked(ctx)
	if err != nil {
		return nil, err
	}
	for _, each := range all {
		if each.By == page.By && (page.Do == "retry" || each.Event.Stream == page.Stream && !each.Reaction) {
			page.Count++
		}
	}
	if page.Count == 0 {
		return nil, fmt.Errorf("%w: %s has parked nothing like that", ErrNotFound, page.By)
	}
	return page, nil
}

// act does what was asked for by a form.
func (p pages) act(w http.ResponseWriter, r *http.Request) {
	r.Body = http.MaxBytesReader(w, r.Body, maxFormBytes)
	var do, by, stream string
	err := r.ParseForm()
	if err != nil {
		err = &invalidError{fmt.Sprintf("the form cannot be read, or is larger than %d bytes", maxFormBytes)}
	} else {
		err = fields(r.PostForm, map[string]*string{"do": &do, "by": &by, "stream": &stream})
	}
	if err == nil {
		ctx, cancel := context.WithTimeout(r.Context(), actFor)
		defer cancel()
		switch do {
		case "retry":
			err = p.source.Retry(ctx, by)
		case "drop":
			err = p.source.Drop(ctx, by, stream)
		default:
			err = &invalidError{"do: say retry or drop"}
		}
	}
	if err != nil {
		show(w, "parked", shown{Title: "Parked events", Section: "parked"}, err)
		return
	}
	w.Header().Set("Location", "parked")
	w.WriteHeader(http.StatusSeeOther)
}

//go:embed pages assets
var files embed.FS

func read(path string) []byte {
	content, err := files.ReadFile(path)
	if err != nil {
		panic(err) // it is embedded
	}
	return content
}

// templates are the pages by name, each with the layout. They are parsed when one is shown: every command would pay for them too.
var templates = sync.OnceValue(parse)

func parse() map[string]*template.Template {
	shared := template.Must(template.New("layout").Funcs(template.FuncMap{"visible": workbench.Visible, "moment": moment, "eta": eta}).ParseFS(files, "pages/layout.html"))
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

// moment is a time as <time> has it; empty: not known.
func moment(at time.Time) string {
	if at.IsZero() {
		return ""
	}
	return at.UTC().Format(time.RFC3339Nano)
}

// eta is how long a read model needs to the end of the log.
func eta(s engine.Status) string {
	switch {
	case s.ETA < 0:
		return "unknown"
	case s.Lag == 0:
		return "there"
	}
	return time.Duration(s.ETA * float64(time.Second)).Round(time.Second).String()
}
