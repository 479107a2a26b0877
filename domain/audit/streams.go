package audit

import (
	"encoding/binary"
	"math"
	"strconv"
	"strings"

	"reckon/domain/event"
)

// streams is what is kept of each stream. Most streams of a log are runs, with two events each: of a run is kept the number of its events, and
// which of the few pasts it has that runs have.
type streams struct {
	named  map[string]*stream
	runs   *table[runKey, keptRun]
	pasts  []event.Past      // that runs have
	places map[any]pastPlace // by event.Past.Key
}

type stream struct {
	next    event.Revision
	past    event.Past // nil: none of its events was judged
	account string     // that its first event to name one names; empty: none has
}

// runKey is the number of a run.
type runKey [6]byte

type keptRun struct {
	next uint8
	past pastPlace
}

// pastPlace is a place in pasts, from 1; 0: none of the run's events was judged.
type pastPlace [4]byte

func (p pastPlace) number() uint32 { return binary.LittleEndian.Uint32(p[:]) }

func newStreams() *streams {
	return &streams{named: map[string]*stream{}, runs: newTable[runKey, keptRun](), places: map[any]pastPlace{}}
}

// runOf is the run whose stream has a name; false for any other name, and for a number beyond 2^48, which stays a name.
func runOf(name string) (key runKey, is bool) {
	digits, is := strings.CutPrefix(name, "run-")
	if !is || digits == "" || digits[0] < '1' || digits[0] > '9' {
		return key, false
	}
	id, err := strconv.ParseUint(digits, 10, 8*len(key))
	for i := range key {
		key[i] = byte(id >> (8 * i)) //nolint:gosec // one byte of it
	}
	return key, err == nil
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
	if id, is := runOf(name); is && kept == nil && next >= 0 && next <= math.MaxUint8 {
		if run := s.runs.at(id); run != nil {
			run.next = uint8(next)
		} else {
			s.runs.add(id, keptRun{next: uint8(next)})
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
			if n := run.past.number(); n > 0 {
				kept.past = s.pasts[n-1].Copy()
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
		if run := s.runs.at(id); run != nil && run.past.number() > 0 {
			return s.pasts[run.past.number()-1].Copy()
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
			binary.LittleEndian.PutUint32(place[:], uint32(len(s.pasts))) //nolint:gosec // of 2^32 a machine has no room
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
