// Package giac asks Giac, a computer algebra system in C++, what the first engine leaves without an answer.
//
// It promises: Giac runs as its wheel has it, in a process of its own for every question, behind the walls of the first engine (package
// engine) and bounded by processor time; what it is sent is written from a tree of domain/expression by a table (toGiac) and holds digits,
// names of the table and names made here, no byte that a user wrote; what it prints is read by a bounded parser into names of the table
// (fromGiac) and of the question, or not at all. Every entry of the table is compared with the checker's values at random points.
//
// It decides nothing: whether an answer is right is for the checker, which answer is given for package portfolio.
package giac
