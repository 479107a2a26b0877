// Package fricas asks FriCAS, a computer algebra system in Lisp, for antiderivatives that the engines before it leave.
//
// It promises: FriCAS runs as its wheel has it, in a process of its own for every question, behind the walls of the first engine (package
// engine) and bounded by processor time; what it is sent is written from a tree of domain/expression by a table (toFricas) and holds digits,
// names of the table and names made here, no byte that a user wrote; its answer, a tree printed as (name value value …), is read by a
// bounded parser into names of the table (fromFricas) and of the question, or not at all. Every entry of the table is compared with the
// checker's values at random points.
//
// It decides nothing: whether an answer is right is for the checker, which answer is given for package portfolio.
package fricas
