package readapi

import (
	"context"
	"net/http"
	"sync"
	"time"

	"reckon/domain/account"
	"reckon/domain/billing"
	"reckon/domain/receipt"
	"reckon/internal/httpkit"
	"reckon/internal/ratelimit"
	"reckon/internal/view"
)

// plansMaxAge is how long anyone may keep the catalogue.
const plansMaxAge = billing.QuoteStep

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
	Quote       view.Quote     `json:"quote" doc:"This price, sealed: it is kept until expires_at"`
}

func (s Services) registerPlans(api *httpkit.API) {
	kept := &keptPlans{}
	httpkit.Handle(api, httpkit.Route{
		Method: http.MethodGet, Path: "/billing/plans", ID: "list-plans", Tag: "Billing", Summary: "Plans, prices and the limits in force",
		Description: "What is listed is what is enforced. Each price has a quote, sealed like a receipt, that is good for 24 hours.",
		PublicFor:   plansMaxAge, Kinds: []httpkit.Kind{httpkit.Unavailable},
		Errors: []httpkit.Mapping{{Err: receipt.ErrCannotSign, Kind: httpkit.Unavailable}},
	}, func(context.Context, *struct{}) (*plansOutput, error) { return s.plans(kept) })
}

// keptPlans are the plans with the quotes that were sealed last. They serve until quotes of another time, or by another key, are
// due, so that no number of requests makes the service sign more.
type keptPlans struct {
	mu     sync.Mutex
	issued time.Time
	kid    string
	plans  []catalogued
}

func (s Services) plans(kept *keptPlans) (*plansOutput, error) {
	signer, err := s.Signer()
	if err != nil {
		return nil, err
	}
	out := &plansOutput{}
	out.Body.Registration, out.Body.SignIn = attemptsOf(s.Rules.Registrations), attemptsOf(s.Rules.SignIns)
	out.Body.Plans, err = kept.at(s.Now(), signer, s.catalogue)
	return out, err
}

// at returns what is kept for a time and a signer, or what catalogue makes now.
func (k *keptPlans) at(now time.Time, signer *receipt.Signer, catalogue func(time.Time, *receipt.Signer) ([]catalogued, error)) ([]catalogued, error) {
	issued, kid := now.Truncate(billing.QuoteStep), ""
	if signer != nil {
		kid = signer.KID
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.plans != nil && k.issued.Equal(issued) && k.kid == kid {
		return k.plans, nil
	}
	plans, err := catalogue(now, signer)
	if err == nil {
		k.issued, k.kid, k.plans = issued, kid, plans
	}
	return plans, err
}

// catalogue is every plan with quotes of now.
func (s Services) catalogue(now time.Time, signer *receipt.Signer) ([]catalogued, error) {
	plans := make([]catalogued, len(s.Plans))
	for i, p := range s.Plans {
		listed := catalogued{Plan: p, Prices: make([]price, len(p.Prices))}
		listed.DeniedHeads = append([]string{}, p.DeniedHeads...) // never null
		for k, of := range p.Prices {
			seal, err := receipt.SealJSON(billing.QuoteOf(p.Name, of, now), signer)
			if err != nil {
				return nil, err
			}
			listed.Prices[k] = price{Period: of.Period, AmountMinor: of.AmountMinor, Currency: of.Currency, Quote: view.QuoteOf(seal, s.PublicURL)}
		}
		plans[i] = listed
	}
	return plans, nil
}

func attemptsOf(r ratelimit.Rule) attempts {
	return attempts{Requests: r.Requests, WindowSeconds: int64(r.Window / time.Second)}
}
