package commands_test

import (
	"errors"
	"testing"

	"reckon/commands"
	"reckon/domain/account"
	"reckon/domain/grant"
	"reckon/domain/scope"
)

func TestGrants(t *testing.T) {
	l, plans := newLog(t), account.DefaultPlans()
	approve := func(in commands.Intent, id string) error {
		_, err := commands.ApproveGrant(t.Context(), l, in, grant.Approve{GrantID: id, ClientID: "c", ClientName: "n", Resource: "mcp", Scopes: scope.Of(scope.MCP)})
		return err
	}
	if err := approve(intentOf(anna), "g1"); !errors.Is(err, account.ErrNotFound) {
		t.Errorf("for nobody: %v", err)
	}
	for _, who := range []string{anna, bert} {
		if _, err := commands.RegisterAccount(t.Context(), l, plans, intentOf(who)); err != nil {
			t.Fatal(err)
		}
	}
	for id, who := range map[string]string{"g1": anna, "g2": anna, "g3": bert} {
		if err := approve(intentOf(who), id); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := commands.RevokeGrant(t.Context(), l, intentOf(bert), "g1", grant.ByPerson); !errors.Is(err, grant.ErrNotFound) {
		t.Errorf("by another account: %v", err)
	}
	for range 2 { // it may be repeated, and leaves alone what is not the account's
		if err := commands.EndGrants(t.Context(), l, intentOf(anna), []string{"g1", "never", "g2", "g3"}, grant.AccountClosed); err != nil {
			t.Error(err)
		}
	}
	for id, inForce := range map[string]bool{"g1": false, "g2": false, "g3": true, "never": false} {
		if s, err := commands.ReadGrant(t.Context(), l, id); err != nil || s.InForce() != inForce {
			t.Errorf("%s: %+v, %v", id, s, err)
		}
	}
	if got := l.names(grant.Stream("g1")); got != "grant.approved grant.revoked" {
		t.Errorf("stream: %s", got)
	}
	if _, err := commands.CloseAccount(t.Context(), l, intentOf(anna)); err != nil {
		t.Fatal(err)
	}
	if err := approve(intentOf(anna), "g4"); !errors.Is(err, account.ErrClosed) {
		t.Errorf("for a closed account: %v", err)
	}
}
