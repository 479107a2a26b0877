package commands_test

import (
	"errors"
	"reflect"
	"testing"
	"time"

	"reckon/commands"
	"reckon/domain/account"
	"reckon/domain/event"
	"reckon/domain/scope"
	"reckon/domain/token"
)

func TestAccounts(t *testing.T) {
	l, plans := newLog(t), account.DefaultPlans()
	planOf := func(accountID string) (string, error) {
		p, err := commands.PlanOf(t.Context(), l, plans, accountID)
		return p.Name, err
	}
	if _, err := planOf(anna); !errors.Is(err, account.ErrNotFound) {
		t.Errorf("no account: %v", err)
	}
	for range 2 {
		register(t, l, anna)
	}
	if got, err := planOf(anna); err != nil || got != plans[0].Name || l.names(account.Stream(anna)) != "account.registered" {
		t.Errorf("registered: %q, %v; %s", got, err, l.names(account.Stream(anna)))
	}
	appends := l.count()
	if _, err := commands.ChangePlan(t.Context(), l, plans, intentOf(anna), "nosuch"); !errors.Is(err, commands.ErrUnknownPlan) {
		t.Errorf("no such plan: %v", err)
	}
	if _, err := commands.ChangePlan(t.Context(), l, plans, intentOf(bert), "pro"); !errors.Is(err, account.ErrNotFound) {
		t.Errorf("no such account: %v", err)
	}
	if l.count() != appends {
		t.Errorf("refusals appended %d times", l.count()-appends)
	}
	at, err := commands.ChangePlan(t.Context(), l, plans, intentOf(anna), "pro")
	if head, _ := l.Head(t.Context()); err != nil || at != head {
		t.Errorf("change: %v, %v", at, err)
	}
	if got, err := planOf(anna); err != nil || got != "pro" {
		t.Errorf("changed: %q, %v", got, err)
	}
	if p, err := commands.PlanOf(t.Context(), l, plans[:1], anna); err != nil || p.Name != plans[0].Name {
		t.Errorf("a plan that left the catalogue is served as %q, %v", p.Name, err)
	}
	for range 2 {
		if _, err := commands.CloseAccount(t.Context(), l, intentOf(anna)); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := commands.CloseAccount(t.Context(), l, intentOf(bert)); !errors.Is(err, account.ErrNotFound) || l.names(account.Stream(anna)) != "account.registered account.plan_changed account.closed" {
		t.Errorf("close: %v; %s", err, l.names(account.Stream(anna)))
	}
	if _, err := planOf(anna); !errors.Is(err, account.ErrClosed) {
		t.Errorf("closed: %v", err)
	}
	if _, err := commands.ChangePlan(t.Context(), l, plans, intentOf(anna), "free"); !errors.Is(err, account.ErrClosed) {
		t.Errorf("change of a closed account: %v", err)
	}
}

func TestTokens(t *testing.T) {
	l := newLog(t)
	expires := noon.AddDate(0, 0, 30).In(time.FixedZone("", 3600))
	mint := func(in commands.Intent) (event.Position, error) {
		return commands.MintToken(t.Context(), l, in, "hash", "laptop", "x9Qz", scope.Set{}, expires)
	}
	if _, err := mint(intentOf(anna)); err != nil {
		t.Fatal(err)
	}
	history, err := l.Read(t.Context(), token.Stream("hash"))
	if want := (token.Minted{TokenID: "hash", Account: anna, Name: "laptop", Last4: "x9Qz", FullAccess: true, ExpiresAt: "2026-08-31T12:00:00.000Z"}); err != nil || !reflect.DeepEqual(history.Events[0].Event, event.Event(want)) {
		t.Errorf("%+v, %v", history.Events, err)
	}
	if _, err := mint(intentOf(bert)); !errors.Is(err, token.ErrAlreadyMinted) {
		t.Errorf("minted again: %v", err)
	}
	if _, err := commands.RevokeToken(t.Context(), l, intentOf(bert), "hash"); !errors.Is(err, token.ErrNotFound) {
		t.Errorf("revoked by another account: %v", err)
	}
	for range 2 {
		if _, err := commands.RevokeToken(t.Context(), l, intentOf(anna), "hash"); err != nil {
			t.Error(err)
		}
	}
	if got := l.names(token.Stream("hash")); got != "token.minted token.revoked" {
		t.Errorf("stream: %s", got)
	}
	if history, err = l.Read(t.Context(), token.Stream("hash")); err != nil || token.Decider.Fold(history.Domain()).ValidAt(noon) {
		t.Errorf("valid after it was revoked, %v", err)
	}
}
