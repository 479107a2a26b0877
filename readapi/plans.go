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
		SignIn       attempts     `json:"sign_in" doc:"POST /auth/login, per address and per account; and attempts to give the password while signed in, per account"`
	}
}

type attempts struct {
	Requests      int   `json:"requests" doc:"Number of attempts in one window"`
	WindowSeconds int64 `json:"window_seconds" doc:"Length of a window in seconds"`
}

// catalogued is a plan: the values that are enforced. Its prices have quotes.
type catalogued struct {
	account.Plan
	Prices []price `json:"prices" doc:"Empty: not for sale"`
}

type price struct {
	Period      account.Period `json:"period" enum:"month,year" doc:"What the price is paid for"`
	AmountMinor int64          `json:"amount_minor" doc:"The price in the currency's smallest unit (cents for USD)"`
	Currency    string         `json:"currency" doc:"ISO 4217 code" example:"USD"`
	Quote       quote          `json:"quote" doc:"This price, sealed: it is kept until expires_at"`
}

// quote is the envelope of interface §2.6 over a quoteRecord (§2.11).
type quote struct {
	Record httpkit.JSONObject `json:"record" doc:"plan, period, amount_minor, currency, issued_at, expires_at"`
	view.Seal
}

type quoteRecord struct {
	Plan        string         `json:"plan"`
	Period      account.Period `json:"period"`
	AmountMinor int64          `json:"amount_minor"`
	Currency    string         `json:"currency"`
	IssuedAt    string         `json:"issued_at"`
	ExpiresAt   string         `json:"expires_at"`
}

func (s Services) registerPlans(api *httpkit.API) {
	httpkit.Handle(api, httpkit.Route{
		Method: http.MethodGet, Path: "/billing/plans", ID: "list-plans", Tag: "Billing", Summary: "Plans, prices and the limits in force",
		Description: "What is listed is what is enforced. Each price has a quote, sealed like a receipt, that is good for 24 hours.",
		PublicFor:   plansMaxAge, Kinds: []httpkit.Kind{httpkit.Unavailable},
		Errors: []httpkit.Mapping{{Err: receipt.ErrCannotSign, Kind: httpkit.Unavailable}},
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
		listed := catalogued{Plan: p, Prices: make([]price, len(p.Prices))}
		listed.DeniedHeads = append([]string{}, p.DeniedHeads...) // never null
		for k, of := range p.Prices {
			quoted, err := s.quote(p.Name, of, issued)
			if err != nil {
				return nil, err
			}
			listed.Prices[k] = price{Period: of.Period, AmountMinor: of.AmountMinor, Currency: of.Currency, Quote: quoted}
		}
		out.Body.Plans[i] = listed
	}
	return out, nil
}

func (s Services) quote(plan string, p account.Price, issued time.Time) (quote, error) {
	signer, err := s.Signer()
	if err != nil {
		return quote{}, err
	}
	seal, err := receipt.SealJSON(quoteRecord{
		Plan: plan, Period: p.Period, AmountMinor: p.AmountMinor, Currency: p.Currency,
		IssuedAt: event.Timestamp(issued), ExpiresAt: event.Timestamp(issued.Add(quoteLife)),
	}, signer)
	if err != nil {
		return quote{}, err
	}
	return quote{Record: httpkit.JSONObject{RawMessage: seal.Canonical}, Seal: view.SealOf(seal, s.PublicURL)}, nil
}

func attemptsOf(r ratelimit.Rule) attempts {
	return attempts{Requests: r.Requests, WindowSeconds: int64(r.Window / time.Second)}
}
