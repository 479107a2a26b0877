package main

import (
	"context"
	"strconv"
	"strings"
	"time"

	"github.com/google/uuid"

	"reckon/commands"
	"reckon/domain/session"
	"reckon/runners/adapter"
	"reckon/runners/engine"
)

const (
	// sessionEndsAtOnce is how many ends of sessions are written at a time: a log that was away has other callers too.
	sessionEndsAtOnce = 4
	// sessionEndPause is the pause before an end is written again that could not be, because the log is away.
	sessionEndPause = time.Second
)

// logExpiredSessions returns what the engine calls when a session's worker is
// gone: it writes session.expired, as soon as the log is there, until the context ends. An evaluation in
// the session may find out first, from the engine, and write it.
func logExpiredSessions(ctx context.Context, p process, log *eventLog) func(key string, reason engine.ExpiryReason) {
	turns := make(chan struct{}, sessionEndsAtOnce)
	return func(key string, reason engine.ExpiryReason) {
		accountID, sessionID, epoch, ok := splitSessionKey(key)
		if !ok {
			return
		}
		why := adapter.EndReason(reason)
		turns <- struct{}{}
		defer func() { <-turns }()
		in := commands.Intent{ID: uuid.New(), At: time.Now(), Account: accountID, Actor: "runner:" + p.id, Build: buildRevision()}
		for {
			_, err := commands.ExpireSession(ctx, log.store, in, session.Expire{Account: accountID, SessionID: sessionID, Epoch: epoch, Reason: why})
			switch {
			case err == nil, ctx.Err() != nil: // who takes a session over that a process left logs its end
				return
			case !commands.IsAway(err):
				p.logger.Warn("a session's end was not logged", "session", sessionID, "reason", why, "error", err)
				return
			}
			select {
			case <-ctx.Done():
			case <-time.After(sessionEndPause):
			}
		}
	}
}

// splitSessionKey undoes commands.SessionKey.
func splitSessionKey(key string) (accountID, sessionID string, epoch int, ok bool) {
	parts := strings.Split(key, "/")
	if len(parts) != 3 {
		return "", "", 0, false
	}
	epoch, err := strconv.Atoi(parts[2])
	return parts[0], parts[1], epoch, err == nil
}
