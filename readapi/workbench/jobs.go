package workbench

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math/bits"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/google/uuid"

	"reckon/domain/circuit"
	"reckon/domain/event"
	"reckon/domain/upload"
	"reckon/internal/httpkit"
	"reckon/internal/view"
)

// jobsShown is the list of jobs, with the form for another.
type jobsShown struct {
	samples
	Visitor bool // nobody is signed in: there are samples, and no form
	Filter  map[string]string
	Jobs    []jobRow `json:"jobs"`
	Next    *string  `json:"next_before"`
	Older   string
	Here    string
	Form    jobForm
	Diagram diagramShown // of the form's circuit
	NoList  *refusal     // why the jobs are not known, on a page that has its form all the same
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
	SessionID      string  `json:"session_id"`
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
	Preview        string  `json:"preview"`
	Verdict        string  `json:"verdict"`
	Resubmit       bool    `json:"resubmit"`
	RemainingToday *int64  `json:"jobs_remaining_today"`

	Result           json.RawMessage `json:"result"`
	Submitted        json.RawMessage `json:"submitted"` // where it was asked for
	SubmittedRemoved bool            `json:"submitted_removed"`

	Elapsed *int64 `json:"-"` // of the present or last attempt, in milliseconds; nil: there was none
}

// elapsed is how long the present or last attempt has taken, in milliseconds; nil: there was none.
func (j jobRow) elapsed(now time.Time) *int64 {
	if j.StartedAt == nil {
		return nil
	}
	began, err := event.ParseTimestamp(*j.StartedAt)
	if err != nil {
		return nil
	}
	if j.FinishedAt != nil {
		if now, err = event.ParseTimestamp(*j.FinishedAt); err != nil {
			return nil
		}
	}
	return new(max(0, now.Sub(began).Milliseconds()))
}

// Live tells whether the job can still change.
func (j jobRow) Live() bool { return j.Status == "queued" || j.Status == "running" }

// Unpublished tells whether the run or the certificate of the job has not been written yet, which comes after its end.
func (j jobRow) Unpublished() bool {
	return j.Status == "succeeded" && (j.Kind == "proof" && j.CertificateID == "" || j.Kind == "evaluate" && j.RunID == nil)
}

func (v *visit) jobsPage() {
	if v.stranger() {
		v.show("jobs", shown{Title: "Jobs", Section: "jobs", Page: jobsShown{Visitor: true}})
		return
	}
	v.showJobs(newJobForm(), "", nil)
}

// showJobs shows the list with the form. What was filled in stays on the page, whatever refuses it: refused is that of the form, which is bound to
// who reads the page now unless of is somebody else.
func (v *visit) showJobs(form jobForm, of reader, refused *refusal) {
	filter, asked := v.given("status", "kind", "before"), url.Values{"limit": {"50"}}
	page := jobsShown{Filter: filter, Here: v.r.URL.RequestURI(), Form: form, Diagram: v.draw(form.Circuit, v.qubits())}
	for name, value := range filter {
		asked.Set(name, value)
	}
	_, problem := v.ask(http.MethodGet, "/api/jobs?"+asked.Encode(), nil, &page)
	page.Older = v.older("/jobs", filter, page.Next)
	for i, job := range page.Jobs {
		page.Jobs[i].Elapsed = job.elapsed(v.Now())
	}
	if refused == nil {
		v.showList("jobs", shown{Title: "Jobs", Section: "jobs", Page: page}, problem)
		return
	}
	page.NoList = problem
	v.showWithStatus("jobs", shown{Title: "Jobs", Section: "jobs", For: of, Page: page, Refused: refused}, refused)
}

// submitForm submits a job. The form's own key makes a form that is sent twice one job.
func (v *visit) submitForm() {
	form := v.jobFields()
	body := map[string]any{"kind": form.Kind, "idempotency_key": form.Key}
	if form.Key == "" {
		delete(body, "idempotency_key")
	}
	switch form.Kind {
	case "qsim":
		if wrong := notJSON(form.Circuit); wrong != "" {
			v.showJobsAgain(form, "", &refusal{Problem: *httpkit.InvalidRequest.Problem("%s", wrong)})
			return
		}
		body["circuit"] = circuitOf(form.Circuit)
	default:
		body["expression"] = form.Expression
		if form.SessionID != "" {
			body["session_id"] = form.SessionID
		}
	}
	var made jobRow
	if _, problem := v.ask(http.MethodPost, "/api/jobs", body, &made); problem != nil {
		v.showJobsAgain(form, "", problem)
		return
	}
	v.goOnToJob(made)
}

