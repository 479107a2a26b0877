// Package processes tests what several processes do to one log and one
// database: first as parts of the test's own process, which can be cut off at
// will, then as real ones that are killed.
package processes
