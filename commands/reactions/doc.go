// Package reactions holds what follows from an event by itself: one file per
// reaction, each a command issued because something happened.
//
// It promises that every event of a reaction's list is handled at least once
// and in the order of its stream, that what fails for the time being is tried
// again, and that what fails for good is parked durably before it is passed. A
// reaction holds no state: all of it is in the streams, so it may be run again
// at will, by several processes at once. A parked event does not hold up the
// later ones of its stream, because a reaction reads the stream as it is now.
//
// It never reads a read model and never sends anything to the outside.
package reactions