// goOnToJob leads to the page of a job that was submitted.
func (v *visit) goOnToJob(made jobRow) {
	what := "submitted"
	if made.Resubmit {
		what = "resubmitted"
	}
	v.goOnHaving(done{what, made.RemainingToday}, jobPath(made.JobID))
}

// jobFields are the form's fields as they were filled in.
func (v *visit) jobFields() jobForm {
	return jobForm{Kind: v.field("kind"), Expression: v.field("expression"), SessionID: v.field("session_id"), Circuit: v.field("circuit"), Key: v.field("key")}
}

// showJobsAgain shows a form that was not taken, which is another submission when it is sent again.
func (v *visit) showJobsAgain(form jobForm, of reader, problem *refusal) {
	form.Key = uuid.NewString()
	form.Circuit = cmp.Or(form.Circuit, bell)
	v.showJobs(form, of, problem)
}

// refuseSubmission shows the form again. While nobody is signed in it stays whose it was: it can be sent once they have signed in.
func (v *visit) refuseSubmission(problem *refusal) {
	v.showJobsAgain(v.jobFields(), v.stillOf(problem), problem)
}

// jobPath is the page of a job.
func jobPath(id string) string { return "/jobs/" + url.PathEscape(id) }

// isJSON tells whether a circuit is meant as JSON; any other text is an OpenQASM program.
func isJSON(circuit string) bool { return strings.HasPrefix(strings.TrimSpace(circuit), "{") }

// circuitOf is a circuit that notJSON finds nothing in, as the API takes it.
func circuitOf(text string) any {
	if isJSON(text) {
		return json.RawMessage(text)
	}
	return map[string]string{"openqasm": text}
}

// notJSON says where a circuit that is meant as JSON is none; empty: nowhere. Lines and columns count from 1, columns in characters.
func notJSON(text string) string {
	if !isJSON(text) {
		return ""
	}
	var value any
	syntax, wrong := errors.AsType[*json.SyntaxError](json.Unmarshal([]byte(text), &value))
	if !wrong {
		return ""
	}
	before := text[:max(0, min(int64(len(text)), syntax.Offset)-1)]
	if int64(len(strings.TrimRight(text, " \t\r\n"))) <= syntax.Offset && strings.Contains(syntax.Error(), "unexpected end") {
		before = strings.TrimRight(text, " \t\r\n")
	}
	line := 1 + strings.Count(before, "\n")
	column := 1 + utf8.RuneCountInString(before[1+strings.LastIndex(before, "\n"):])
	return fmt.Sprintf("The circuit is no JSON: line %d, column %d: %s.", line, column, strings.TrimPrefix(syntax.Error(), "json: "))
}

// jobShown is one job.
type jobShown struct {
	jobRow
	Answer  *view.Evaluation // of an evaluation
	Circuit *circuitResult   // of a simulation
	Told    told
	Given   *submitted // what was submitted; nil: it is not known, or not asked for
	Done    done
}

// submitted is what a job was submitted with.
type submitted struct {
	SessionID    string `json:"session_id"`
	Expression   string
	Circuit      json.RawMessage
	Declarations []string
	RunID        int64          `json:"run_id"`
	Export       *upload.Export // of a proof
	Diagram      diagramShown   `json:"-"` // of the circuit
	Others       string         `json:"-"` // JSON of the fields of a kind that has no form of its own here
}

// Program tells whether the circuit is a program, whose keys are of its classical bits.
func (s *submitted) Program() bool {
	var program struct{ OpenQASM string }
	return s != nil && json.Unmarshal(s.Circuit, &program) == nil && program.OpenQASM != ""
}

// CircuitText is the circuit as it was written: the program, or indented JSON.
func (s submitted) CircuitText() string {
	var program struct{ OpenQASM string }
	if err := json.Unmarshal(s.Circuit, &program); err == nil && program.OpenQASM != "" {
		return program.OpenQASM
	}
	return indented(s.Circuit)
}

func indented(document []byte) string {
	var text bytes.Buffer
	if err := json.Indent(&text, document, "", "  "); err != nil {
		return string(document)
	}
	return text.String()
}

// givenTo is what a job was submitted with, as its page shows it.
func (v *visit) givenTo(job jobRow) (*submitted, *refusal) {
	if len(job.Submitted) == 0 || string(job.Submitted) == "null" {
		return nil, nil
	}
	given := &submitted{}
	if problem := v.decode(job.Submitted, given); problem != nil {
		return nil, problem
	}
	switch job.Kind {
	case "evaluate", "proof":
	case "qsim":
		if v.r.Header.Get("HX-Request") == "" { // what htmx asks for is the part above, again and again
			given.Diagram = v.draw(string(given.Circuit), circuit.MaxQubits)
		}
		given.Diagram.Submitted = true
	default:
		*given = submitted{Others: indented(job.Submitted)}
	}
	return given, nil
}

