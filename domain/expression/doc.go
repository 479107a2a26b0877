// Package expression reads the service's computation language without running anything.
//
// It promises: Parse answers a tree or a *SyntaxError with a line and a column for any bytes at all, in time and space
// linear in the input, within the bounds MaxBytes, MaxTokens and MaxDepth; FullForm and Source print a tree so that
// Parse reads it back to an equal one; Denied and Allowlisted decide on the symbols of the text; Canonical and
// SameAsEngine tell whether another reader of the language understood the same expression.
//
// It never evaluates, simplifies or looks up a definition, never asks the engine, and knows no clock, file or network.
// What it does not know it refuses: an escape, an operator or a character outside docs/language.md is a SyntaxError and
// never a guess.
//
// The language is the Wolfram Language's textual input form; operator precedences follow Wolfram's published operator
// table (tutorial/OperatorInputForms). docs/language.md lists what is read, what is refused and where the engine differs.
package expression
