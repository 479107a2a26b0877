package readapi

import (
	"context"
	"net/http"
	"time"

	"reckon/domain/account"
	"reckon/domain/event"
	"reckon/domain/receipt"
	"reckon/internal/httpkit"
	"reckon/internal/ratelimit"
	"reckon/internal/view"
)

const (
	// plansMaxAge is how long anyone may keep the catalogue.
	plansMaxAge = 300 * time.Second
	// quoteLife is how long a quote is good (interface §8).
	quoteLife = 24 * time.Hour
)

type plansOutput struct {
	Body struct {
		Plans        []catalogued `json:"plans" doc:"The first is every new account's"`
		Registration attempts     `json:"registration" doc:"POST /auth/register, per address"`
		SignIn       attempts     `json:"sign_in" doc:"POST /auth/login, per address and per account"`
	}
}

type attempts struct {
	Requests      int   `json:"requests"`
	WindowSeconds int64 `json:"window_seconds"`
}

// catalogued is a plan: the values that are enforced.
type catalogued struct {
	Plan               string   `json:"plan" example:"pro"`
	Prices             []price  `json:"prices" doc:"Empty: not for sale"`
	EvaluationBudgetMS int64    `json:"evaluation_budget_ms" doc:"Compute budget of one evaluation"`
	PerMinute          int      `json:"per_minute" doc:"Evaluations and checks a minute"`
	JobsPerDay         int      `json:"jobs_per_day" doc:"Jobs of any kind per UTC day"`
	JobBudgetMS        int64    `json:"job_budget_ms" doc:"Longest time budget of a job"`
	ConcurrentJobs     int      `json:"concurrent_jobs" doc:"Jobs that run at once"`
	Qubits             int      `json:"qubits" doc:"Widest circuit"`
	Proofs             bool     `json:"proofs" doc:"Whether proofs are checked"`
	ProofExportBytes   int64    `json:"proof_export_bytes" doc:"Largest proof export"`
	LiveSessions       int      `json:"live_sessions" doc:"Sessions at once"`
	DeniedHeads        []string `json:"denied_heads" doc:"Functions that an expression may not call"`
}

type price struct {
	Period      string `json:"period" enum:"month,year"`
	AmountMinor int64  `json:"amount_minor" doc:"In the currency's smallest unit"`
	Currency    string `json:"currency" doc:"ISO 4217" example:"USD"`
	Quote       quote  `json:"quote" doc:"This price, sealed: it is kept until expires_at"`
}

// quote is the envelope of interface §2.6 over a quoteRecord (§2.11).
type quote struct {
	Record httpkit.JSONObject `json:"record" doc:"plan, period, amount_minor, currency, issued_at, expires_at"`
	view.Seal
}

type quoteRecord struct {
	Plan        string `json:"plan"`
	Period      string `json:"period"`
	AmountMinor int64  `json:"amount_minor"`
	Currency    string `json:"currency"`
	IssuedAt    string `json:"issued_at"`
	ExpiresAt   string `json:"expires_at"`
}

func (s Services) registerPlans(api *httpkit.API) {
	httpkit.Handle(api, httpkit.Route{
		Method: http.MethodGet, Path: "/billing/plans", ID: "list-plans", Tag: "Billing", Summary: "Plans, prices and the limits in force",
		Description: "What is listed is what is enforced. Each price has a quote, sealed like a receipt, that is good for 24 hours.",
		PublicFor:   plansMaxAge,
	}, s.plans)
}

func (s Services) plans(context.Context, *struct{}) (*plansOutput, error) {
	// Quotes are issued at whole multiples of the answer's age, so that whoever
	// asks again within it has the same bytes and the same ETag.
	issued := s.Now().Truncate(plansMaxAge)
	out := &plansOutput{}
	out.Body.Registration, out.Body.SignIn = attemptsOf(s.Rules.Registrations), attemptsOf(s.Rules.SignIns)
	out.Body.Plans = make([]catalogued, len(s.Plans))
	for i, p := range s.Plans {
		out.Body.Plans[i] = catalogued{
			Plan: p.Name, Prices: make([]price, len(p.Prices)), EvaluationBudgetMS: p.EvaluationBudgetMS, PerMinute: p.PerMinute,
			JobsPerDay: p.JobsPerDay, JobBudgetMS: p.JobBudgetMS, ConcurrentJobs: p.ConcurrentJobs, Qubits: p.Qubits,
			Proofs: p.Proofs, ProofExportBytes: p.ProofExportBytes, LiveSessions: p.LiveSessions, DeniedHeads: append([]string{}, p.DeniedHeads...),
		}
		for k, of := range p.Prices {
			quoted, err := s.quote(p.Name, of, issued)
			if err != nil {
				return nil, err
			}
			out.Body.Plans[i].Prices[k] = price{Period: of.Period, AmountMinor: of.AmountMinor, Currency: of.Currency, Quote: quoted}
		}
	}
	return out, nil
}

func (s Services) quote(plan string, p account.Price, issued time.Time) (quote, error) {
	seal, err := receipt.SealJSON(quoteRecord{
		Plan: plan, Period: p.Period, AmountMinor: p.AmountMinor, Currency: p.Currency,
		IssuedAt: event.Timestamp(issued), ExpiresAt: event.Timestamp(issued.Add(quoteLife)),
	}, s.Signer())
	if err != nil {
		return quote{}, err
	}
	return quote{Record: httpkit.JSONObject{RawMessage: seal.Canonical}, Seal: view.SealOf(seal, s.PublicURL)}, nil
}

func attemptsOf(r ratelimit.Rule) attempts {
	return attempts{Requests: r.Requests, WindowSeconds: int64(r.Window / time.Second)}
}
