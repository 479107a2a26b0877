package audit

import (
	"cmp"
	"fmt"
	"slices"

	"reckon/domain/event"
)

// Severity is how much a finding says.
type Severity string

// Severities.
const (
	// Error: the log, the blobs or the tables contradict the rules, each other or a key.
	Error Severity = "error"
	// Warning: what has to follow has not followed, although there was time, or something could not be judged that should be.
	Warning Severity = "warning"
	// Note: not a finding: what a reader should know, such as what is under way at the end of the log.
	Note Severity = "note"
)

// Kind names what is wrong. Kinds is the table of them all.
type Kind string

// Finding is one contradiction, with its place. An event has stream, revision and position; a row has table, key and column.
type Finding struct {
	Kind     Kind     `json:"kind"`
	Severity Severity `json:"severity"`
	Check    string   `json:"check"` // name of the check that found it
	Stream   string   `json:"stream,omitempty"`
	Revision int64    `json:"revision"` // -1: of no event
	Position uint64   `json:"position"` // in the log; 0: of no event
	Table    string   `json:"table,omitempty"`
	Key      string   `json:"key,omitempty"`
	Column   string   `json:"column,omitempty"`
	Expected string   `json:"expected"`
	Found    string   `json:"found"`
	Remedy   string   `json:"remedy"`
}

func (f Finding) String() string {
	place := fmt.Sprintf("%s, revision %d, position %d", f.Stream, f.Revision, f.Position)
	switch {
	case f.Table != "" && f.Column != "":
		place = fmt.Sprintf("table %s, key %s, column %s", f.Table, f.Key, f.Column)
	case f.Table != "":
		place = fmt.Sprintf("table %s, key %s", f.Table, f.Key)
	case f.Stream == "" && f.Position > 0:
		place = fmt.Sprintf("position %d", f.Position)
	case f.Stream == "":
		place = "the log"
	}
	return fmt.Sprintf("%s %s (%s): expected %s; found %s", f.Severity, f.Kind, place, f.Expected, f.Found)
}

// maxShown bounds a text that a finding quotes, in bytes.
const maxShown = 300

// shown is a text for a finding: bounded, and quoted where it holds anything but printable characters.
func shown(text string) string {
	if len(text) > maxShown {
		return fmt.Sprintf("%q… (%d bytes)", text[:maxShown], len(text))
	}
	return fmt.Sprintf("%q", text)
}

// Sort puts findings in the order of the log, those of tables last.
func Sort(findings []Finding) {
	slices.SortStableFunc(findings, func(a, b Finding) int {
		return cmp.Or(cmp.Compare(a.Table, b.Table), cmp.Compare(a.Position, b.Position), cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Key, b.Key), cmp.Compare(a.Column, b.Column))
	})
}

// at is the place of an event.
func at(r event.Recorded) Finding {
	return Finding{Stream: r.Stream, Revision: int64(r.Revision), Position: r.Position.Commit}
}
