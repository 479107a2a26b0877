package readapi_test

import (
	"crypto/ed25519"
	"encoding/json"
	"net/http"
	"testing"
	"time"

	"reckon/domain/account"
	"reckon/domain/receipt"
	"reckon/test/apitest"
)

type catalogue struct {
	Plans []struct {
		account.Plan
		Prices []struct {
			account.Price
			Quote receipt.Envelope
		} `json:"prices"`
	}
	Registration struct {
		Requests      int
		WindowSeconds int64 `json:"window_seconds"`
	}
}

func readCatalogue(t *testing.T, a apitest.Answer) catalogue {
	t.Helper()
	var c catalogue
	if err := json.Unmarshal(a.OK(t).Body, &c); err != nil {
		t.Fatal(err)
	}
	return c
}

func TestPlansServeWhatIsEnforced(t *testing.T) {
	t.Parallel()
	s, signer := signed(t)
	s.Clock.Pass(time.Minute)
	a := s.Do(t, http.MethodGet, "/billing/plans", "")
	c := readCatalogue(t, a)
	plans := unlimited() // as signed configures them
	if len(c.Plans) != len(plans) {
		t.Fatalf("%d plans", len(c.Plans))
	}
	published := map[string]ed25519.PublicKey{signer.KID: signer.Key.Public().(ed25519.PublicKey)}
	for i, p := range c.Plans {
		served := p.Plan
		served.Prices = plans[i].Prices
		if got, want := marshal(t, served), marshal(t, plans[i]); got != want {
			t.Errorf("got  %s\nwant %s", got, want)
		}
		if len(p.Prices) != len(plans[i].Prices) {
			t.Errorf("%s: %d prices", p.Name, len(p.Prices))
		}
		for k, price := range p.Prices {
			if price.Price != plans[i].Prices[k] {
				t.Errorf("%+v", price.Price)
			}
			if err := receipt.Check(price.Quote, published); err != nil {
				t.Errorf("%s %s: %v", p.Name, price.Period, err)
			}
			want := `{"amount_minor":` + marshal(t, price.AmountMinor) + `,"currency":"USD","expires_at":"2026-08-02T12:00:00.000Z","issued_at":"2026-08-01T12:00:00.000Z","period":"` + string(price.Period) + `","plan":"` + p.Name + `"}`
			if string(price.Quote.Record) != want || price.Quote.KeysURL != "/.well-known/service-keys.json" {
				t.Errorf("got  %s\nwant %s", price.Quote.Record, want)
			}
		}
	}
	if c.Registration.Requests != 1000 || c.Registration.WindowSeconds != 3600 {
		t.Errorf("%+v", c.Registration)
	}
	if a.Header.Get("Cache-Control") != "public, max-age=300" || a.Header.Get("Access-Control-Allow-Origin") != "*" {
		t.Errorf("%v", a.Header)
	}
}

func TestPlansAreTheSameForAWhile(t *testing.T) {
	t.Parallel()
	s, _ := signed(t)
	etag := s.Do(t, http.MethodGet, "/billing/plans", "").OK(t).Header.Get("ETag")
	ask := func() int {
		return s.Do(t, http.MethodGet, "/billing/plans", "", "If-None-Match", etag).Status
	}
	s.Clock.Pass(299 * time.Second)
	if status := ask(); etag == "" || status != http.StatusNotModified {
		t.Errorf("%d with %s", status, etag)
	}
	s.Clock.Pass(time.Second)
	if status := ask(); status != http.StatusOK {
		t.Errorf("%d: a quote is not renewed", status)
	}
}

func TestQuoteWithoutAKey(t *testing.T) {
	t.Parallel()
	s := apitest.Share(t)
	q := readCatalogue(t, s.Do(t, http.MethodGet, "/billing/plans", "")).Plans[1].Prices[0].Quote
	if q.Signature != nil || q.KID != nil || q.UnsignedReason != receipt.NoKeyReason {
		t.Errorf("%+v", q)
	}
}

func marshal(t *testing.T, v any) string {
	t.Helper()
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}
