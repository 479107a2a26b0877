package eventlog

import "strconv"

// ExpectedKind is the kind of state in which a writer expects a stream.
type ExpectedKind uint8

// The kinds of expectation. The zero value is none of them: a write without an
// expectation is refused and does not mean Any.
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

// NoStream expects a stream without events, or a soft-deleted one.
func NoStream() Expected { return Expected{Kind: ExpectNoStream} }

// StreamExists expects a stream with events or metadata that is not deleted.
func StreamExists() Expected { return Expected{Kind: ExpectStreamExists} }

// Revision expects that revision is the stream's last one.
func Revision(revision uint64) Expected { return Expected{Kind: ExpectRevision, Revision: revision} }

// LegacyNumber returns the expectation as the legacy number used in trailers: -2 for Any,
// -1 for NoStream, -4 for StreamExists, or the revision.
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

// verdict is the result of comparing the state of a stream with what a write expects.
type verdict uint8

const (
	accept        verdict = iota + 1
	acceptOrKnown         // accept, unless the first id is known in this stream
	knownOrRevive         // success if the ids are stored from revision 0 on, else accept
	knownOrWrong          // success if the ids are stored after the expected revision, else wrong
	wrongRevision
	streamDeleted
)

// streamState is the state of a stream that decides about writes to it.
type streamState struct {
	head
	hasMetadata      bool
	metadata         Metadata
	metadataPosition uint64 // of the newest record of the meta-stream
}

func (s *streamState) softDeleted() bool { return s.metadata.softDeleted() }

// evaluateExpected applies the protocol's expected-revision table to an append.
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

// evaluateExpectedDeletion applies the table to a soft delete or a tombstone. The server
// makes the ids of their events, so that a repetition is never recognised.
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
