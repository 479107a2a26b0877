package main

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"os"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"

	"reckon/domain"
	"reckon/domain/event"
	"reckon/eventstore"
	"reckon/internal/progress"
	"reckon/internal/tracing"
)

// traceCmd prints what one request led to.
type traceCmd struct {
	installation
	Correlation string `arg:"" help:"Correlation id; or a stream (job-ID, run-1001), whose first event tells it; or the id of an OpenTelemetry trace (32 hexadecimal digits)."`
	Since       uint64 `help:"Begin after this position in the log: the whole log is read otherwise." placeholder:"POSITION"`
	JSON        bool   `help:"Print the events with their causes as JSON, whole." name:"json" xor:"form"`
	Mermaid     bool   `help:"Print a diagram in Mermaid's language, as Markdown pages show it." xor:"form"`
}

// traceMost is how many events of a correlation are shown.
const traceMost = 10_000

// tracedEvent is an event with what it followed from.
type tracedEvent struct {
	shownEvent
	Parent  string  `json:"parent,omitempty"` // id of the event it followed from; empty: from the request itself
	Because because `json:"because"`
}

// because is how it is known what an event followed from.
type because string

const (
	byCausation because = "causation" // its metadata name the event
	byStream    because = "stream"    // they name none; the event is the one before it in its stream
	byRequest   because = "request"   // neither: the request itself
)

// traceReport is what --json prints.
type traceReport struct {
	Correlation string        `json:"correlation,omitempty"` // absent: it is of a trace
	Traces      []string      `json:"traces,omitempty"`      // ids of the OpenTelemetry traces of its events, in the order of the log
	Events      []tracedEvent `json:"events"`                // in the order of the log: a parent is before its children
	Truncated   bool          `json:"truncated"`             // there are more than traceMost
}

// Run reads the log and prints the events of the correlation as a tree of causes.
func (c *traceCmd) Run() error {
	return c.readLog(func(ctx context.Context, _ *settings, store *eventstore.Store) error {
		sought, err := resolveTraced(ctx, store, c.Correlation)
		if err != nil {
			return err
		}
		events, truncated, err := correlated(ctx, store, sought, event.Position{Commit: c.Since, Prepare: c.Since}, traceMost)
		if err != nil {
			return err
		}
		if len(events) == 0 {
			if c.Since > 0 {
				fmt.Fprintf(os.Stderr, "no event after position %d has the %s\n", c.Since, sought)
				return exitStatus(1)
			}
			fmt.Fprintf(os.Stderr, "no event has the %s; give a stream to trace what its first event belongs to\n", sought)
			return exitStatus(1)
		}
		if truncated {
			fmt.Fprintf(os.Stderr, "only the first %d events are shown\n", traceMost)
		}
		report := traceReport{Correlation: sought.correlation, Traces: traceIDs(events), Events: traced(events), Truncated: truncated}
		switch {
		case c.JSON:
			return report.printJSON()
		case c.Mermaid:
			_, err = fmt.Print(report.mermaid())
		default:
			_, err = fmt.Print(report.tree())
		}
		return err
	})
}

// sought is which events belong together: those of a correlation or, where that is empty, of an OpenTelemetry trace.
type sought struct{ correlation, trace string }

func (s sought) String() string {
	if s.correlation == "" {
		return "trace " + s.trace
	}
	return "correlation " + shownName(s.correlation)
}

func (s sought) includes(meta event.Metadata) bool {
	if s.correlation == "" {
		return tracing.TraceID(meta.Traceparent) == s.trace
	}
	return meta.Correlation == s.correlation
}

// traceIDPattern is the id of a trace, as W3C Trace Context has it. Ids of events and correlations are written with hyphens.
var traceIDPattern = regexp.MustCompile(`^[0-9a-f]{32}$`)

// resolveTraced reads what a person gives: the id of a trace or of a correlation, or a stream, of which the first event tells the correlation.
func resolveTraced(ctx context.Context, store *eventstore.Store, of string) (sought, error) {
	switch {
	case traceIDPattern.MatchString(of):
		return sought{trace: of}, nil
	case uuid.Validate(of) == nil:
		return sought{correlation: of}, nil
	}
	first, err := store.RawStream(ctx, of, 0, 1)
	if err != nil {
		return sought{}, err
	}
	if len(first) == 0 {
		return sought{}, fmt.Errorf("%w: %s is no id, and the log holds no event of a stream of that name", errNotFound, shownName(of))
	}
	meta, ok := metadataOf(first[0])
	if !ok || meta.Correlation == "" {
		return sought{}, fmt.Errorf("%w: the first event of %s has no correlation id", errNotFound, shownName(of))
	}
	return sought{correlation: meta.Correlation}, nil
}

// traceIDs are the ids of the traces of events, each once, in their order.
func traceIDs(events []shownEvent) (ids []string) {
	for _, e := range events {
		if id := tracing.TraceID(e.meta.Traceparent); id != "" && !slices.Contains(ids, id) {
			ids = append(ids, id)
		}
	}
	return ids
}

