// Package grant is what a person has allowed an OAuth client to do for their account, as the log knows it. An access token
// permits what its grant says now: revoking a grant ends all its tokens at once, in every process.
//
// It promises to hold no secret: codes and tokens, as hashes, are in internal/identity.
package grant

import (
	"errors"
	"fmt"

	"reckon/domain/decider"
	"reckon/domain/event"
	"reckon/domain/scope"
)

// Stream names a grant's stream.
func Stream(id string) string { return "grant-" + id }

// Approved lets a client act for the account.
type Approved struct {
	GrantID    string   `json:"grant_id" format:"uuid" doc:"The grant"`
	Account    string   `json:"account" format:"uuid" doc:"The account"`
	ClientID   string   `json:"client_id" format:"uuid" doc:"The client, as it was registered"`
	ClientName string   `json:"client_name" doc:"The client's name for itself, as the person was shown it"`
	Resource   string   `json:"resource" doc:"What its tokens are good for: api or mcp"`
	Scopes     []string `json:"scopes" doc:"What it may do: names of scopes"`
}

// Reason is why a grant ended.
type Reason string

// The reasons.
const (
	ByPerson       Reason = "person"         // the person disconnected the client
	ByOperator     Reason = "operator"       // an operator did
	ByClient       Reason = "client"         // the client revoked its tokens (RFC 7009)
	ReplayedSecret Reason = "replayed"       // a code or refresh token came a second time: somebody else has it too
	AccountClosed  Reason = "account_closed" // the account was closed
)

// Revoked ends a grant.
type Revoked struct {
	GrantID string `json:"grant_id" format:"uuid" doc:"The grant"`
	Account string `json:"account" format:"uuid" doc:"The account"`
	Reason  Reason `json:"reason" enum:"person,operator,client,replayed,account_closed" doc:"Why. replayed: a code or a refresh token came a second time"`
}

func (Approved) EventName() string { return "grant.approved" }
func (Revoked) EventName() string  { return "grant.revoked" }

// Events declares this package's event types.
func Events() []event.Type { return Model().Events() }

// Model is the decider of a grant's stream with its event types.
func Model() decider.Model[Command, State] {
	const id, account, client = "5e0c1f7a-3b1d-4f0e-9d56-0a4f4c2b7e11", "0198a1b2-0000-7000-8000-00000000000a", "8f14e45f-ceea-467f-a0e6-1c0e8d0f6b2a"
	return decider.Model[Command, State]{Decider: Decider, Live: State.InForce, Types: []decider.Type[Command, State]{
		decider.On(Approved{GrantID: id, Account: account, ClientID: client, ClientName: "Notebook", Resource: "api", Scopes: []string{"evaluate", "history:read"}},
			func(e Approved) event.Address { return event.Address{Stream: Stream(e.GrantID), Account: e.Account} },
			func(e Approved, _ State, _ event.Metadata) Command {
				return Approve{GrantID: e.GrantID, Account: e.Account, ClientID: e.ClientID, ClientName: e.ClientName, Resource: e.Resource, Scopes: scope.Known(e.Scopes)}
			},
			event.Begins(), event.Free{"client_id": event.Chosen, "client_name": event.Chosen, "resource": event.Chosen}),
		decider.On(Revoked{GrantID: id, Account: account, Reason: ReplayedSecret},
			func(e Revoked) event.Address { return event.Address{Stream: Stream(e.GrantID), Account: e.Account} },
			func(e Revoked, _ State, _ event.Metadata) Command { return Revoke(e) },
			event.Free{"reason": "says why it ended"}),
	}}
}

// State is the state of a grant that authentication needs.
type State struct {
	Exists     bool
	Revoked    bool
	Account    string
	ClientID   string
	ClientName string
	Resource   string
	Scopes     scope.Set
}

// InForce tells whether the grant allows anything now.
func (s State) InForce() bool { return s.Exists && !s.Revoked }

// Command is one of Approve, Revoke.
type Command interface{ grantCommand() }

// Approve lets a client act for the account with these scopes, of which there must be one.
type Approve struct {
	GrantID, Account, ClientID, ClientName, Resource string
	Scopes                                           scope.Set
}

// Revoke ends a grant of the account; one that has ended stays as it is. It is refused with ErrNotFound.
type Revoke struct {
	GrantID, Account string
	Reason           Reason
}

func (Approve) grantCommand() {}
func (Revoke) grantCommand()  {}

var (
	// ErrNotFound means that the account has no such grant.
	ErrNotFound = errors.New("no such connected app")
	// ErrExists means that a grant of this id was approved already. Ids are random: the generator repeats itself.
	ErrExists = errors.New("this grant exists already")
	// ErrNothing means that a grant would allow nothing.
	ErrNothing = errors.New("a grant needs a scope")
)

// Decider is the write model of a grant's stream.
var Decider = decider.Decider[Command, State]{
	Initial:    func() State { return State{} },
	Decide:     decide,
	Evolve:     evolve,
	StateBytes: func(State) int { return stateBytes },
}

// stateBytes is the memory that a state takes: two ids and a name.
const stateBytes = 512

func decide(c Command, s State) ([]event.Event, error) {
	switch c := c.(type) {
	case Approve:
		switch {
		case s.Exists:
			return nil, ErrExists
		case c.Scopes.IsEmpty():
			return nil, ErrNothing
		}
		return []event.Event{Approved{GrantID: c.GrantID, Account: c.Account, ClientID: c.ClientID, ClientName: c.ClientName, Resource: c.Resource, Scopes: c.Scopes.Names()}}, nil
	case Revoke:
		switch {
		case !s.Exists || s.Account != c.Account:
			return nil, ErrNotFound
		case s.Revoked:
			return nil, nil
		}
		return []event.Event{Revoked(c)}, nil
	}
	return nil, fmt.Errorf("grant: unknown command %T", c)
}

func evolve(s State, e event.Event) State {
	switch e := e.(type) {
	case Approved:
		s = State{Exists: true, Account: e.Account, ClientID: e.ClientID, ClientName: e.ClientName, Resource: e.Resource, Scopes: scope.Known(e.Scopes)}
	case Revoked:
		s.Revoked = true
	}
	return s
}
