package commands

import (
	"context"
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
	return ownSession(ctx, ev.config.Store, ev.config.Owners, in, open, func() error {
		if ev.config.Engine.LiveSessions(in.Account+"/") >= a.Plan.LiveSessions {
			return ErrTooManySessions
		}
		return nil
	})
}

// expire logs that an epoch of a session has ended by itself and its variables are gone.
func (ev *Evaluator) expire(ctx context.Context, in Intent, owned ownedSession, reason session.EndReason) error {
	expire := session.Expire{Account: in.Account, SessionID: owned.id, Epoch: owned.Epoch, Reason: reason}
	_, err := handleFrom(ctx, ev.config.Store, session.Decider, session.Stream(in.Account, owned.id), &owned.stream, in.withNewID(), session.Command(expire))
	return err
}

// lossWarning says that a session's variables are gone although nobody asked for
// that; empty when they are not, or when the session was only idle.
func (s ownedSession) lossWarning() string {
	switch s.PreviousEnd {
	case "", session.EndCleared, session.EndIdle:
		return ""
	}
	return fmt.Sprintf("Session %s was lost (%s): its variables and definitions are gone; this evaluation ran in a fresh one.", s.id, s.PreviousEnd)
}
