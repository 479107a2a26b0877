package workbench

import "net/http"

// plansShown are the plans, and what the account has.
type plansShown struct {
	Plans []struct {
		Plan                  string
		EvaluationBudgetMS    int64 `json:"evaluation_budget_ms"`
		PerMinute             int64 `json:"per_minute"`
		ConcurrentEvaluations int64 `json:"concurrent_evaluations"`
		JobsPerDay            int64 `json:"jobs_per_day"`
		JobBudgetMS           int64 `json:"job_budget_ms"`
		ConcurrentJobs        int64 `json:"concurrent_jobs"`
		Qubits                int64 `json:"qubits"`
		ProofExportBytes      int64 `json:"proof_export_bytes"`
		Proofs                bool  `json:"proofs"`
		LiveSessions          int64 `json:"live_sessions"`
		Prices                []struct {
			Period      string
			AmountMinor int64 `json:"amount_minor"`
			Currency    string
		}
	}
	InForce      string `json:"-"` // the plan of the account
	Subscription *struct {
		Plan, Period, Status string
		StartedAt            string  `json:"started_at"`
		RenewsAt             *string `json:"renews_at"`
		EndsAt               *string `json:"ends_at"`
	}
	Invoices []struct {
		Number, Status, Currency string
		AmountMinor              int64   `json:"amount_minor"`
		IssuedAt                 string  `json:"issued_at"`
		DueAt                    string  `json:"due_at"`
		PaidAt                   *string `json:"paid_at"`
		Lines                    []struct {
			Description string
			AmountMinor int64 `json:"amount_minor"`
		}
	}
	Refused *refusal // why what the account has is not known
}

func (v *visit) plansPage() {
	var page plansShown
	_, problem := v.ask(http.MethodGet, "/billing/plans", nil, &page)
	if v.who().SignedIn && problem == nil {
		page.InForce = v.who().Plan
		if _, page.Refused = v.ask(http.MethodGet, "/billing/subscription", nil, &page.Subscription); page.Refused == nil {
			_, page.Refused = v.ask(http.MethodGet, "/billing/invoices?limit=20", nil, &page)
		}
	}
	v.show("plans", shown{Title: "Plans", Section: "plans", Problem: problem, Page: page})
}
