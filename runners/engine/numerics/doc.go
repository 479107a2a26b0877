// Package numerics asks mpmath for numbers: of any size and precision, sums and integrals.
//
// It promises: mpmath runs in a process of its own for every question, behind the walls of the first engine and bounded by processor time;
// it is sent trees of which the program evaluates known functions only, no text; a number is answered with the digits that were asked for,
// computed twice, with different precisions that agree.
//
// Whether a number is right is for the checker, which computes with balls and shares no code with mpmath.
package numerics
