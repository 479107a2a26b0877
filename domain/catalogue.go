// Package domain holds the one list of everything that may stand in the log.
package domain

import (
	"reckon/domain/account"
	"reckon/domain/billing"
	"reckon/domain/certificate"
	"reckon/domain/event"
	"reckon/domain/grant"
	"reckon/domain/job"
	"reckon/domain/keys"
	"reckon/domain/run"
	"reckon/domain/runner"
	"reckon/domain/session"
	"reckon/domain/slots"
	"reckon/domain/token"
	"reckon/domain/transparency"
	"reckon/domain/upload"
)

// Catalogue is every event type of this binary.
func Catalogue() event.Catalogue {
	c, err := event.NewCatalogue(
		account.Events(),
		billing.Events(),
		certificate.Events(),
		grant.Events(),
		job.Events(),
		keys.Events(),
		run.Events(),
		runner.Events(),
		session.Events(),
		slots.Events(),
		token.Events(),
		transparency.Events(),
		upload.Events(),
	)
	if err != nil {
		panic(err) // two declarations of one name: no binary with that passes its tests
	}
	return c
}
