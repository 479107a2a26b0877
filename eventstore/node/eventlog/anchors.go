package eventlog

import (
	"cmp"
	"encoding/hex"
	"fmt"
	"slices"

	"github.com/google/uuid"
)

// Anchor is a position of a log and its link, noted where whoever can rewrite the folder cannot.
type Anchor struct {
	LogID    uuid.UUID `json:"logId"`
	Position uint64    `json:"position"`
	Link     string    `json:"link"` // hex
}

// AnchorError says that a log that is whole is not the one that was anchored: it was rewritten, or it is another log.
type AnchorError struct {
	Source string // folder or file
	Anchor Anchor
	Agrees uint64 // newest anchored position before it at which the log is the one that was noted; 0: none
	End    uint64 // position of the newest record
	Reason string
}

func (e *AnchorError) Error() string {
	return fmt.Sprintf("event log in %s is not the one that was noted at position %d: %s", e.Source, e.Anchor.Position, e.Reason)
}

// Anchors compares a log with anchors while it is read.
type Anchors struct {
	noted []Anchor
	links map[uint64]string // found at their positions; empty: not reached
}

// NewAnchors begins a comparison.
func NewAnchors(noted []Anchor) *Anchors {
	a := &Anchors{noted: slices.SortedFunc(slices.Values(noted), func(a, b Anchor) int { return cmp.Compare(a.Position, b.Position) }), links: map[uint64]string{}}
	for _, anchor := range noted {
		a.links[anchor.Position] = ""
	}
	return a
}

// Reached takes the link of the record at a position, of position 0 the one before the first record.
func (a *Anchors) Reached(position uint64, link [32]byte) {
	if _, noted := a.links[position]; noted {
		a.links[position] = hex.EncodeToString(link[:])
	}
}

// Check compares in the order of the positions: the first anchor that differs bounds where the log does. end is the position of the
// newest record. Error: *AnchorError.
func (a *Anchors) Check(source string, logID uuid.UUID, end uint64) error {
	agrees := uint64(0)
	for _, anchor := range a.noted {
		reason := ""
		switch found := a.links[anchor.Position]; {
		case anchor.LogID != logID:
			reason = fmt.Sprintf("its id is %s, that of the anchor is %s", logID, anchor.LogID)
		case anchor.Position > end:
			reason = fmt.Sprintf("it ends at position %d", end)
		case anchor.Link != found:
			reason = "the link there is " + found + ": that record or an earlier one was rewritten, with all records after it"
		}
		if reason != "" {
			return &AnchorError{Source: source, Anchor: anchor, Agrees: agrees, End: end, Reason: reason}
		}
		agrees = anchor.Position
	}
	return nil
}