type cancelled struct {
	Cancelled      bool
	Refunded       bool
	RemainingToday *int64 `json:"jobs_remaining_today"`
}

// what of a cancellation is told on the job's page.
func (c cancelled) what() string {
	switch {
	case !c.Cancelled:
		return "ended"
	case c.Refunded:
		return "refunded"
	}
	return "cancelled"
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

	Expectations  []circuit.Expectation `json:"expectations"`
	Marginals     []circuit.Marginal    `json:"marginals"`
	Probabilities map[string]float64    `json:"probabilities"`
	Statevector   [][2]float64          `json:"statevector"`
	NPY           *circuit.StateFile    `json:"npy"`
	Memory        []string              `json:"memory"`
	Omitted       map[string]string     `json:"omitted"`

	Bars   []bar
	More   int // keys that are not drawn
	Height int // of the drawing
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

// draw lays out the largest counts, from the largest.
func (c *circuitResult) draw() {
	keys := slices.SortedFunc(maps.Keys(c.Counts), func(a, b string) int {
		return cmp.Or(cmp.Compare(c.Counts[b], c.Counts[a]), cmp.Compare(a, b))
	})
	if len(keys) > mostBars {
		c.More, keys = len(keys)-mostBars, keys[:mostBars]
	}
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

// outcome is a key with its probability.
type outcome struct {
	Key         string
	Probability float64
}

// mostOutcomes is how many rows a table of outcomes or amplitudes has.
const mostOutcomes = 32

// Outcomes are the likeliest keys of a distribution, from the likeliest.
func (c *circuitResult) Outcomes(of map[string]float64) []outcome {
	keys := slices.SortedFunc(maps.Keys(of), func(a, b string) int { return cmp.Or(cmp.Compare(of[b], of[a]), cmp.Compare(a, b)) })
	keys = keys[:min(len(keys), mostOutcomes)]
	list := make([]outcome, len(keys))
	for i, key := range keys {
		list[i] = outcome{key, of[key]}
	}
	return list
}

// amplitude is an entry of a state vector.
type amplitude struct {
	Key                string // of the basis state, qubit 0 rightmost
	Re, Im, Likelihood float64
}

// Amplitudes are the largest entries of the state vector, in its order.
func (c *circuitResult) Amplitudes() []amplitude {
	if len(c.Statevector) == 0 {
		return nil
	}
	qubits := bits.Len(uint(len(c.Statevector)) - 1)
	all := make([]amplitude, len(c.Statevector))
	for i, a := range c.Statevector {
		all[i] = amplitude{fmt.Sprintf("%0*b", max(1, qubits), i), a[0], a[1], a[0]*a[0] + a[1]*a[1]}
	}
	slices.SortStableFunc(all, func(a, b amplitude) int { return cmp.Compare(b.Likelihood, a.Likelihood) })
	all = all[:min(len(all), mostOutcomes)]
	slices.SortFunc(all, func(a, b amplitude) int { return cmp.Compare(a.Key, b.Key) })
	return all
}

func (v *visit) jobPage() {
	var job jobRow
	if _, problem := v.ask(http.MethodGet, v.jobAddress()+"?submitted=true", nil, &job); problem != nil {
		v.show("job", shown{Title: "Job", Section: "jobs", Problem: problem})
		return
	}
	v.showJob(job)
}

func (v *visit) jobAddress() string { return "/api/jobs/" + url.PathEscape(v.r.PathValue("id")) }

func (v *visit) showJob(job jobRow) {
	page := jobShown{jobRow: job, Done: v.justDone()}
	page.Elapsed = job.elapsed(v.Now())
	given, problem := v.givenTo(job)
	page.Given = given
	if problem == nil && len(job.Result) > 0 && string(job.Result) != "null" {
		switch job.Kind {
		case "evaluate":
			page.Answer = &view.Evaluation{}
			problem = v.decode(job.Result, page.Answer)
			expression := ""
			if given != nil {
				expression = given.Expression
			}
			page.Told = toldOf(expression, page.Answer.Warnings, page.Answer.Suggestions)
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
	var after cancelled
	if _, problem := v.ask(http.MethodDelete, v.jobAddress(), nil, &after); problem != nil {
		v.show("job", shown{Title: "Job", Section: "jobs", Problem: problem})
		return
	}
	v.goOnHaving(done{after.what(), after.RemainingToday}, jobPath(v.r.PathValue("id")))
}
