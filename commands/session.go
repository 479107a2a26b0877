package commands

import (
	"context"
	"errors"
	"fmt"

	"reckon/domain/event"
	"reckon/domain/session"
)

// Owners tells which processes still report.
type Owners interface {
	// Alive answers false once a process is known to have stopped. An error means
	// that it cannot be known now; the session then stays as it is.
	Alive(ctx context.Context, owner string) (bool, error)
}

// Places counts the live sessions of accounts over all processes of an installation.
type Places interface {
	// Take gives a session one of so many places of its account before it is opened; one that it has it keeps. taken is false when
	// other sessions have them all. ended tells whether a session that has a place has ended: its place is free then.
	Take(ctx context.Context, accountID, sessionID string, most int, ended func(ctx context.Context, sessionID string) (bool, error)) (taken bool, err error)
	// Opened says that the log has the session. Without it the place is held for a few minutes although the session has ended.
	Opened(ctx context.Context, accountID, sessionID string) error
}

// Ownership is a session that this process owned at the time of the query.
type Ownership struct {
	Epoch       int
	Opened      bool              // by this call
	PreviousEnd session.EndReason // of the epoch before, when this call opened one; empty for a session's first
}

// SessionElsewhereError means that a live process other than this one owns the
// session: the call is to be forwarded to Address. It is a session.ErrOwnedElsewhere.
type SessionElsewhereError struct{ Owner, Address string }

func (e *SessionElsewhereError) Error() string {
	return "session is owned by process " + e.Owner + " at " + e.Address
}

// Is makes it a session.ErrOwnedElsewhere.
func (e *SessionElsewhereError) Is(target error) bool { return target == session.ErrOwnedElsewhere }

// ErrSessionOwnerUnreached is every SessionOwnerError of an evaluation that was not sent.
var ErrSessionOwnerUnreached = errors.New("the process that holds the session cannot be reached from here, and the evaluation did not run. Try again in a moment: if it has died, a fresh session begins")

// ErrSessionOwnerAway is every other SessionOwnerError.
var ErrSessionOwnerAway = errors.New("the process that holds the session does not answer; whether the evaluation ran is unknown. Try again in a moment: if it has died, a fresh session begins")

// SessionOwnerError means that no answer came from the live process that owns the session. Whether a run was logged is unknown,
// unless the evaluation was not sent.
type SessionOwnerError struct {
	Owner   string // runner id
	Cause   error
	NotSent bool // no connection to the process was made
}

func (e *SessionOwnerError) Error() string {
	return "session owner " + e.Owner + " does not answer: " + e.Cause.Error()
}

// Is makes it an ErrSessionOwnerAway or an ErrSessionOwnerUnreached.
func (e *SessionOwnerError) Is(target error) bool {
	if e.NotSent {
		return target == ErrSessionOwnerUnreached
	}
	return target == ErrSessionOwnerAway
}

// Unwrap is the cause.
func (e *SessionOwnerError) Unwrap() error { return e.Cause }

// ownedSession is a session that this process owns, with the stream as it was
// read.
type ownedSession struct {
	Ownership
	id     string
	stream snapshot[session.State]
}

// ownSession makes open.Owner the owner, unless a live process is: then it
// returns SessionElsewhereError. An owner that no longer reports loses the
// session. mayOpen refuses to open a session that lives nowhere, or whose owner is lost. The stream is
// read once, and again only after another process wrote to it meanwhile.
func ownSession(ctx context.Context, store Store, owners Owners, in Intent, open session.Open, mayOpen func() error) (ownedSession, error) {
	stream := session.Stream(open.Account, open.SessionID)
	known, err := readSnapshot(ctx, store, session.Decider, stream)
	if err != nil {
		return ownedSession{}, err
	}
	for {
		switch owner := known.state.Owner; {
		case !known.state.Live:
			err = mayOpen()
		case owner != open.Owner:
			open.LostOwner = owner
			if err = confirmLost(ctx, owners, known.state); err == nil {
				err = mayOpen() // its place may have been given up
			}
		default:
			return ownedSession{id: open.SessionID, stream: known, Ownership: Ownership{Epoch: known.state.Epoch}}, nil
		}
		if err != nil {
			return ownedSession{}, err
		}
		after, err := handleFrom(ctx, store, session.Decider, stream, &known, in.withNewID(), session.Command(open))
		switch {
		case errors.Is(err, session.ErrOwnedElsewhere):
			known = after.snapshot // another process was faster: decide again, about that one
			continue
		case err != nil:
			return ownedSession{}, err
		}
		owned := ownedSession{id: open.SessionID, stream: after.snapshot, Ownership: Ownership{Epoch: after.state.Epoch, Opened: after.appended}}
		if after.appended {
			owned.PreviousEnd = after.state.Ended
		}
		return owned, nil
	}
}

// confirmLost returns nil if the session's owner has stopped reporting,
// SessionElsewhereError if it has not, or an error of owners.
func confirmLost(ctx context.Context, owners Owners, s session.State) error {
	alive, err := owners.Alive(ctx, s.Owner)
	if err == nil && alive {
		err = &SessionElsewhereError{Owner: s.Owner, Address: s.Address}
	}
	return err
}

// ClearSession ends a session on request and tells whether it existed, and which
// epoch it was. Without a live session it appends nothing and answers false. Its
// errors are Handle's.
func ClearSession(ctx context.Context, store Store, in Intent, sessionID string) (existed bool, epoch int, at event.Position, err error) {
	h, err := handle(ctx, store, session.Decider, session.Stream(in.Account, sessionID), in,
		session.Command(session.Clear{Account: in.Account, SessionID: sessionID}))
	if err != nil || !h.appended {
		return false, 0, event.Position{}, err
	}
	return true, h.state.Epoch, h.at, nil
}

// ExpireSession ends one epoch of a session; an epoch that has ended, and any
// later one, stays as it is. It returns the position of the stream's last event.
// Its errors are Handle's.
func ExpireSession(ctx context.Context, store Store, in Intent, expire session.Expire) (event.Position, error) {
	_, at, err := Handle(ctx, store, session.Decider, session.Stream(expire.Account, expire.SessionID), in.withNewID(), session.Command(expire))
	return at, err
}

// SessionKey names the worker of one epoch of a session to the engine. All keys
// of an account begin with accountID/, all of a session with accountID/sessionID/.
func SessionKey(accountID, sessionID string, epoch int) string {
	return fmt.Sprintf("%s/%s/%d", accountID, sessionID, epoch)
}
