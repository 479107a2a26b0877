package eventlog

import "strconv"

// ExpectedKind says how a writer constrains the stream it writes to.
type ExpectedKind uint8

// The four kinds of expectation; the zero value is none of them, so that a forgotten
// expectation is refused instead of meaning Any.
const (
	ExpectAny ExpectedKind = iota + 1
	ExpectNoStream
	ExpectStreamExists
	ExpectRevision
)

// Expected is the state in which a writer expects a stream.
type Expected struct {
	Kind     ExpectedKind
	Revision uint64 // for ExpectRevision
}

// Any accepts a stream in every state but tombstoned.
func Any() Expected { return Expected{Kind: ExpectAny} }

// NoStream expects that nothing was written yet, or that the stream is soft-deleted.
func NoStream() Expected { return Expected{Kind: ExpectNoStream} }

// StreamExists expects events or metadata, and no deletion.
func StreamExists() Expected { return Expected{Kind: ExpectStreamExists} }

// Revision expects revision as the last one.
func Revision(revision uint64) Expected { return Expected{Kind: ExpectRevision, Revision: revision} }

// LegacyNumber is the legacy form of the expectation used in trailers: -2, -1, -4 or the revision.
func (e Expected) LegacyNumber() string {
	switch e.Kind {
	case ExpectAny:
		return "-2"
	case ExpectNoStream:
		return "-1"
	case ExpectStreamExists:
		return "-4"
	default:
		return strconv.FormatUint(e.Revision, 10)
	}
}

func (e Expected) String() string {
	switch e.Kind {
	case ExpectAny:
		return "any"
	case ExpectNoStream:
		return "no stream"
	case ExpectStreamExists:
		return "stream exists"
	case ExpectRevision:
		return "revision " + strconv.FormatUint(e.Revision, 10)
	default:
		return "nothing"
	}
}

// verdict is what the expected-revision table says about a write.
type verdict uint8

const (
	accept        verdict = iota + 1
	acceptOrKnown         // accept, unless the first id is known in this stream
	knownOrRevive         // success if the ids are stored from revision 0 on, else accept
	knownOrWrong          // success if the ids are stored after the expected revision, else wrong
	wrongRevision
	streamDeleted
)

// streamState is what a write needs to know of a stream.
type streamState struct {
	head
	hasMetadata      bool
	metadata         Metadata
	metadataPosition uint64 // of the newest record of the meta-stream
}

func (s *streamState) softDeleted() bool { return s.metadata.softDeleted() }

// evaluateExpected is the expected-revision table of the protocol for a write of events.
func evaluateExpected(s *streamState, e Expected) verdict {
	if s.tombstoned {
		return streamDeleted
	}
	switch e.Kind {
	case ExpectAny:
		return acceptOrKnown
	case ExpectStreamExists:
		switch {
		case s.softDeleted():
			return streamDeleted
		case s.last < 0 && !s.hasMetadata:
			return wrongRevision
		}
		return acceptOrKnown
	case ExpectNoStream:
		switch {
		case s.last < 0:
			return accept
		case s.softDeleted():
			return knownOrRevive
		}
		return knownOrWrong
	case ExpectRevision:
		switch {
		case s.last >= 0 && e.Revision == uint64(s.last):
			return accept
		case s.last >= 0 && e.Revision < uint64(s.last):
			return knownOrWrong
		}
		return wrongRevision
	default:
		return wrongRevision
	}
}

// evaluateExpectedDeletion is the same table for a soft delete or a tombstone, whose ids are made
// by the server and so are never known.
func evaluateExpectedDeletion(s *streamState, e Expected, tombstone bool) verdict {
	never := s.last < 0 && !s.hasMetadata
	if never && !s.tombstoned && !tombstone {
		return wrongRevision
	}
	switch v := evaluateExpected(s, e); v {
	case acceptOrKnown, knownOrRevive:
		return accept
	case knownOrWrong:
		return wrongRevision
	default:
		return v
	}
}
