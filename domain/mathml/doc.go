// Package mathml writes expressions as mathematics is printed, in presentation MathML (W3C MathML Core).
//
// It promises: markup for every expression within the bounds, in which every opened element is closed, whose elements and attributes are
// a fixed few of MathML Core without addresses, styles, scripts or ids, and in which whatever comes from the expression is escaped text.
// Parentheses stand where the printed form would otherwise be read as another expression. What has no common notation is written as in
// the input form.
//
// It never evaluates, simplifies or sorts: a + (b - c) is not a + b - c. What it prints is a rendering of an answer, never the answer: it
// leaves out what mathematics leaves out, a factor 1 among them.
package mathml
