package tracing

import (
	"context"
	"reflect"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/trace"
)

// scope names the instrumentation to readers of the spans.
const scope = "reckon"

// MaxLinks bounds the traces that one span is linked to.
const MaxLinks = 32

// Tracer begins the spans that have none above them in this process. A nil one begins none: traces that others began are passed on.
type Tracer struct{ tracer trace.Tracer }

// New returns a Tracer whose spans, and those below them, the provider records.
func New(provider trace.TracerProvider) *Tracer { return &Tracer{provider.Tracer(scope)} }

// Span is a span that has begun. The zero value records nothing.
type Span struct{ span trace.Span }

// Attribute is a fact about a span.
type Attribute struct{ pair attribute.KeyValue }

// Text is an attribute of one of a bounded number of texts, or an id that Declared allows.
func Text(key Key, value string) Attribute { return Attribute{attribute.String(string(key), value)} }

// Int is an attribute that is a number.
func Int(key Key, value int64) Attribute { return Attribute{attribute.Int64(string(key), value)} }

// Flag is an attribute that is true or false.
func Flag(key Key, value bool) Attribute { return Attribute{attribute.Bool(string(key), value)} }

// Begin begins a span: below the span of this process that ctx is in, else below the one of another process that the W3C traceparent names, else
// as the first of a trace. The context is in the span, or where none is recorded in the trace that the traceparent names.
func (t *Tracer) Begin(ctx context.Context, name Name, of, traceparent string) (context.Context, Span) {
	if recording(ctx) {
		return Below(ctx, name, of)
	}
	ctx = Join(ctx, traceparent)
	if t == nil {
		return ctx, Span{}
	}
	ctx, span := t.tracer.Start(ctx, name.with(of), trace.WithSpanKind(name.kind()))
	return ctx, Span{span}
}

// BeginLinked begins the first span of a trace that is linked to the sampled ones of other traces, each once and at most MaxLinks of them. It begins
// none where there is nothing to link to.
func (t *Tracer) BeginLinked(ctx context.Context, name Name, of string, traceparents func(yield func(string) bool)) (context.Context, Span) {
	if t == nil {
		return ctx, Span{}
	}
	var links []trace.Link
	known := map[string]bool{}
	for traceparent := range traceparents {
		if traceparent == "" || known[traceparent] {
			continue
		}
		known[traceparent] = true
		if linked := parse(traceparent); linked.IsSampled() {
			links = append(links, trace.Link{SpanContext: linked})
		}
		if len(links) == MaxLinks {
			break
		}
	}
	if len(links) == 0 {
		return ctx, Span{}
	}
	ctx, span := t.tracer.Start(ctx, name.with(of), trace.WithNewRoot(), trace.WithSpanKind(name.kind()), trace.WithLinks(links...))
	return ctx, Span{span}
}

// Below begins a span below the one of this process that ctx is in; where that records nothing, neither does this one.
func Below(ctx context.Context, name Name, of string) (context.Context, Span) {
	if !recording(ctx) {
		return ctx, Span{}
	}
	ctx, span := trace.SpanFromContext(ctx).TracerProvider().Tracer(scope).Start(ctx, name.with(of), trace.WithSpanKind(name.kind()))
	return ctx, Span{span}
}

// recording tells whether ctx is in a span of this process that is recorded.
func recording(ctx context.Context) bool { return trace.SpanFromContext(ctx).IsRecording() }

// Recording tells whether the span is kept: facts that cost something need not be made otherwise.
func (s Span) Recording() bool { return s.span != nil && s.span.IsRecording() }

// Set adds attributes to the span.
func (s Span) Set(attributes ...Attribute) {
	if !s.Recording() {
		return
	}
	for _, a := range attributes {
		s.span.SetAttributes(a.pair)
	}
}

// Rename names the span of what is known by now.
func (s Span) Rename(name Name, of string) {
	if s.Recording() {
		s.span.SetName(name.with(of))
	}
}

// Fail marks what the span is about as failed. It says no more: the text of an error may hold what a client sent.
func (s Span) Fail() {
	if s.Recording() {
		s.span.SetStatus(codes.Error, "")
	}
}

// End ends the span.
func (s Span) End() {
	if s.span != nil {
		s.span.End()
	}
}

// TypeName is the name of a value's type with its package: job.Claim.
func TypeName(of any) string {
	if of == nil {
		return ""
	}
	return reflect.TypeOf(of).String()
}

// carrier is a traceparent as a propagator reads and writes it. A tracestate is neither read nor passed on (W3C Trace Context section 3.3 allows that).
type carrier string

// Get is propagation.TextMapCarrier.
func (c *carrier) Get(key string) string {
	if key != "traceparent" {
		return ""
	}
	return string(*c)
}

// Set is propagation.TextMapCarrier.
func (c *carrier) Set(key, value string) {
	if key == "traceparent" {
		*c = carrier(value)
	}
}

// Keys is propagation.TextMapCarrier.
func (c *carrier) Keys() []string { return []string{"traceparent"} }

// parse reads a W3C traceparent; what is none is an invalid context, which has no trace.
func parse(traceparent string) trace.SpanContext {
	c := carrier(traceparent)
	return trace.SpanContextFromContext(propagation.TraceContext{}.Extract(context.Background(), &c))
}

// Join returns a context in the trace that a W3C traceparent names; ctx itself where it names none.
func Join(ctx context.Context, traceparent string) context.Context {
	if traceparent == "" {
		return ctx
	}
	named := parse(traceparent)
	if !named.IsValid() {
		return ctx
	}
	return trace.ContextWithRemoteSpanContext(ctx, named)
}

// Traceparent is the W3C traceparent of the span that ctx is in, of this process or another; empty: it is in none.
func Traceparent(ctx context.Context) string {
	var c carrier
	propagation.TraceContext{}.Inject(ctx, &c)
	return string(c)
}

// TraceID is the id of the trace that a W3C traceparent names, 32 hexadecimal digits; empty: it names none.
func TraceID(traceparent string) string {
	if named := parse(traceparent); named.IsValid() {
		return named.TraceID().String()
	}
	return ""
}
