package view_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"reckon/domain/event"
	"reckon/domain/run"
	"reckon/internal/view"
)

func marshal(t *testing.T, v any) string {
	t.Helper()
	text, err := event.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func TestEvaluationHasNullsForWhatThereIsNoneOf(t *testing.T) {
	got := marshal(t, view.EvaluationOf(run.Evaluated{Subject: run.Subject{RunID: 7}, Status: run.Success, ExecutionMS: 3}, "4", "", nil))
	want := `{"result":"4","status":"success","execution_time_ms":3,"run_id":7,"plot_url":null,"receipt_url":"/api/receipts/7","stdout":null,"warnings":[],"suggestions":[],"verification":null}`
	if got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

func TestEvaluationShowsAVerdictAndNeverAnInconclusiveCheck(t *testing.T) {
	of := func(c run.Check) string {
		return marshal(t, view.EvaluationOf(run.Evaluated{Check: &c, Plot: &event.Blob{}}, "4", "printed", nil))
	}
	got := of(run.Check{Verdict: "verified", Basis: "exact", Method: "m", Check: "c", Residual: "0", ElapsedMS: 2, Automatic: true})
	for _, part := range []string{`"plot_url":"/api/plots/0"`, `"stdout":"printed"`,
		`"verification":{"verdict":"verified","basis":"exact","method":"m","check":"c","residual":"0","elapsed_ms":2,"automatic":true}`} {
		if !strings.Contains(got, part) {
			t.Errorf("no %s in %s", part, got)
		}
	}
	if got := of(run.Check{Verdict: "inconclusive", Reason: "check_timed_out"}); !strings.Contains(got, `"verification":null`) {
		t.Errorf("an inconclusive check is shown: %s", got)
	}
}

// oneBlob is a blob store with one content.
type oneBlob string

func (b oneBlob) Get(context.Context, event.Blob) ([]byte, error) { return []byte(b), nil }

func TestReceiptServesTheSealedBytes(t *testing.T) {
	const canonical = `{"run_id":7}`
	for name, text := range map[string]event.Text{"inline": event.Inline(canonical), "blob": {Blob: &event.Blob{}}} {
		sealed := run.Sealed{RunID: 7, ReceiptID: "id", Canonical: text, Signature: "s", KID: "k"}
		got, err := view.ReceiptOf(t.Context(), sealed, oneBlob(canonical), "https://reckon.example")
		if err != nil {
			t.Fatal(err)
		}
		want := `{"record":{"run_id":7},"id":"id","canonical_form":"{\"run_id\":7}","signature":"s","kid":"k","keys_url":"https://reckon.example/.well-known/service-keys.json","receipt_url":"https://reckon.example/api/receipts/7"}`
		if text, err := json.Marshal(got); err != nil || string(text) != want {
			t.Errorf("%s: %s, %v", name, text, err)
		}
	}
	unsigned, err := view.ReceiptOf(t.Context(), run.Sealed{Canonical: event.Inline("{}"), UnsignedReason: "no key"}, nil, "")
	if text := marshal(t, unsigned); err != nil || !strings.Contains(text, `"signature":null,"unsigned_reason":"no key","kid":null`) {
		t.Errorf("%s, %v", text, err)
	}
}

func TestMomentIsNullForATimeThatHasNotCome(t *testing.T) {
	if got := view.NullableTimestamp(time.Time{}); got != nil {
		t.Errorf("the zero time is %s", *got)
	}
	if got := view.NullableTimestamp(time.UnixMilli(1)); got == nil || *got != "1970-01-01T00:00:00.001Z" {
		t.Errorf("%v", got)
	}
}
