package grant_test

import (
	"fmt"
	"testing"

	"reckon/domain/decider/decidertest"
	"reckon/domain/event"
	"reckon/domain/grant"
	"reckon/domain/scope"
)

func TestGrant(t *testing.T) {
	given := decidertest.Given[grant.Command, grant.State]
	approve := grant.Approve{GrantID: "g", Account: "a", ClientID: "c", ClientName: "n", Resource: "api", Scopes: scope.Of(scope.Verify, scope.Evaluate)}
	approved := grant.Approved{GrantID: "g", Account: "a", ClientID: "c", ClientName: "n", Resource: "api", Scopes: []string{"evaluate", "verify"}}
	revoke := grant.Revoke{GrantID: "g", Account: "a", Reason: grant.ByPerson}
	revoked := grant.Revoked{GrantID: "g", Account: "a", Reason: grant.ByPerson}
	nothing, others := approve, revoke
	nothing.Scopes, others.Account = scope.Set{}, "b"

	given(t, grant.Decider).When(approve).Then(approved)
	given(t, grant.Decider).When(nothing).ThenRefused(grant.ErrNothing)
	given(t, grant.Decider, approved).When(approve).ThenRefused(grant.ErrExists)
	given(t, grant.Decider, approved, revoked).When(approve).ThenRefused(grant.ErrExists)
	given(t, grant.Decider).When(revoke).ThenRefused(grant.ErrNotFound)
	given(t, grant.Decider, approved).When(others).ThenRefused(grant.ErrNotFound)
	given(t, grant.Decider, approved).When(revoke).Then(revoked)
	given(t, grant.Decider, approved, revoked).When(revoke).ThenNothing()

	for name, c := range map[string]struct {
		events  []event.Event
		inForce bool
	}{
		"absent": {nil, false}, "approved": {[]event.Event{approved}, true}, "revoked": {[]event.Event{approved, revoked}, false},
	} {
		if s := grant.Decider.Fold(c.events); s.InForce() != c.inForce {
			t.Errorf("%s: %+v", name, s)
		}
	}
	approved.Scopes = append(approved.Scopes, "of a later version")
	want := grant.State{Exists: true, Account: "a", ClientID: "c", ClientName: "n", Resource: "api", Scopes: scope.Of(scope.Verify, scope.Evaluate)}
	if s := grant.Decider.Fold([]event.Event{approved}); s != want {
		t.Errorf("%+v", s)
	}
}

func TestFold(t *testing.T) {
	decidertest.Fold(t, grant.Decider, func(i int) event.Event {
		return []event.Event{grant.Approved{ClientName: fmt.Sprint(i), Scopes: []string{"mcp"}}, grant.Revoked{}}[i%2]
	})
}
