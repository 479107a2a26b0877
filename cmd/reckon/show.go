package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"reckon/domain"
	"reckon/domain/event"
	"reckon/eventstore"
)

// showCmd prints a stream and the state that commands decide on.
type showCmd struct {
	installation
	Stream string `arg:"" help:"Stream, such as job-ID, run-1001, slots-ACCOUNT-2026-08-01, keys."`
	At     *int64 `help:"Revision to end with, from 0: the stream as it was then. The newest, unless it is given." placeholder:"REVISION"`
	Full   bool   `help:"Print long texts whole."`
	JSON   bool   `help:"Print each event as a line of JSON, whole, and the state as the last line." name:"json"`
}

// showPage is how many events of a stream are in memory at once; one has up to 512 KiB (eventstore.MaxAppendBytes).
const showPage = 64

// Run prints the events of a stream, oldest first, then its state.
func (c *showCmd) Run() error {
	return c.readLog(func(ctx context.Context, _ *settings, store *eventstore.Store) error { return c.show(ctx, store) })
}

func (c *showCmd) show(ctx context.Context, store *eventstore.Store) error {
	if c.Stream == "" {
		return errors.New("name the stream to show; `reckon tail` prints the names of those that are written to")
	}
	if c.At != nil && *c.At < 0 {
		return fmt.Errorf("--at %d: revisions begin with 0", *c.At)
	}
	state, last, err := readShown(ctx, store, c.Stream, c.At, c.print)
	switch {
	case err != nil:
		return err
	case c.At != nil && int64(last) < *c.At:
		return fmt.Errorf("--at %d: the newest event of %s has the revision %d", *c.At, shownName(c.Stream), last)
	}
	return c.printState(state, last)
}

// errNotFound says that the log or a read model holds nothing of what was named.
var errNotFound = errors.New("not found")

// readShown reads a stream up to the revision at (nil: its newest), hands on each event, and returns the state after the last.
func readShown(ctx context.Context, store *eventstore.Store, stream string, at *int64, each func(shownEvent) error) (state *folding, last event.Revision, err error) {
	last, catalogue := event.NoStream, domain.Catalogue()
	state = &folding{}
	read := false
	for from := event.Revision(0); at == nil || int64(from) <= *at; from = last + 1 {
		page, err := store.RawStream(ctx, stream, from, showPage)
		if err != nil {
			return nil, last, err
		}
		for _, raw := range page {
			if at != nil && int64(raw.Revision) > *at {
				break
			}
			if !read {
				state.beginAt(raw.Revision)
			}
			e := decodeShown(catalogue, raw)
			state.add(catalogue, raw, e)
			if err := each(e); err != nil {
				return nil, last, err
			}
			read, last = true, raw.Revision
		}
		if len(page) < showPage {
			break
		}
	}
	if !read {
		return nil, last, fmt.Errorf("%w: the log holds no event of the stream %s; reckon tail --category KIND shows names", errNotFound, shownName(stream))
	}
	return state, last, nil
}

func (c *showCmd) print(e shownEvent) error {
	if c.JSON {
		line, err := e.json()
		if err == nil {
			_, err = fmt.Println(line)
		}
		return err
	}
	_, err := fmt.Print(e.paragraph(c.Full))
	return err
}

// paragraph is an event with its metadata, indented, for people.
func (e shownEvent) paragraph(full bool) string {
	var out strings.Builder
	fmt.Fprintf(&out, "%s@%d  %s v%d  %s  position %d\n", shownName(e.Stream), e.Revision, shownName(e.Event), e.Version, shownTime(e.meta.At), e.Position)
	for _, fact := range append(e.facts(), shownFact{"unreadable", e.Unreadable}) {
		if fact.value != "" {
			fmt.Fprintf(&out, "  %-11s %s\n", fact.name, shownReason(fact.value))
		}
	}
	out.WriteString(indented(e.Data, full))
	out.WriteString("\n\n")
	return out.String()
}

// shownFact is a field of an event's metadata.
type shownFact struct{ name, value string }

// facts are an event's metadata; a value may be empty.
func (e shownEvent) facts() []shownFact {
	return []shownFact{
		{"id", e.ID}, {"correlation", e.meta.Correlation}, {"caused by", e.meta.Causation}, {"account", e.meta.Account}, {"actor", e.meta.Actor},
		{"requester", e.meta.Requester}, {"source", string(e.meta.Source)}, {"agent", e.meta.Agent}, {"traceparent", e.meta.Traceparent}, {"build", e.meta.Build},
	}
}

// indented is JSON for people, its long strings cut unless it is to be full.
func indented(data json.RawMessage, full bool) string {
	const longestIndented = 64 << 10
	short := []byte(data)
	if !full {
		if cut, err := cutStrings(data); err == nil {
			short = cut
		}
	}
	var out bytes.Buffer
	if err := json.Indent(&out, []byte(escapeUnprintable(string(short))), "  ", "  "); err != nil {
		return "  " + cutData(data, longestData)
	}
	if text := out.String(); full || len(text) <= longestIndented {
		return "  " + text
	}
	return "  " + cutText(out.String(), longestIndented) + fmt.Sprintf(" … (%d bytes in all; --full prints them)", len(data))
}

// stateLine is the last line of show --json.
type stateLine struct {
	Stream   string         `json:"stream"`
	Revision event.Revision `json:"revision"` // of the last event in the state
	State    any            `json:"state"`
	Missing  string         `json:"missing,omitempty"` // why there is no state
}

func (c *showCmd) printState(f *folding, last event.Revision) error {
	line := stateLine{Stream: c.Stream, Revision: last, Missing: f.missing}
	if line.Missing == "" {
		line.State = f.state()
	}
	if c.JSON {
		text, err := event.Marshal(line)
		if err == nil {
			_, err = fmt.Println(escapeUnprintable(string(text)))
		}
		return err
	}
	if line.Missing != "" {
		_, err := fmt.Printf("no state: %s\n", shownReason(line.Missing))
		return err
	}
	text, err := event.Marshal(line.State)
	if err == nil {
		_, err = fmt.Printf("state after revision %d\n%s\n", last, indented(text, c.Full))
	}
	return err
}

// folding is the state of a stream while its events are read.
type folding struct {
	past    event.Past // nil: no event was read
	missing string     // why there is no state
}

// beginAt notes that a stream is not whole; first is the revision of the first event that was read.
func (f *folding) beginAt(first event.Revision) {
	if first > 0 && f.missing == "" {
		f.missing = fmt.Sprintf("the events before revision %d have been removed", first)
	}
}

func (f *folding) add(catalogue event.Catalogue, raw eventstore.Raw, e shownEvent) {
	if f.missing != "" {
		return
	}
	decoded, err := catalogue.Decode(raw.Name, e.Version, raw.Data)
	if err != nil {
		f.missing = fmt.Sprintf("event %d cannot be read", raw.Revision)
		return
	}
	f.fold(catalogue[raw.Name], decoded)
}

// fold folds the next event, which is of a type.
func (f *folding) fold(declared event.Type, e event.Event) {
	if f.past == nil {
		if f.past = declared.NewPast(); f.past.Shown() == nil {
			f.missing = "nothing decides on streams of this kind"
		}
	}
	f.past.Fold(e)
}

// state is what its decider's package shows of the state.
func (f *folding) state() any { return f.past.Shown() }
