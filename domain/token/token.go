// Package token is an API token as the log knows it: the SHA-256 of the secret,
// which is also its id and names its stream, so that authentication folds one
// stream and a new or revoked token takes effect at once.
//
// The secret itself is never stored.
package token

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"reckon/domain/decider"
	"reckon/domain/event"
	"reckon/domain/scope"
)

// Stream names a token's stream; id is the lower-case hex SHA-256 of the secret.
func Stream(id string) string { return "token-" + id }

// Minted makes a token valid.
type Minted struct {
	TokenID string `json:"token_id" format:"sha256" doc:"Id of the token: the hash of its secret"`
	Account string `json:"account" format:"uuid" doc:"The account"`
	Name    string `json:"name" doc:"The owner's name for the token: 1 to 100 characters"`
	Last4   string `json:"last4" doc:"The last four characters of the secret; of the first tokens those before its checksum"`
	// FullAccess and Scopes: a token that says neither may do nothing.
	FullAccess bool     `json:"full_access" doc:"true: it may do everything that the account may"`
	Scopes     []string `json:"scopes,omitempty" doc:"What it may do, where it has no full access: names of scopes"`
	ExpiresAt  string   `json:"expires_at,omitempty" format:"date-time" doc:"When it stops being valid; absent: never"`
}

// Revoked ends a token.
type Revoked struct {
	TokenID string `json:"token_id" format:"sha256" doc:"Id of the token"`
	Account string `json:"account" format:"uuid" doc:"The account"`
}

func (Minted) EventName() string  { return "token.minted" }
func (Revoked) EventName() string { return "token.revoked" }

// Events declares this package's event types.
func Events() []event.Type { return Model().Events() }

// Model is the decider of a token's stream with its event types.
func Model() decider.Model[Command, State] {
	const id, account = "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08", "0198a1b2-0000-7000-8000-00000000000a"
	live := func(s State) bool { return s.Exists && !s.Revoked }
	return decider.Model[Command, State]{Decider: Decider, Live: live, Types: []decider.Type[Command, State]{
		decider.On(Minted{TokenID: id, Account: account, Name: "laptop", Last4: "x9Qz", Scopes: []string{"evaluate", "history:read"}, ExpiresAt: "2027-08-01T12:00:00.000Z"},
			func(e Minted) event.Address { return event.Address{Stream: Stream(e.TokenID), Account: e.Account} },
			func(e Minted, _ State, _ event.Metadata) Command {
				expires, _ := event.ParseTimestamp(e.ExpiresAt) // the zero time where it never expires
				return Mint{TokenID: e.TokenID, Account: e.Account, Name: e.Name, Last4: e.Last4, Scopes: scope.Known(e.Scopes), ExpiresAt: expires}
			},
			event.Upcast(withFullAccess), event.Begins(),
			event.Free{"expires_at": event.Chosen, "last4": "of the secret, which is not in the log", "name": event.Chosen, "scopes[]": event.Chosen}),
		decider.On(Revoked{TokenID: id, Account: account},
			func(e Revoked) event.Address { return event.Address{Stream: Stream(e.TokenID), Account: e.Account} },
			func(e Revoked, _ State, _ event.Metadata) Command { return Revoke(e) }),
	}}
}

// withFullAccess: tokens of version 1 had no scopes and could do everything.
func withFullAccess(v1 json.RawMessage) (json.RawMessage, error) {
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(v1, &fields); err != nil {
		return nil, err
	}
	fields["full_access"] = json.RawMessage("true")
	return json.Marshal(fields)
}

// State is the state of a token that authentication needs.
type State struct {
	Exists     bool
	Revoked    bool
	Account    string
	Name       string
	FullAccess bool      // it may do everything that the account may
	Scopes     scope.Set // what it may do otherwise
	ExpiresAt  time.Time // zero: never
}

// ValidAt tells whether the token authenticates at this moment.
func (s State) ValidAt(now time.Time) bool {
	return s.Exists && !s.Revoked && (s.ExpiresAt.IsZero() || now.Before(s.ExpiresAt))
}

// Command is one of Mint, Revoke.
type Command interface{ tokenCommand() }

// Mint makes a token valid.
type Mint struct {
	TokenID, Account, Name, Last4 string
	Scopes                        scope.Set // empty: everything that the account may do
	ExpiresAt                     time.Time // zero: never
}

// Revoke ends a token of the account; a revoked token stays revoked. It is refused with ErrNotFound.
type Revoke struct{ TokenID, Account string }

func (Mint) tokenCommand()   {}
func (Revoke) tokenCommand() {}

// MaxNameRunes is the longest name of a token, in characters.
const MaxNameRunes = 100

// CleanName returns a name without the white space around it, or ErrInvalidName.
func CleanName(name string) (string, error) {
	name = strings.TrimSpace(name)
	unprintable := func(r rune) bool { return !unicode.IsPrint(r) }
	if name == "" || utf8.RuneCountInString(name) > MaxNameRunes || strings.ContainsFunc(name, unprintable) {
		return "", ErrInvalidName
	}
	return name, nil
}

var (
	// ErrInvalidName means that a text cannot be the name of a token: lists show it to people.
	ErrInvalidName = fmt.Errorf("name must be 1 to %d printable characters beside the white space around it", MaxNameRunes)
	// ErrNotFound means that the account has no such token.
	ErrNotFound = errors.New("no such token")
	// ErrAlreadyMinted means that a token of this secret exists. Secrets have 178 random bits: the generator repeats itself.
	ErrAlreadyMinted = errors.New("this token exists already")
)

// Decider is the write model of a token's stream.
var Decider = decider.Decider[Command, State]{
	Initial:    func() State { return State{} },
	Decide:     decide,
	Evolve:     evolve,
	StateBytes: func(State) int { return stateBytes },
}

// stateBytes is the memory that a state takes: an account and a name.
const stateBytes = 512

func decide(c Command, s State) ([]event.Event, error) {
	switch c := c.(type) {
	case Mint:
		if s.Exists {
			return nil, ErrAlreadyMinted
		}
		minted := Minted{TokenID: c.TokenID, Account: c.Account, Name: c.Name, Last4: c.Last4, FullAccess: c.Scopes.IsEmpty(), Scopes: c.Scopes.Names()}
		if !c.ExpiresAt.IsZero() {
			minted.ExpiresAt = event.Timestamp(c.ExpiresAt)
		}
		return []event.Event{minted}, nil
	case Revoke:
		if !s.Exists || s.Account != c.Account {
			return nil, ErrNotFound
		}
		if s.Revoked {
			return nil, nil
		}
		return []event.Event{Revoked(c)}, nil
	}
	return nil, fmt.Errorf("token: unknown command %T", c)
}

func evolve(s State, e event.Event) State {
	switch e := e.(type) {
	case Minted:
		s.Exists, s.Account, s.Name = true, e.Account, e.Name
		s.FullAccess, s.Scopes = e.FullAccess, scope.Known(e.Scopes)
		if e.ExpiresAt != "" {
			t, err := event.ParseTimestamp(e.ExpiresAt)
			if err != nil {
				t = time.Unix(0, 0) // unreadable: expired rather than eternal
			}
			s.ExpiresAt = t
		}
	case Revoked:
		s.Revoked = true
	}
	return s
}
