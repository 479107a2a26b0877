package scope_test

import (
	"errors"
	"slices"
	"testing"

	"reckon/domain/scope"
)

func TestSets(t *testing.T) {
	all := scope.Of(scope.All()...)
	if all.Len() != 9 || len(all.Names()) != 9 || all.String() != "evaluate verify history:read receipts:read jobs:read jobs:write proofs:write sessions:write mcp" {
		t.Errorf("all scopes: %s", all)
	}
	for _, one := range scope.All() {
		alone := scope.Of(one)
		if !alone.Has(one) || alone.Len() != 1 || !all.Has(one) || all.Without(alone).Has(one) || all.Without(alone).With(alone) != all || all.And(alone) != alone || one.Means() == "" {
			t.Errorf("%s", one)
		}
	}
	if none := scope.Of("root", ""); !none.IsEmpty() || none.Has("root") || none.Has("") || none.String() != "" || scope.Scope("root").Means() != "" {
		t.Errorf("what is no scope is in a set: %s", none)
	}
}

func TestParse(t *testing.T) {
	for _, names := range [][]string{nil, {}, {""}, {"root"}, {"evaluate", "Verify"}, {"evaluate verify"}, {"evaluate", "evaluate "}} {
		if set, err := scope.Parse(names); !errors.Is(err, scope.ErrUnknown) || !set.IsEmpty() {
			t.Errorf("%q: %s, %v", names, set, err)
		}
	}
	if set, err := scope.Parse([]string{"mcp", "evaluate", "mcp"}); err != nil || set != scope.Of(scope.Evaluate, scope.MCP) {
		t.Errorf("%s, %v", set, err)
	}
	if set := scope.Known([]string{"future:scope", "jobs:read"}); !slices.Equal(set.Names(), []string{"jobs:read"}) {
		t.Errorf("%s", set)
	}
}
