// Package portfolio makes one engine of several: it asks the others where the first one has no answer or a wrong one, and the independent
// checker chooses.
//
// It promises: where the first engine answers and is not refuted, its answer is given and no other engine is asked. An answer that the checker
// refutes is given only where the first engine gave it and no engine gave a better one. Which engine answers is a function of the question and of the versions of the
// engines and of the checker, not of the machine's load: other engines are bounded by processor time, checks by counted steps. What others
// are asked is a tree of the service's own parser, of which each engine writes what its table has; a session's definitions are in it
// because the first engine put them there. No engine but the first holds state.
package portfolio
