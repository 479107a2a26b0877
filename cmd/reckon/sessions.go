package main

import (
	"context"
	"strconv"
	"strings"
	"time"

	"github.com/google/uuid"

	"reckon/commands"
	"reckon/domain/session"
	"reckon/runners/engine"
)

// sessionExpired says in the log that a session's worker is gone. When that
// fails, the owner's next evaluation finds out by itself.
func (s *service) sessionExpired(key string, reason engine.ExpiryReason) {
	accountID, sessionID, epoch, ok := splitSessionKey(key)
	if !ok {
		return
	}
	why := session.EndWorkerDied
	if reason == engine.ExpiredIdle {
		why = session.EndIdle
	}
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	in := commands.Intent{ID: uuid.New(), At: time.Now(), Account: accountID, Actor: "runner:" + s.process, Build: build()}
	if _, err := commands.ExpireSession(ctx, s.store, in, session.Expire{Account: accountID, SessionID: sessionID, Epoch: epoch, Reason: why}); err != nil {
		s.logger.Warn("a session's end was not logged", "reason", why, "error", err)
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
