// Package progress shows people how far long work is.
//
// It promises bars on a terminal, redrawn in place, and log lines with the same
// numbers anywhere else, so that no escape sequence reaches a file.
package progress
