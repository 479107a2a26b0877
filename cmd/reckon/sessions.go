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

// logExpiredSessions returns what the engine calls when a session's worker is
// gone: it writes session.expired. When that fails, the owner's next evaluation
// finds out by itself.
func logExpiredSessions(p process, log *eventLog) func(key string, reason engine.ExpiryReason) {
	return func(key string, reason engine.ExpiryReason) {
		accountID, sessionID, epoch, ok := splitSessionKey(key)
		if !ok {
			return
		}
		why := adapter.EndReason(reason)
		ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
		defer cancel()
		in := commands.Intent{ID: uuid.New(), At: time.Now(), Account: accountID, Actor: "runner:" + p.id, Build: buildRevision()}
		if _, err := commands.ExpireSession(ctx, log.store, in, session.Expire{Account: accountID, SessionID: sessionID, Epoch: epoch, Reason: why}); err != nil {
			p.logger.Warn("a session's end was not logged", "session", sessionID, "reason", why, "error", err)
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
