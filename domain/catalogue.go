// Package domain holds the one list of everything that may stand in the log.
package domain

import (
	"reckon/domain/account"
	"reckon/domain/event"
	"reckon/domain/keys"
	"reckon/domain/run"
	"reckon/domain/session"
	"reckon/domain/token"
)

// Catalogue is every event type of this binary.
func Catalogue() event.Catalogue {
	c, err := event.NewCatalogue(
		account.Events(),
		keys.Events(),
		run.Events(),
		session.Events(),
		token.Events(),
	)
	if err != nil {
		panic(err) // two declarations of one name: no binary with that passes its tests
	}
	return c
}
