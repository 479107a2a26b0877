package commands

import (
	"context"
	"errors"

	"reckon/domain/event"
	"reckon/domain/session"
)

// Owners tells which processes still report.
type Owners interface {
	Alive(ctx context.Context, owner string) (bool, error)
}

// Ownership is a session this process owns, as it stood when it was asked for.
type Ownership struct {
	Epoch  int
	Fresh  bool   // this call opened the epoch
	Before string // how the epoch before ended; empty for a session's first
}

// SessionElsewhereError means that a live process other than this one owns the session.
type SessionElsewhereError struct{ Owner, Address string }

func (e *SessionElsewhereError) Error() string {
	return "session is owned by process " + e.Owner + " at " + e.Address
}

// Is makes it a session.ErrOwned.
func (e *SessionElsewhereError) Is(target error) bool { return target == session.ErrOwned }

// OwnSession makes this process the owner, unless a live process is: then it
// returns SessionElsewhereError. An owner that no longer reports loses the session.
func OwnSession(ctx context.Context, store Store, owners Owners, in Intent, open session.Open) (Ownership, error) {
	stream := session.Stream(open.Account, open.SessionID)
	for {
		before, err := readSession(ctx, store, stream)
		if err != nil {
			return Ownership{}, err
		}
		if before.Live && before.Owner == open.Owner {
			return Ownership{Epoch: before.Epoch}, nil
		}
		if before.Live {
			alive, err := owners.Alive(ctx, before.Owner)
			if err != nil {
				return Ownership{}, err
			}
			if alive {
				return Ownership{}, &SessionElsewhereError{Owner: before.Owner, Address: before.Address}
			}
			expire := session.Expire{Account: open.Account, SessionID: open.SessionID, Epoch: before.Epoch, Reason: "owner_lost"}
			if _, err := ExpireSession(ctx, store, in, expire); err != nil {
				return Ownership{}, err
			}
			before.Ended = expire.Reason
		}
		after, err := handle(ctx, store, session.Decider, stream, in.again(), session.Command(open))
		if errors.Is(err, session.ErrOwned) {
			continue // somebody else was faster: look again at who it is
		}
		if err != nil {
			return Ownership{}, err
		}
		if !after.appended { // another call of this process was faster
			return Ownership{Epoch: after.state.Epoch}, nil
		}
		return Ownership{Epoch: after.state.Epoch, Fresh: true, Before: before.Ended}, nil
	}
}

// ClearSession ends a session on request and tells whether it existed, and which epoch it was.
func ClearSession(ctx context.Context, store Store, in Intent, sessionID string) (existed bool, epoch int, at event.Position, err error) {
	h, err := handle(ctx, store, session.Decider, session.Stream(in.Account, sessionID), in,
		session.Command(session.Clear{Account: in.Account, SessionID: sessionID}))
	if err != nil || !h.appended {
		return false, 0, event.Position{}, err
	}
	return true, h.state.Epoch, h.at, nil
}

// ExpireSession ends one epoch of a session.
func ExpireSession(ctx context.Context, store Store, in Intent, expire session.Expire) (event.Position, error) {
	_, at, err := Handle(ctx, store, session.Decider, session.Stream(expire.Account, expire.SessionID), in.again(), session.Command(expire))
	return at, err
}

func readSession(ctx context.Context, store Store, stream string) (session.State, error) {
	history, err := store.Read(ctx, stream)
	if err != nil {
		return session.State{}, err
	}
	return session.Decider.Fold(history.Domain()), nil
}
