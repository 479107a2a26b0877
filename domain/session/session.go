// Package session is who owns a live evaluation session: the process whose
// worker holds its variables.
//
// It promises that a session has one owner at a time; the epoch numbers the ownerships.
// The variables themselves are in the worker's memory only and are lost with it.
package session

import (
	"errors"
	"fmt"

	"reckon/domain/decider"
	"reckon/domain/event"
)

// Stream names the stream of an account's session.
func Stream(account, sessionID string) string { return "session-" + account + "-" + sessionID }

// MaxIDBytes is the longest session id; its characters are A-Za-z0-9._-
const MaxIDBytes = 64

// IDPattern is the regular expression of the ids that ValidID takes but for . and .. (ECMA 262, RE2).
const IDPattern = `^[A-Za-z0-9._-]{1,64}$`

// ValidID tells whether id is 1 to MaxIDBytes bytes of A-Z a-z 0-9 . _ - and so
// may name a session. The names . and .. are none: in a path they are dot segments
// (RFC 3986 §3.3), which clients and proxies remove.
func ValidID(id string) bool {
	if id == "" || id == "." || id == ".." || len(id) > MaxIDBytes {
		return false
	}
	for _, c := range []byte(id) {
		switch {
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c >= '0' && c <= '9', c == '.', c == '_', c == '-':
		default:
			return false
		}
	}
	return true
}

// EndReason is why an epoch of a session ended.
type EndReason string

// The reasons: EndCleared is the Cleared event, the others are reasons of Expired.
const (
	EndCleared    EndReason = "cleared"     // its account cleared it
	EndIdle       EndReason = "idle"        // it was not used for the engine's idle time
	EndWorkerDied EndReason = "worker_died" // its worker was killed at the end of a budget or because its caller went away, crashed or quit
	EndMemory     EndReason = "memory"      // the sessions of its process held too much memory, and its account most beyond its share
	EndOwnerLost  EndReason = "owner_lost"  // its owner stopped reporting, others say; older events: or it was cut off, it said itself
	EndCutOff     EndReason = "cut_off"     // its owner lives, could not report that, and so ended it
	EndShutdown   EndReason = "shutdown"    // its owner stopped in good order
)

// Words say why a session's variables are gone without a request, for use behind "because"; empty for the other reasons.
func (r EndReason) Words() string {
	switch r {
	case EndWorkerDied:
		return "its worker ended: a budget was exhausted, or it crashed or quit"
	case EndMemory:
		return "all sessions together held too much memory, and those of its account most beyond their share"
	case EndOwnerLost:
		return "the process that held it stopped reporting: it has ended, hangs, or was cut off from the event log"
	case EndCutOff:
		return "the process that held it was cut off from the event log for too long"
	case EndShutdown:
		return "the process that held it was stopped"
	case "", EndCleared, EndIdle:
		return ""
	}
	return string(r)
}

// Opened makes a process the owner.
type Opened struct {
	Account   string `json:"account" format:"uuid" doc:"The account"`
	SessionID string `json:"session_id" doc:"The client's name for the session: 1 to 64 of A-Z a-z 0-9 . _ -"`
	Owner     string `json:"owner" format:"uuid" doc:"Runner id of the process whose worker holds the session's variables; new in every process"`
	Address   string `json:"address,omitempty" doc:"Host and port where other processes reach the owner; absent where there is one process"`
	Epoch     int    `json:"epoch" unit:"epochs" doc:"Number of the opening, from 1, one more each time the session is opened"`
}

// Cleared ends a session on request.
type Cleared struct {
	Account   string `json:"account" format:"uuid" doc:"The account"`
	SessionID string `json:"session_id" doc:"The session"`
	Epoch     int    `json:"epoch" unit:"epochs" doc:"The epoch that ends"`
}

// Expired ends a session that was idle, or whose worker or owner died.
type Expired struct {
	Account   string    `json:"account" format:"uuid" doc:"The account"`
	SessionID string    `json:"session_id" doc:"The session"`
	Epoch     int       `json:"epoch" unit:"epochs" doc:"The epoch that ends"`
	Reason    EndReason `json:"reason" enum:"idle,worker_died,memory,owner_lost,cut_off,shutdown" doc:"idle: unused for the idle time. worker_died: its worker process ended, or was killed at the end of a budget or because its caller went away. memory: the sessions of its process together held more memory than they may, and it made room. owner_lost: its owner stopped reporting. cut_off: its owner could not write its heartbeats, and ended it before others could take it over. shutdown: its owner ended in good order"`
}

func (Opened) EventName() string  { return "session.opened" }
func (Cleared) EventName() string { return "session.cleared" }
func (Expired) EventName() string { return "session.expired" }

