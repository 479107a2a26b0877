// Package checker carries out verification plans with python-flint (FLINT and Arb), which shares no code with the engine.
//
// It promises: every check runs in a fresh sandboxed process that sees only the plan, within its budget of steps, which are
// counted and not timed; what
// goes wrong there becomes a Finding (timed out, crashed), never an error for whoever asked. It hands the program trees, never
// text to be read as code, and never asks the engine anything.
//
// The program is a Python package, python/reckon_checker: values (exact numbers and balls, and the only comparison), evaluation,
// points (where to look), agreement (claims at points), normal (exact proofs), findings, and one module per procedure in rules.
// python/verify.sh runs its own tools.
package checker
