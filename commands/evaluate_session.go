package commands

import (
	"context"
	"errors"
	"fmt"

	"reckon/domain/session"
)

// ownSession makes this process the owner of the evaluation's session; without
// one it does nothing. It returns SessionElsewhereError, ErrTooManySessions for a
// session that the plan has no room for, or an error of the log.
func (ev *Evaluator) ownSession(ctx context.Context, in Intent, a admitted) (ownedSession, error) {
	if a.SessionID == "" {
		return ownedSession{}, nil
	}
	open := session.Open{Account: in.Account, SessionID: a.SessionID, Owner: ev.config.Process, Address: ev.config.Address}
	took := false
	owned, err := ownSession(ctx, ev.config.Store, ev.config.Owners, in, open, func() (err error) {
		took, err = ev.config.Places.Take(ctx, in.Account, a.SessionID, a.Plan.LiveSessions, func(ctx context.Context, sessionID string) (bool, error) {
			return ev.sessionEnded(ctx, in.Account, sessionID)
		})
		if err == nil && !took {
			return ErrTooManySessions
		}
		return err
	})
	if took && (err == nil || errors.Is(err, session.ErrOwnedElsewhere)) { // opened here, or by a process that was faster
		_ = ev.config.Places.Opened(ctx, in.Account, a.SessionID) // an error only delays that its place can be given up
	}
	return owned, err
}

// sessionEnded reports whether a session lives nowhere: it has ended, or its owner no longer reports.
func (ev *Evaluator) sessionEnded(ctx context.Context, accountID, sessionID string) (bool, error) {
	state, err := readState(ctx, ev.config.Store, session.Decider, session.Stream(accountID, sessionID))
	if err != nil || !state.Live || state.Owner == ev.config.Process {
		return err == nil && !state.Live, err
	}
	alive, err := ev.config.Owners.Alive(ctx, state.Owner)
	return err == nil && !alive, nil // whose owner is not known to have stopped lives
}

// expire logs that an epoch of a session has ended by itself and its variables are gone.
func (ev *Evaluator) expire(ctx context.Context, in Intent, owned ownedSession, reason session.EndReason) error {
	expire := session.Expire{Account: in.Account, SessionID: owned.id, Epoch: owned.Epoch, Reason: reason}
	_, err := handleFrom(ctx, ev.config.Store, session.Decider, session.Stream(in.Account, owned.id), &owned.stream, in.withNewID(), session.Command(expire))
	return err
}

// lossWarning says that a session's variables are gone without a request; empty when
// they are not, or when the session was only idle.
func (s ownedSession) lossWarning(c Evaluate) string {
	end := s.PreviousEnd
	if end == "" && c.OwnerDied {
		end = session.EndOwnerLost
	}
	why := end.Words()
	if why == "" {
		return ""
	}
	return fmt.Sprintf("Session %s was lost, because %s: its variables and definitions are gone; this evaluation ran in a fresh one.", s.id, why)
}
