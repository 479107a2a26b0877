// Package rules holds, for every rule of docs/kernel.md, an export that keeps it and one that breaks it. The exports are
// in testdata, written by this package's own code (go test ./domain/lean/internal/rules -update); each is checked to be
// accepted, or refused with the class of the rule at the right declaration. A clone of the repository tests the kernel
// with nothing else at hand.
package rules
