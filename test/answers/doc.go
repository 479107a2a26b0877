// Package answers measures what the portfolio of engines answers: the questions of books and papers, which nobody here invented.
package answers
