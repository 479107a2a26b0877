// Package attack holds exports whose author owns every declaration of the file, the core types included, and wants a
// verdict that says more than was proved. Each recipe is a text in a small explicit language (package file syntax.go),
// is written out as an export, and goes through the reader and the checker like a user's file. The package also holds a
// hunter, which builds such files at random and looks for a proof of False.
//
// It is imported by tests only.
package attack
