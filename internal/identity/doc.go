// Package identity holds what the event log must not: addresses, password
// hashes, browser sessions and the counters of registration and sign-in. It is
// the service's only store of personal data, and no projection rebuild touches it.
//
// It promises that an address is registered once, whatever its case; that a
// registration interrupted between its two stores is finished by the next
// sign-in; and that a failed sign-in tells by body, status and time nothing
// about whether the address exists. It never stores a password or a session's
// secret, only an argon2id hash of the one and a SHA-256 of the other.
package identity
