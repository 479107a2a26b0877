package engine_test

import (
	"fmt"
	"slices"
	"testing"

	"go.opentelemetry.io/otel/codes"
	sdk "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"

	"reckon/internal/tracing"
	"reckon/projections/engine"
	"reckon/test/wait"
)

// TestBatchesAreLinkedToTheirEvents: what is appended while a projection runs has a span for each batch, linked to its events' spans; what the log held already, events of no
// trace and events that the projection does not handle have none. A batch that fails is marked.
func TestBatchesAreLinkedToTheirEvents(t *testing.T) {
	t.Parallel()
	const unsampled = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-00"
	span := func(i int) string { return fmt.Sprintf("00-%032x-%016x-01", i, i) }
	onBoth(t, func(t *testing.T, f *fixture) {
		recorder := tracetest.NewSpanRecorder()
		f.tracer = tracing.New(sdk.NewTracerProvider(sdk.WithSpanProcessor(recorder)))
		for i := 1; i <= 700; i++ {
			f.traceparent = span(i)
			f.append("old", added{fmt.Sprint(i), "v"})
		}
		f.traceparent = ""
		past := f.append("old", added{"last", "v"})
		e, stop := f.start(shelf(&f.bad, engine.Park))
		f.reach(e, past)
		if n := len(recorder.Ended()); n != 0 {
			t.Fatalf("building the table has %d spans", n)
		}
		var want []string
		for i := 1001; i <= 1020; i++ {
			f.traceparent = span(i)
			f.append("new", added{fmt.Sprint(i), "v"}, changed{fmt.Sprint(i), "w"}, ignored{})
			want = append(want, span(i)[3:35])
		}
		for _, none := range []string{"", unsampled} {
			f.traceparent = none
			f.append("new", added{"x" + none, "v"})
		}
		f.traceparent = span(2000)
		f.reach(e, f.append("other", ignored{}))
		// A span ends after its batch is committed.
		wait.Until(t, "spans of 40 events", func() bool { return handledIn(recorder.Ended()) >= 40 })
		var got []string
		handled := handledIn(recorder.Ended())
		for _, s := range recorder.Ended() {
			for _, l := range s.Links() {
				got = append(got, l.SpanContext.TraceID().String())
			}
			if s.Name() != "project shelf" || s.Parent().IsValid() || s.Status().Code.String() == "Error" {
				t.Errorf("%v", s)
			}
		}
		slices.Sort(got)
		if got = slices.Compact(got); !slices.Equal(got, want) || handled < 40 || handled > 42 { // batches of any length; the two of no trace may be in one of them
			t.Errorf("%d events, linked to %v", handled, got)
		}
		f.traceparent = span(3000)
		f.reach(e, f.append("new", added{"y", "bad"}))
		stop()
		failed := slices.DeleteFunc(recorder.Ended(), func(s sdk.ReadOnlySpan) bool { return s.Status().Code != codes.Error })
		if len(failed) == 0 { // an event is tried several times before it is parked
			t.Error("no batch failed")
		}
		for _, s := range failed { // what went wrong is in the log, not in the span: it may quote an event
			if s.Status().Description != "" || len(s.Events()) != 0 {
				t.Errorf("%+v with %d events", s.Status(), len(s.Events()))
			}
		}
	})
}

// handledIn is how many events the spans of batches say were handled.
func handledIn(spans []sdk.ReadOnlySpan) (events int64) {
	for _, s := range spans {
		for _, a := range s.Attributes() {
			if string(a.Key) == string(tracing.Events) {
				events += a.Value.AsInt64()
			}
		}
	}
	return events
}