// Events declares this package's event types.
func Events() []event.Type { return Model().Events() }

// Model is the decider of a session's stream with its event types.
func Model() decider.Model[Command, State] {
	const account, id = "0198a1b2-0000-7000-8000-00000000000a", "notebook-1"
	of := func(account, sessionID string) event.Address {
		return event.Address{Stream: Stream(account, sessionID), Account: account}
	}
	return decider.Model[Command, State]{Decider: Decider, Live: func(s State) bool { return s.Live }, Types: []decider.Type[Command, State]{
		decider.On(Opened{Account: account, SessionID: id, Owner: "0198a1b2-0000-7000-8000-0000000000ff", Address: "127.0.0.1:9090", Epoch: 1},
			func(e Opened) event.Address { return of(e.Account, e.SessionID) },
			func(e Opened, _ State, _ event.Metadata) Command {
				return Open{Account: e.Account, SessionID: e.SessionID, Owner: e.Owner, Address: e.Address}
			},
			event.Begins(), event.Free{"address": event.OfProcess, "owner": event.OfProcess}),
		decider.On(Cleared{Account: account, SessionID: id, Epoch: 1},
			func(e Cleared) event.Address { return of(e.Account, e.SessionID) },
			func(e Cleared, _ State, _ event.Metadata) Command {
				return Clear{Account: e.Account, SessionID: e.SessionID}
			}),
		decider.On(Expired{Account: account, SessionID: id, Epoch: 2, Reason: EndIdle},
			func(e Expired) event.Address { return of(e.Account, e.SessionID) },
			func(e Expired, _ State, _ event.Metadata) Command { return Expire(e) },
			event.Free{"reason": "says why it ended"}),
	}}
}

// State is the session's present owner.
type State struct {
	Live    bool
	Owner   string    // runner id of the owning process; empty unless Live
	Address string    // where other processes reach the owner; empty unless Live
	Epoch   int       // the present or latest one; 0: the session was never opened
	Ended   EndReason // why the latest epoch that ended did; empty: none has
}

// Command is one of Open, Clear, Expire.
type Command interface{ sessionCommand() }

// Open asks for ownership. It is refused with ErrOwnedElsewhere while another
// process than LostOwner owns the session.
type Open struct {
	Account, SessionID string
	Owner, Address     string
	LostOwner          string // a process that no longer reports: its epoch expires first; empty: none
}

// Clear ends the session on request.
type Clear struct{ Account, SessionID string }

// Expire ends one epoch of the session; a later epoch is left alone.
type Expire struct {
	Account, SessionID string
	Epoch              int
	Reason             EndReason
}

func (Open) sessionCommand()   {}
func (Clear) sessionCommand()  {}
func (Expire) sessionCommand() {}

// ErrOwnedElsewhere means that another process owns the session: forward the call to it.
var ErrOwnedElsewhere = errors.New("another process owns the session")

// Decider is the write model of a session's stream.
var Decider = decider.Decider[Command, State]{
	Initial:    func() State { return State{} },
	Decide:     decide,
	Evolve:     evolve,
	StateBytes: func(State) int { return stateBytes },
}

// stateBytes is the memory that a state takes: an owner, an address and a reason.
const stateBytes = 512

func decide(c Command, s State) ([]event.Event, error) {
	switch c := c.(type) {
	case Open:
		return open(c, s)
	case Clear:
		if !s.Live {
			return nil, nil
		}
		return []event.Event{Cleared{Account: c.Account, SessionID: c.SessionID, Epoch: s.Epoch}}, nil
	case Expire:
		if !s.Live || s.Epoch != c.Epoch {
			return nil, nil
		}
		return []event.Event{Expired(c)}, nil
	}
	return nil, fmt.Errorf("session: unknown command %T", c)
}

func open(c Open, s State) ([]event.Event, error) {
	opened := Opened{Account: c.Account, SessionID: c.SessionID, Owner: c.Owner, Address: c.Address, Epoch: s.Epoch + 1}
	switch {
	case !s.Live:
		return []event.Event{opened}, nil
	case s.Owner == c.Owner:
		return nil, nil
	case s.Owner == c.LostOwner:
		return []event.Event{Expired{Account: c.Account, SessionID: c.SessionID, Epoch: s.Epoch, Reason: EndOwnerLost}, opened}, nil
	}
	return nil, ErrOwnedElsewhere
}

func evolve(s State, e event.Event) State {
	switch e := e.(type) {
	case Opened:
		return State{Live: true, Owner: e.Owner, Address: e.Address, Epoch: e.Epoch, Ended: s.Ended}
	case Cleared:
		return State{Epoch: e.Epoch, Ended: EndCleared}
	case Expired:
		return State{Epoch: e.Epoch, Ended: e.Reason}
	}
	return s
}
