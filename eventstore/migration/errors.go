package migration

import (
	"fmt"
	"strings"
)

// NoLogError is returned for a source on which no server of Reckon has run.
type NoLogError struct{ Source string }

func (e *NoLogError) Error() string {
	return fmt.Sprintf("%s holds no log of Reckon on which a server has run: nothing was copied; is the address or the folder the right one?", e.Source)
}

// TargetInUseError is returned for a target that holds something else than the beginning of this copy.
type TargetInUseError struct{ Target, Reason string }

func (e *TargetInUseError) Error() string {
	return fmt.Sprintf("%s cannot be the target: %s; nothing was written to it. Name a server that is empty", e.Target, e.Reason)
}

// GroupsError is returned for a source with groups of persistent subscriptions, which are not copied.
type GroupsError struct{ Groups []string }

func (e *GroupsError) Error() string {
	const most = 8
	names := strings.Join(e.Groups[:min(most, len(e.Groups))], ", ")
	if len(e.Groups) > most {
		names += ", …"
	}
	return fmt.Sprintf("other programs read the source by %d groups of persistent subscriptions, which Reckon has none of and which are not copied: %s. "+
		"Make them on the target afterwards, and give --without-groups", len(e.Groups), names)
}

// DifferenceError is returned where the target has not what the source has.
type DifferenceError struct {
	Stream   string
	Revision uint64
	Position uint64 // in the source; 0 for an event that the target alone has
	Reason   string
}

func (e *DifferenceError) Error() string {
	place := fmt.Sprintf("event %d of stream %q", e.Revision, e.Stream)
	if e.Position > 0 {
		place += fmt.Sprintf(", at position %d of the source", e.Position)
	}
	return fmt.Sprintf("the target is not a copy of the source at %s: %s. The source stays in force; begin again with an empty target", place, e.Reason)
}

// SourceWrittenError is returned where the source was written to while it was copied.
type SourceWrittenError struct {
	Stream   string
	Position uint64
}

func (e *SourceWrittenError) Error() string {
	return fmt.Sprintf("the source was written to while it was copied (stream %q, position %d): a server still runs on it. Stop it, and run the same command again: "+
		"it copies what has come since", e.Stream, e.Position)
}

// NotMovedError is returned by TakeBack for a log that was not migrated.
type NotMovedError struct{ Source string }

func (e *NotMovedError) Error() string {
	return fmt.Sprintf("the log at %s was not migrated: there is nothing to take back", e.Source)
}
