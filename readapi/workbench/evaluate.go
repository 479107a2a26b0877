package workbench

import (
	"cmp"
	"net/http"
	"net/url"
	"strconv"

	"reckon/domain/run"
	"reckon/internal/httpkit"
	"reckon/internal/view"
)

// maxPrefilled bounds the expression that an address may bring along, in bytes.
const maxPrefilled = 4000

// evaluateShown is what the first page shows.
type evaluateShown struct {
	samples
	Expression   string // in the form
	NotPrefilled bool   // the address brought one that is too long
	SessionID    string
	Sessions     []sessionRow
	Notebook     *notebook // of the session, as the history has it; nil: there is none to show
	Cells        []cell
	Shown        []cell
	Awaited      bool  // they are being answered
	LimitMS      int64 // how long an evaluation of the reader may compute; 0: it is not known
}

type sessionRow struct {
	SessionID string `json:"session_id"`
}

// cell is a question with what came of it: an answer, or a problem.
type cell struct {
	Expression string
	SessionID  string
	For        reader // whose page it is a cell of
	Answer     *view.Evaluation
	Anonymous  bool // nothing was kept: there is no run, receipt or picture
	Problem    *refusal
	Told       told
	Left       *left // of what may be asked without an account
	Elsewhere  *elsewhere
}

// elsewhere is where a question can be asked whose page was made for somebody else.
type elsewhere struct {
	Address string // of the first page with the expression in its form; without the expression where it is too long for an address
	Whole   bool   // the expression is in the address
	As      string // who is signed in now
}

// Again is what evaluates the cell again.
func (c cell) Again() again { return again{c.Expression, c.SessionID, c.For} }

// Run is the number of the cell's run; nil: it is no run.
func (c cell) Run() *int64 {
	switch {
	case c.Answer != nil:
		return c.Answer.RunID
	case c.Problem != nil:
		return c.Problem.RunID
	}
	return nil
}

// left is what is left of an allowance.
type left struct{ Limit, Remaining string }

// applied is a suggestion with the whole expression as it would be with it.
type applied struct {
	httpkit.Suggestion
	Expression string
	Address    string
}

func (v *visit) evaluatePage() {
	page := evaluateShown{Expression: v.r.URL.Query().Get("e"), SessionID: v.r.URL.Query().Get("session_id")}
	if len(page.Expression) > maxPrefilled {
		page.Expression, page.NotPrefilled = "", true
	}
	v.showEvaluate(page, nil)
}

// showEvaluate shows the page; problem is that of its only cell, whose status the page has.
func (v *visit) showEvaluate(page evaluateShown, problem *refusal) {
	if v.r.Header.Get("HX-Request") == "" {
		page.LimitMS = v.evaluationLimit()
		page.Shown, page.Awaited = v.shown.answers(v.r.Context())
	}
	if v.who().SignedIn {
		var live struct{ Sessions []sessionRow }
		if _, refused := v.ask(http.MethodGet, "/api/sessions", nil, &live); refused == nil {
			page.Sessions = live.Sessions
		}
		// What htmx asks for is added to the cells that the page has.
		if page.SessionID != "" && v.r.Header.Get("HX-Request") == "" {
			shownAlready := int64(0)
			if len(page.Cells) == 1 && page.Cells[0].Answer != nil && page.Cells[0].Answer.RunID != nil {
				shownAlready = *page.Cells[0].Answer.RunID
			}
			page.Notebook = v.notebookOf(page.SessionID, page.Sessions, shownAlready)
		}
	}
	v.showWithStatus("evaluate", shown{Title: "Evaluate", Section: "evaluate", Page: page}, problem)
}

// evaluationLimit is how long an evaluation of the reader may compute, in milliseconds; 0: it is not known.
func (v *visit) evaluationLimit() int64 {
	if !v.who().SignedIn {
		return v.AnonymousBudget.Milliseconds()
	}
	var catalogue plansShown
	v.ask(http.MethodGet, "/billing/plans", nil, &catalogue) // refused: there are no plans in it
	for _, plan := range catalogue.Plans {
		if plan.Plan == v.who().Plan {
			return plan.EvaluationBudgetMS
		}
	}
	return 0
}

