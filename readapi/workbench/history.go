package workbench

import (
	"net/http"
	"net/url"

	"reckon/domain/run"
)

// historyFilters are the filters of the page and of the route.
var historyFilters = []string{"status", "source", "verdict", "query", "from", "to", "before"}

// historyShown is a page of the history.
type historyShown struct {
	Filter    map[string]string
	Filtered  bool
	Runs      []historyRun `json:"runs"`
	Truncated bool         `json:"search_truncated"`
	Next      *string      `json:"next_before"`
	Older     string       // address of the next page; empty: there is none
	Here      string
	Stale     bool // the list may lack the newest runs
}

type historyRun struct {
	RunID           int64       `json:"run_id"`
	Expression      string      `json:"expression"`
	Result          *string     `json:"result"`
	ResultTruncated bool        `json:"result_truncated"`
	Status          run.Status  `json:"status"`
	Source          string      `json:"source"`
	SessionID       *string     `json:"session_id"`
	CreatedAt       string      `json:"created_at"`
	Warnings        []string    `json:"warnings"`
	ExecutionTimeMS int64       `json:"execution_time_ms"`
	Engines         []run.Asked `json:"engines"`
	PlotURL         *string     `json:"plot_url"`
	ReceiptURL      *string     `json:"receipt_url"`
	Verification    *struct {
		Verdict string
		Method  *string
		Reason  *run.InconclusiveReason
	} `json:"verification"`
	Certificate *struct {
		CertificateID string `json:"certificate_id"`
		Verdict       string
	} `json:"certificate"`
}

func (v *visit) historyPage() {
	page, asked := v.given(historyFilters...), url.Values{"limit": {"50"}}
	shownAs := historyShown{Filter: page, Here: v.r.URL.RequestURI()}
	for name, value := range page {
		asked.Set(name, value)
		shownAs.Filtered = shownAs.Filtered || name != "before"
	}
	reply, problem := v.ask(http.MethodGet, "/api/history?"+asked.Encode(), nil, &shownAs)
	if problem == nil {
		shownAs.Stale = reply.Header().Get("Consistency") != ""
		shownAs.Older = v.older("/history", page, shownAs.Next)
	}
	v.showList("history", shown{Title: "History", Section: "history", Page: shownAs}, problem)
}

// given are the query's parameters of these names that are not empty.
func (v *visit) given(names ...string) map[string]string {
	found := map[string]string{}
	for _, name := range names {
		if value := v.r.URL.Query().Get(name); value != "" {
			found[name] = value
		}
	}
	return found
}

// older is the address of the page after this one; empty: this is the last.
func (v *visit) older(path string, given map[string]string, next *string) string {
	if next == nil {
		return ""
	}
	query := url.Values{"before": {*next}}
	for name, value := range given {
		if name != "before" {
			query.Set(name, value)
		}
	}
	return path + "?" + query.Encode()
}

// showList shows a list with its filters, and a problem of the filters beside them.
func (v *visit) showList(name string, s shown, problem *refusal) {
	if problem != nil && problem.Status != http.StatusBadRequest {
		s.Problem = problem
	}
	s.Refused = problem
	v.showWithStatus(name, s, problem)
}
