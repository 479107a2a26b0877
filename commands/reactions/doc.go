// Package reactions issues commands in response to events: one file per reaction.
//
// It promises that every event of a reaction's list is handled at least once
// and in the order of its stream, that an event whose handling fails is
// tried again, and that one which still fails is parked durably before the next event is
// handled. A reaction holds no state: all of it is in the streams, so that it may run
// again at any time and in several processes at once. A parked event does not hold up the
// later ones of its stream, because a reaction reads the stream as it is now.
//
// Renewals reacts to the time instead of to an event: what is due is done once, by whichever process comes first.
//
// It reads no read model, but that one proposes the accounts where something is due: their streams decide. It sends nothing
// out of the service.
package reactions