func (v *visit) evaluateForm() {
	asked := cell{Expression: v.field("expression"), For: v.who().reader(), Anonymous: !v.who().SignedIn}
	body, route := map[string]string{"expression": asked.Expression}, "/api/public/evaluate"
	session := v.field("session_id")
	if !asked.Anonymous {
		route = "/api/evaluate"
		if session != "" {
			body["session_id"] = session
			asked.SessionID = session
		}
	}
	answer := &view.Evaluation{}
	reply, problem := v.ask(http.MethodPost, route, body, answer)
	if problem != nil {
		asked.Problem, asked.Told = problem, told{Suggestions: apply(asked.Expression, problem.Suggestions)}
	} else {
		asked.Answer, asked.Told = answer, toldOf(asked.Expression, answer.Warnings, answer.Suggestions)
		if limit := reply.Header().Get("X-RateLimit-Limit"); asked.Anonymous && limit != "" {
			asked.Left = &left{limit, reply.Header().Get("X-RateLimit-Remaining")}
		}
	}
	page := evaluateShown{SessionID: session, Cells: []cell{asked}}
	if problem != nil {
		page.Expression = asked.Expression // to be mended; with scripts the field has not been emptied
	}
	v.showEvaluate(page, problem)
}

// refuseEvaluation shows an expression that was not evaluated, where it can be sent again: htmx leaves it in the field of its page, and a whole page has it in its own.
func (v *visit) refuseEvaluation(problem *refusal) {
	asked := cell{Expression: v.field("expression"), Problem: problem, Elsewhere: &elsewhere{Address: "/", As: v.who().name()}}
	if linkable(asked.Expression) {
		asked.Elsewhere.Address, asked.Elsewhere.Whole = "/?e="+url.QueryEscape(asked.Expression), true
	}
	v.showEvaluate(evaluateShown{Cells: []cell{asked}, Expression: asked.Expression}, problem)
}

// apply writes out what an expression would be with each suggestion.
func apply(expression string, found []httpkit.Suggestion) (all []applied) {
	text := []rune(expression)
	for _, s := range found {
		with := applied{Suggestion: s}
		if 0 <= s.Range.Start && s.Range.Start <= s.Range.End && s.Range.End <= len(text) {
			with.Expression = string(text[:s.Range.Start]) + s.Replacement + string(text[s.Range.End:])
			if linkable(with.Expression) {
				with.Address = "/?e=" + url.QueryEscape(with.Expression)
			}
		}
		all = append(all, with)
	}
	return all
}

// receiptShown is a run as its receipt tells it.
type receiptShown struct {
	Receipt receipt
	Plot    bool
	Found   *finding // by the check that was just asked for
}

type receipt struct {
	ID             string
	Signature      *string
	KID            *string
	UnsignedReason string `json:"unsigned_reason"`
	Record         struct {
		RunID        int64 `json:"run_id"`
		Expression   string
		Answer       string
		Status       run.Status
		Warnings     []string
		Engine       struct{ Name, Revision string }
		Source       string
		SessionID    *string `json:"session_id"`
		EvaluatedAt  string  `json:"evaluated_at"`
		Verification *struct {
			Verdict run.Verdict
			Basis   run.Basis
			Method  string
		}
	}
}

// finding is what a check that was asked for found.
type finding struct {
	view.Verification
	Reason *run.InconclusiveReason
}

// Told is what was said with the answer.
func (r receiptShown) Told() told {
	return toldThen(r.Receipt.Record.Expression, r.Receipt.Record.Warnings)
}

func (v *visit) runPage() { v.showRun(nil, nil) }

// checkForm has the run checked with the time that a request has.
func (v *visit) checkForm() {
	id, err := strconv.ParseInt(v.r.PathValue("id"), 10, 64)
	if err != nil {
		v.showRun(nil, nil)
		return
	}
	found := &finding{}
	_, problem := v.ask(http.MethodPost, "/api/verify", map[string]int64{"run_id": id}, found)
	if problem != nil {
		found = nil
	}
	v.showRun(found, problem)
}

// showRun shows a run; refused is why it was not checked.
func (v *visit) showRun(found *finding, refused *refusal) {
	id, err := strconv.ParseInt(v.r.PathValue("id"), 10, 64)
	page := receiptShown{Found: found}
	var problem *refusal
	if err != nil || id < 1 {
		problem = &refusal{Problem: *httpkit.NoSuchRun.Problem("runs are numbered from 1")}
	} else {
		_, problem = v.ask(http.MethodGet, view.ReceiptPath(id), nil, &page.Receipt)
	}
	if problem == nil {
		reply, _ := v.ask(http.MethodGet, view.PlotPath(id), nil, nil)
		page.Plot = reply != nil
	}
	v.showWithStatus("run", shown{Title: "Run " + v.r.PathValue("id"), Section: "history", Problem: problem, Refused: refused, Page: page}, cmp.Or(problem, refused))
}
