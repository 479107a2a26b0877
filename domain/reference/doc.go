// Package reference is the function reference: what the service's language offers, as people look it up.
//
// Its source is data/*.txt, written and reviewed by hand: one entry for a symbol or a task, with examples and what is right for each, never
// with what the engine happens to say (docs/reference.md has the format). Whether an entry is supported, divergent, blocked or unsupported is
// derived (Derive) from what the engine in force answered to its examples; `reckon reference build` runs them and writes data/built.json.
// Search finds entries in memory, in the same order whatever database a deployment has.
//
// It promises that nothing that is derived can be typed in, that reading is bounded and an error names file and line, and that
// answers are compared as expressions. It never evaluates anything and knows no clock, file or network but the embedded data.
package reference
