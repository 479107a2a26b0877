// Package checker carries out verification plans with SymPy and mpmath, which share no code with the engine.
//
// It promises: every check runs in a fresh sandboxed process that sees only the plan, within its budget; what goes wrong
// there becomes a Finding (timed out, crashed), never an error for whoever asked. It hands the program trees, never text
// to be read as code, and never asks the engine anything.
//
// The program is Python, in the folder python: tree (what is let in), numeric (values), sampling (points and the
// comparison at two precisions), symbolic (proofs), and one module per procedure.
package checker
