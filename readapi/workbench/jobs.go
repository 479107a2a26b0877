package workbench

import (
	"cmp"
	"encoding/json"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/google/uuid"

	"reckon/internal/view"
)

// jobsShown is the list of jobs, with the form for another.
type jobsShown struct {
	Filter  map[string]string
	Jobs    []jobRow `json:"jobs"`
	Next    *string  `json:"next_before"`
	Older   string
	Here    string
	Form    jobForm
	Diagram diagramShown // of the form's circuit
	Problem *refusal     // of the form
}

// jobForm is what has been filled in.
type jobForm struct{ Kind, Expression, SessionID, Circuit, Key string }

// bell is a circuit to begin with.
const bell = `{
  "qubits": 2, "shots": 1000,
  "gates": [{"gate": "h", "target": 0}, {"gate": "cx", "control": 0, "target": 1}]
}`

func newJobForm() jobForm { return jobForm{Circuit: bell, Key: uuid.NewString()} }

type jobRow struct {
	JobID          string  `json:"job_id"`
	Kind           string  `json:"kind"`
	Status         string  `json:"status"`
	Position       int64   `json:"position"`
	Attempt        int64   `json:"attempt"`
	CreatedAt      string  `json:"created_at"`
	StartedAt      *string `json:"started_at"`
	FinishedAt     *string `json:"finished_at"`
	TimeoutMS      int64   `json:"timeout_ms"`
	RunID          *int64  `json:"run_id"`
	Output         string  `json:"output"`
	Error          *string `json:"error"`
	CertificateID  string  `json:"certificate_id"`
	Resubmit       bool    `json:"resubmit"`
	RemainingToday *int64  `json:"jobs_remaining_today"`

	Result json.RawMessage `json:"result"`
}

// Live tells whether the job can still change.
func (j jobRow) Live() bool { return j.Status == "queued" || j.Status == "running" }

func (v *visit) jobsPage() { v.showJobs(newJobForm(), nil) }

func (v *visit) showJobs(form jobForm, refused *refusal) {
	filter, asked := v.given("status", "kind", "before"), url.Values{"limit": {"50"}}
	page := jobsShown{Filter: filter, Here: v.r.URL.RequestURI(), Form: form, Diagram: v.draw(form.Circuit), Problem: refused}
	for name, value := range filter {
		asked.Set(name, value)
	}
	_, problem := v.ask(http.MethodGet, "/api/jobs?"+asked.Encode(), nil, &page)
	page.Older = v.older("/jobs", filter, page.Next)
	v.showList("jobs", shown{Title: "Jobs", Section: "jobs", Page: page}, cmp.Or(problem, refused))
}

// submitForm submits a job. The form's own key makes a form that is sent twice one job.
func (v *visit) submitForm() {
	form := jobForm{Kind: v.field("kind"), Expression: v.field("expression"), SessionID: v.field("session_id"), Circuit: v.field("circuit"), Key: v.field("key")}
	body := map[string]any{"kind": form.Kind, "idempotency_key": form.Key}
	if form.Key == "" {
		delete(body, "idempotency_key")
	}
	switch form.Kind {
	case "qsim":
		body["circuit"] = circuitOf(form.Circuit)
	default:
		body["expression"] = form.Expression
		if form.SessionID != "" {
			body["session_id"] = form.SessionID
		}
	}
	var made jobRow
	if _, problem := v.ask(http.MethodPost, "/api/jobs", body, &made); problem != nil {
		form.Key = uuid.NewString()
		form.Circuit = cmp.Or(form.Circuit, bell)
		v.showJobs(form, problem)
		return
	}
	v.showJob(made)
}

// circuitOf is a circuit as JSON, or the OpenQASM program that a text is otherwise.
func circuitOf(text string) any {
	if trimmed := strings.TrimSpace(text); !strings.HasPrefix(trimmed, "{") {
		return map[string]string{"openqasm": text}
	}
	if json.Valid([]byte(text)) {
		return json.RawMessage(text)
	}
	return text // which the route refuses in its own words
}

