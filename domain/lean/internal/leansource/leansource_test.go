package leansource_test

import (
	"bytes"
	"context"
	"strings"
	"testing"

	"reckon/domain/lean/export"
	"reckon/domain/lean/internal/leansource"
	"reckon/domain/lean/kernel"
)

// check writes text and gives it to the kernel.
func check(t *testing.T, text string) (*export.File, kernel.Result) {
	t.Helper()
	var out bytes.Buffer
	if err := leansource.Write(&out, text); err != nil {
		t.Fatal(err)
	}
	file, err := export.Read(context.Background(), &out, export.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	return file, kernel.Check(context.Background(), file.Store, file.Declarations, kernel.Options{})
}

func TestRecursorsAreTheKernels(t *testing.T) {
	file, r := check(t, `
inductive Nat : Type | zero : Nat | succ (n : Nat) : Nat
inductive List.{u} (α : Type u) : Type u | nil : List.{u} α | cons (h : α) (t : List.{u} α) : List.{u} α
inductive Tree (α : Type) : Type | node (v : α) (kids : List.{0} (Tree α)) : Tree α | fn (f : Nat -> Tree α) : Tree α
inductive large Eq.{u} (α : Sort u) (a : α) : α -> Prop | refl : Eq.{u} α a a
mutual
inductive Even : Nat -> Prop | zero : Even Nat.zero | succ (n : Nat) (h : Odd n) : Even (Nat.succ n)
inductive Odd : Nat -> Prop | succ (n : Nat) (h : Even n) : Odd (Nat.succ n)
end
inductive Twice (α : Type) : Type | make (x : List.{0} (List.{0} (Twice α))) (y : List.{0} (Tree (Twice α))) : Twice α
quotients
`)
	if !r.Accepted() || len(file.Declarations) != 10 {
		t.Fatalf("%d declarations, %+v", len(file.Declarations), r)
	}
}

func TestPreludeIsAccepted(t *testing.T) {
	if file, r := check(t, leansource.Prelude); !r.Accepted() {
		t.Fatalf("%s: %+v", file.Store.NameString(r.Refusal.Declaration), r)
	}
}

func TestMistakesAreReported(t *testing.T) {
	for _, text := range []string{"def", "def a", "def a : Type", "define a : Type := Nat", "def a : (Type := b", "def a : Type := end", `axiom a : "b`} {
		err := leansource.Write(&bytes.Buffer{}, "-- a comment\n"+text)
		if err == nil || !strings.Contains(err.Error(), "line 2") {
			t.Errorf("%s: %v", text, err)
		}
	}
}
