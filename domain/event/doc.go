// Package event is the whole vocabulary of the log: what an event is, how a
// stored name and version become a Go value, and what is recorded around it.
//
// It promises that a stored event is readable for ever: names are written
// constants, a shape changes only by a new version and an upcast, and a version
// this binary does not know is refused instead of guessed. It never reads a
// clock, a network or a file: a text kept elsewhere is read through a BlobReader.
package event