// correlated reads the events that belong together in the order of the log, at most so many.
func correlated(ctx context.Context, store *eventstore.Store, of sought, after event.Position, most int) (events []shownEvent, truncated bool, err error) {
	head, err := store.Head(ctx)
	if err != nil {
		return nil, false, err
	}
	display := progress.New(os.Stderr, slog.Default())
	defer display.Close()
	begun, read, mark, catalogue := time.Now(), 0, []byte(cmp.Or(of.correlation, of.trace)), domain.Catalogue()
	for raw, err := range store.RawAll(ctx, after) {
		if err != nil {
			return nil, false, err
		}
		if bytes.Contains(raw.Metadata, mark) { // most events are told without decoding
			if meta, ok := metadataOf(raw); ok && of.includes(meta) {
				if len(events) == most {
					return events, true, nil
				}
				events = append(events, decodeShown(catalogue, raw))
			}
		}
		if read++; read%1024 == 0 {
			display.Show(func() []progress.Task {
				done := float64(raw.Position.Commit-after.Commit) / float64(max(1, head.Commit-after.Commit))
				return []progress.Task{{Name: "reading the log", Done: min(1, done), Rate: float64(read) / time.Since(begun).Seconds(), Unit: "events", Left: -1}}
			})
		}
	}
	return events, false, nil
}

// metadataOf is an event's metadata; false where they are not as the service writes them.
func metadataOf(raw eventstore.Raw) (meta event.Metadata, ok bool) {
	err := json.Unmarshal(raw.Metadata, &meta)
	return meta, err == nil
}

// traced finds what each event followed from. A parent stands before its child in the log, so that there is no cycle.
func traced(events []shownEvent) []tracedEvent {
	list := make([]tracedEvent, len(events))
	known, newest := map[string]bool{}, map[string]string{} // ids seen; the last id of each stream
	for i, e := range events {
		list[i] = tracedEvent{shownEvent: e, Because: byRequest}
		before, follows := newest[e.Stream]
		switch {
		case e.meta.Causation != "" && known[e.meta.Causation]:
			list[i].Parent, list[i].Because = e.meta.Causation, byCausation
		case follows:
			list[i].Parent, list[i].Because = before, byStream
		}
		known[e.ID], newest[e.Stream] = true, e.ID
	}
	return list
}

func (r traceReport) printJSON() error {
	text, err := event.Marshal(r)
	if err == nil {
		_, err = fmt.Println(escapeUnprintable(string(text)))
	}
	return err
}

// deepest is how many levels of a tree are indented.
const deepest = 24

// treeRow is an event in its place of a tree.
type treeRow struct {
	tracedEvent
	branch string // its place, drawn
	level  int    // from 0
}

// rows are the events below what they followed from.
func (r traceReport) rows() (rows []treeRow) {
	children := map[string][]tracedEvent{}
	for _, e := range r.Events {
		children[e.Parent] = append(children[e.Parent], e)
	}
	type pending struct {
		event  tracedEvent
		prefix string
		last   bool
		depth  int
	}
	var stack []pending
	push := func(of []tracedEvent, prefix string, depth int) {
		for i := len(of) - 1; i >= 0; i-- {
			stack = append(stack, pending{of[i], prefix, i == len(of)-1, depth})
		}
	}
	push(children[""], "", 0)
	for len(stack) > 0 {
		p := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		branch, below := "├─ ", "│  "
		if p.last {
			branch, below = "└─ ", "   "
		}
		if p.depth >= deepest {
			below = ""
		}
		rows = append(rows, treeRow{p.event, p.prefix + branch, p.depth})
		push(children[p.event.ID], p.prefix+below, p.depth+1)
	}
	return rows
}

// title is what the events belong to: a correlation, or a trace.
func (r traceReport) title() string {
	if r.Correlation == "" {
		return "trace " + strings.Join(r.Traces, " ")
	}
	return shownName(r.Correlation)
}

// tree draws the events below what they followed from.
func (r traceReport) tree() string {
	var out strings.Builder
	first := r.Events[0].meta
	fmt.Fprintf(&out, "%s  %s  by %s  %s\n", r.title(), shownTime(first.At), shownReason(first.Actor), shownReason(string(first.Source)))
	for _, id := range r.Traces {
		if r.Correlation != "" {
			fmt.Fprintf(&out, "trace %s\n", id)
		}
	}
	for _, e := range r.rows() {
		fmt.Fprintf(&out, "%s%s  %s@%d  +%.3f s  %s", e.branch, shownName(e.Event), shownName(e.Stream), e.Revision, e.meta.At.Sub(first.At).Seconds(), shownReason(e.meta.Actor))
		if e.Because == byStream {
			out.WriteString("  (after)")
		}
		if e.Unreadable != "" {
			out.WriteString("  (unreadable)")
		}
		out.WriteByte('\n')
	}
	return out.String()
}

// mermaid is the tree as a flowchart: a line for a cause that is recorded, a dotted one for the order of a stream.
func (r traceReport) mermaid() string {
	var out strings.Builder
	node := map[string]int{}
	quoted := func(text string) string { return strings.ReplaceAll(shownName(text), `"`, "#quot;") }
	fmt.Fprintf(&out, "flowchart TD\n  request([\"%s\"])\n", quoted(r.title()))
	for i, e := range r.Events {
		node[e.ID] = i
		fmt.Fprintf(&out, "  n%d[\"%s<br/>%s@%d\"]\n", i, quoted(e.Event), quoted(e.Stream), e.Revision)
		switch e.Because {
		case byCausation:
			fmt.Fprintf(&out, "  n%d --> n%d\n", node[e.Parent], i)
		case byStream:
			fmt.Fprintf(&out, "  n%d -.-> n%d\n", node[e.Parent], i)
		case byRequest:
			fmt.Fprintf(&out, "  request --> n%d\n", i)
		}
	}
	return out.String()
}