// jobShown is one job.
type jobShown struct {
	jobRow
	Answer  *view.Evaluation // of an evaluation
	Circuit *circuitResult   // of a simulation
	Cancel  *cancelled       // it was just cancelled
}

type cancelled struct {
	Cancelled      bool
	Refunded       bool
	RemainingToday int64 `json:"jobs_remaining_today"`
}

// circuitResult is what a page shows of a simulation.
type circuitResult struct {
	Counts     map[string]int64 `json:"counts"`
	Shots      int64            `json:"shots"`
	Seed       json.Number      `json:"seed"`
	Depth      int64            `json:"depth"`
	Engine     string           `json:"engine"`
	GateCounts map[string]int64 `json:"gate_counts"`
	Warnings   []string         `json:"warnings"`
	Bars       []bar
	More       int // keys that are not drawn
	Height     int // of the drawing
}

// bar is one key of a histogram, drawn at Y and Width wide.
type bar struct {
	Key           string
	Count         int64
	Y, Width, End int
}

// Bounds of the drawing of counts, in its own units.
const (
	mostBars  = 32
	barHeight = 22
	barSpace  = 420
	barLeft   = 150
)

// draw lays out the largest counts, in the order of their keys.
func (c *circuitResult) draw() {
	keys := slices.SortedFunc(maps.Keys(c.Counts), func(a, b string) int {
		return cmp.Or(cmp.Compare(c.Counts[b], c.Counts[a]), cmp.Compare(a, b))
	})
	if len(keys) > mostBars {
		c.More, keys = len(keys)-mostBars, keys[:mostBars]
	}
	slices.Sort(keys)
	most := int64(1)
	for _, key := range keys {
		most = max(most, c.Counts[key])
	}
	for i, key := range keys {
		width := int(c.Counts[key] * barSpace / most)
		c.Bars = append(c.Bars, bar{Key: key, Count: c.Counts[key], Y: i * barHeight, Width: max(1, width), End: barLeft + max(1, width) + 6})
	}
	c.Height = len(keys)*barHeight + 4
}

func (v *visit) jobPage() {
	var job jobRow
	if _, problem := v.ask(http.MethodGet, v.jobAddress(), nil, &job); problem != nil {
		v.show("job", shown{Title: "Job", Section: "jobs", Problem: problem})
		return
	}
	v.showJob(job)
}

func (v *visit) jobAddress() string { return "/api/jobs/" + url.PathEscape(v.r.PathValue("id")) }

func (v *visit) showJob(job jobRow) { v.showCancelledJob(job, nil) }

func (v *visit) showCancelledJob(job jobRow, after *cancelled) {
	page := jobShown{jobRow: job, Cancel: after}
	var problem *refusal
	if len(job.Result) > 0 && string(job.Result) != "null" {
		switch job.Kind {
		case "evaluate":
			page.Answer = &view.Evaluation{}
			problem = v.decode(job.Result, page.Answer)
		case "qsim":
			page.Circuit = &circuitResult{}
			if problem = v.decode(job.Result, page.Circuit); problem == nil {
				page.Circuit.draw()
			}
		}
	}
	v.show("job", shown{Title: "Job", Section: "jobs", Problem: problem, Page: page})
}

func (v *visit) decode(document []byte, into any) *refusal {
	if err := json.Unmarshal(document, into); err != nil {
		return v.broken(err)
	}
	return nil
}

func (v *visit) cancelForm() {
	after := &cancelled{}
	if _, problem := v.ask(http.MethodDelete, v.jobAddress(), nil, after); problem != nil {
		v.show("job", shown{Title: "Job", Section: "jobs", Problem: problem})
		return
	}
	var job jobRow
	if _, problem := v.ask(http.MethodGet, v.jobAddress(), nil, &job); problem != nil {
		v.show("job", shown{Title: "Job", Section: "jobs", Problem: problem})
		return
	}
	v.showCancelledJob(job, after)
}
