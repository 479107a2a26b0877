// Package keys is the life of the keys that seal receipts: published, then
// active, then retired. The log holds public keys only.
//
// It promises that a seal can be checked for ever: a retired key stays listed.
// It never holds a private key.
package keys

import (
	"reckon/domain/decider"
	"reckon/domain/event"
)

// Stream is the one stream of the deployment's keys.
const Stream = "keys"

// Published makes a public key known; it seals nothing yet.
type Published struct {
	KID string `json:"kid" doc:"Id of the key: its RFC 7638 thumbprint, SHA-256, base64url"`
	X   string `json:"x" doc:"The Ed25519 public key, base64url without padding (RFC 8037)"`
	At  string `json:"at" format:"date-time" doc:"When it was published"`
}

// Activated makes a published key the one that seals from now on.
type Activated struct {
	KID string `json:"kid" doc:"Id of the key"`
	At  string `json:"at" format:"date-time" doc:"From when it seals"`
}

// Retired ends a key's sealing; what it sealed still verifies.
type Retired struct {
	KID string `json:"kid" doc:"Id of the key"`
	At  string `json:"at" format:"date-time" doc:"From when it seals nothing"`
}

func (Published) EventName() string { return "key.published" }
func (Activated) EventName() string { return "key.activated" }
func (Retired) EventName() string   { return "key.retired" }

// Events declares this package's event types.
func Events() []event.Type { return Model().Events() }

// Model is the decider of Stream with its event types.
func Model() decider.Model[Command, State] {
	const kid, at = "1IG2tMH7J2wbJZnOf8LJzQitKf7LMvoAElsuDMVM54Y", "2026-08-01T12:00:00.000Z"
	here := event.Address{Stream: Stream}
	return decider.Model[Command, State]{Decider: Decider, Shown: shown, Types: []decider.Type[Command, State]{
		decider.On(Published{KID: kid, X: "A6EHv_POEL4dcN0Y50vAmWfk1jCbpQ1fHdyGZBJVMbg", At: at},
			func(Published) event.Address { return here },
			func(e Published, _ State, _ event.Metadata) Command {
				return Publish{KID: e.KID, X: e.X, Now: parseOrZero(e.At)}
			},
			event.Given("at", func(e Published) string { return e.At })),
		decider.On(Activated{KID: kid, At: at},
			func(Activated) event.Address { return here },
			func(e Activated, _ State, _ event.Metadata) Command {
				return Activate{KID: e.KID, Now: parseOrZero(e.At), logged: true}
			},
			event.Given("at", func(e Activated) string { return e.At })),
		decider.On(Retired{KID: kid, At: at},
			func(Retired) event.Address { return here },
			func(e Retired, _ State, _ event.Metadata) Command { return retire{KID: e.KID, Now: parseOrZero(e.At)} },
			event.Given("at", func(e Retired) string { return e.At })),
	}}
}

// shown is what people are shown of a state.
func shown(s State) any {
	return struct {
		Active string
		Keys   []Key
	}{s.Active, s.Keys()}
}
