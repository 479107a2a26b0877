package audit

import (
	"math"
	"strconv"
	"strings"

	"reckon/domain/event"
)

// streams is what is kept of each stream. Most streams of a log are runs, with two events each: of a run is kept the number of its events, and
// which of the few pasts it has that runs have.
type streams struct {
	named  map[string]*stream
	runs   *table[int64, keptRun]
	pasts  []event.Past   // that runs have
	places map[any]uint32 // in pasts, by event.Past.Key
}

type stream struct {
	next    event.Revision
	past    event.Past // nil: none of its events was judged
	account string     // that its first event to name one names; empty: none has
}

type keptRun struct {
	next uint32
	past uint32 // its place in pasts, from 1; 0: none of its events was judged
}

func newStreams() *streams {
	return &streams{named: map[string]*stream{}, runs: newTable[int64, keptRun](), places: map[any]uint32{}}
}

// runOf is the run whose stream has a name; false for any other name.
func runOf(name string) (id int64, is bool) {
	digits, is := strings.CutPrefix(name, "run-")
	if !is || digits == "" || digits[0] < '1' || digits[0] > '9' {
		return 0, false
	}
	id, err := strconv.ParseInt(digits, 10, 64)
	return id, err == nil
}

// next is the revision that comes next in a stream; false where it has no events.
func (s *streams) next(name string) (event.Revision, bool) {
	if kept := s.named[name]; kept != nil {
		return kept.next, true
	}
	if id, is := runOf(name); is {
		if kept := s.runs.at(id); kept != nil {
			return event.Revision(kept.next), true
		}
	}
	return 0, false
}

// setNext notes the revision that comes next. A stream of a run goes to the others where it has more events than a run has.
func (s *streams) setNext(name string, next event.Revision) {
	kept := s.named[name]
	if id, is := runOf(name); is && kept == nil && next >= 0 && next <= math.MaxUint32 {
		if run := s.runs.at(id); run != nil {
			run.next = uint32(next)
		} else {
			s.runs.add(id, keptRun{next: uint32(next)})
		}
		return
	}
	if kept == nil {
		kept = s.moved(name)
	}
	kept.next = next
}

// moved keeps a stream by its name from now on.
func (s *streams) moved(name string) *stream {
	kept := &stream{}
	if id, is := runOf(name); is {
		if run := s.runs.at(id); run != nil {
			kept.next = event.Revision(run.next)
			if run.past > 0 {
				kept.past = s.pasts[run.past-1].Copy()
			}
		}
	}
	s.named[name] = kept
	return kept
}

// past is that of a stream, to be changed and given to keep; nil where none of its events was judged.
func (s *streams) past(name string) event.Past {
	if kept := s.named[name]; kept != nil {
		return kept.past
	}
	if id, is := runOf(name); is {
		if run := s.runs.at(id); run != nil && run.past > 0 {
			return s.pasts[run.past-1].Copy()
		}
	}
	return nil
}

// keep keeps the past of a stream, whose event names an account, or none. setNext was called before.
func (s *streams) keep(name string, past event.Past, account string) {
	kept, key := s.named[name], past.Key()
	if id, is := runOf(name); is && kept == nil && key != nil {
		place, known := s.places[key]
		if !known {
			s.pasts = append(s.pasts, past)
			place = uint32(len(s.pasts)) //nolint:gosec // each takes more than a byte
			s.places[key] = place
		}
		s.runs.at(id).past = place
		return
	}
	if kept == nil {
		kept = s.moved(name)
	}
	kept.past = past
	if kept.account == "" {
		kept.account = oneText(account)
	}
}
