package payments_test

import (
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	"reckon/internal/payments"
)

const (
	secret  = "0123456789abcdef0123456789abcdef"
	another = "fedcba9876543210fedcba9876543210"
	body    = `{"event":"evt_1","type":"payment.succeeded","account":"a","invoice_id":"i","amount_minor":1200,"currency":"USD"}`
)

var now = time.Date(2026, 8, 1, 12, 0, 0, 0, time.UTC)

func provider(t testing.TB, secrets ...string) *payments.Signed {
	t.Helper()
	p, err := payments.NewSigned(secrets...)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func header(values ...string) http.Header { return http.Header{payments.SignatureHeader: values} }

func TestOnlyWhatIsSignedLatelyIsBelieved(t *testing.T) {
	p := provider(t, secret, another)
	good := payments.Sign(secret, []byte(body), now)
	digest := strings.TrimPrefix(good[strings.Index(good, "v1="):], "v1=")
	stamp := good[:strings.Index(good, ",")]
	for name, c := range map[string]struct {
		header http.Header
		body   string
		now    time.Time
		right  bool
	}{
		"signed":                   {header(good), body, now, true},
		"by the other secret":      {header(payments.Sign(another, []byte(body), now)), body, now, true},
		"at the end of its time":   {header(good), body, now.Add(payments.Tolerance), true},
		"too late":                 {header(good), body, now.Add(payments.Tolerance + time.Second), false},
		"by a clock that is ahead": {header(good), body, now.Add(-payments.Tolerance), true},
		"of the future":            {header(good), body, now.Add(-payments.Tolerance - time.Second), false},
		"a wrong one and a right":  {header(stamp + ",v1=" + strings.Repeat("00", 32) + ",v1=" + digest), body, now, true},
		"another scheme beside it": {header(good + ",v0=ff"), body, now, true},
		"in upper case":            {header(stamp + ",v1=" + strings.ToUpper(digest)), body, now, true},
		"another body":             {header(good), strings.Replace(body, "1200", "1201", 1), now, false},
		"another time":             {header("t=1785585601,v1=" + digest), body, now, false},
		"by a third secret":        {header(payments.Sign(strings.Repeat("x", 32), []byte(body), now)), body, now, false},
		"no header":                {http.Header{}, body, now, false},
		"two headers":              {header(good, good), body, now, false},
		"two times":                {header(stamp + "," + good), body, now, false},
		"no time":                  {header("v1=" + digest), body, now, false},
		"no signature":             {header(stamp), body, now, false},
		"an empty signature":       {header(stamp + ",v1="), body, now, false},
		"half a signature":         {header(stamp + ",v1=" + digest[:32]), body, now, false},
		"no hexadecimal":           {header(stamp + ",v1=zz"), body, now, false},
		"a time that is no number": {header("t=x,v1=" + digest), body, now, false},
		"a negative time":          {header("t=-1,v1=" + digest), body, now, false},
		"a time with zeros before": {header(strings.Replace(good, "t=", "t=0", 1)), body, now, false},
		"a header without end":     {header(good + strings.Repeat(",v0=f", 1000)), body, now, false},
		"an empty header":          {header(""), body, now, false},
	} {
		_, err := p.Read(c.header, []byte(c.body), c.now)
		if c.right && err != nil || !c.right && !errors.Is(err, payments.ErrUnauthentic) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestEventsAreRead(t *testing.T) {
	p := provider(t, secret)
	read := func(body string) (payments.Event, error) {
		return p.Read(header(payments.Sign(secret, []byte(body), now)), []byte(body), now)
	}
	want := payments.Event{ID: "evt_1", Kind: payments.Succeeded, Account: "a", InvoiceID: "i", AmountMinor: 1200, Currency: "USD"}
	if got, err := read(body); err != nil || got != want {
		t.Errorf("%+v %v", got, err)
	}
	if got, err := read(`{"event":"evt_2","type":"customer.created"}`); err != nil || got != (payments.Event{ID: "evt_2", Kind: payments.Other}) {
		t.Errorf("%+v %v", got, err)
	}
	for _, field := range []string{`"event":"evt_1"`, `"type":"payment.succeeded"`, `"account":"a"`, `"invoice_id":"i"`, `"amount_minor":1200`, `"currency":"USD"`} {
		name, _, _ := strings.Cut(field, ":")
		without := strings.NewReplacer(","+field, "", field+",", "").Replace(body)
		for _, bad := range []string{without, strings.Replace(body, field, name+":null", 1)} {
			if got, err := read(bad); !errors.Is(err, payments.ErrUnreadable) {
				t.Errorf("%s: %+v %v", bad, got, err)
			}
		}
	}
	for name, bad := range map[string]string{
		"an empty type": strings.Replace(body, "payment.succeeded", "", 1), "nothing": "", "no object": "[]", "no id": `{"type":"payment.succeeded"}`, "more": body + "{}", "a field nobody knows": `{"event":"e","type":"x","paid":true}`,
		"an amount with a fraction": strings.Replace(body, "1200", "12.5", 1), "an amount as text": strings.Replace(body, "1200", `"1200"`, 1),
		"a key twice": strings.Replace(body, `"currency":"USD"`, `"currency":"EUR","currency":"USD"`, 1), "an amount twice": strings.Replace(body, `"amount_minor":1200`, `"amount_minor":1,"amount_minor":1200`, 1),
		"a key in other letters": strings.Replace(body, "amount_minor", "AMOUNT_MINOR", 1), "both": strings.Replace(body, `"event"`, `"Event":"x","event"`, 1), "no UTF-8": strings.Replace(body, "evt_1", "evt\xff", 1),
		"half a surrogate": strings.Replace(body, "evt_1", `\ud800`, 1), "nothing at all": "null",
		"an amount beyond all bounds": strings.Replace(body, "1200", "99999999999999999999", 1), "not JSON": "{",
	} {
		if got, err := read(bad); !errors.Is(err, payments.ErrUnreadable) {
			t.Errorf("%s: %+v %v", name, got, err)
		}
	}
}

func TestSecrets(t *testing.T) {
	for name, secrets := range map[string][]string{"none": nil, "a short one": {secret, "short"}, "five": {secret, secret, secret, secret, secret}} {
		if _, err := payments.NewSigned(secrets...); err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
}

// FuzzNothingUnsignedIsBelieved: whatever comes without the secret, and nothing ends the process.
func FuzzNothingUnsignedIsBelieved(f *testing.F) {
	good := payments.Sign(another, []byte(body), now)
	f.Add(good, body)
	f.Add("t=1785585600,v1=,v1=00", "")
	f.Add("t=,v1", "{")
	p := provider(f, secret)
	f.Fuzz(func(t *testing.T, signed, body string) {
		if _, err := p.Read(header(signed), []byte(body), now); !errors.Is(err, payments.ErrUnauthentic) {
			t.Fatalf("%q: %v", signed, err)
		}
		if _, err := p.Read(header(payments.Sign(secret, []byte(body), now)), []byte(body), now); err != nil && !errors.Is(err, payments.ErrUnreadable) {
			t.Fatalf("%q: %v", body, err)
		}
	})
}
