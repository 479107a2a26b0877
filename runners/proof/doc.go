// Package proof runs jobs of kind proof: it has the kernel check an export and
// makes the certificate of what was found.
//
// It promises that foreign proofs are read and checked in child processes,
// one at a time in each, bounded in time and memory and killed at the bound: then
// the check is inconclusive, never a verdict and never a dead server. A child
// that loses its parent ends. What a verdict means is domain/lean/check's to say.
package proof
