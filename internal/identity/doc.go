// Package identity stores what the event log must not hold: e-mail addresses, password
// hashes, browser sessions and the counters of limits that all processes share. It is the
// service's only store of personal data and cannot be rebuilt from the log: it has a SQLite file or
// a PostgreSQL schema of its own, so that every read model can be thrown away.
//
// It promises that an address is registered once, whatever its case; that a
// registration interrupted between its two stores is finished by the next
// sign-in; and that body, status and time of a failed sign-in are the same whether or not
// the address exists. Of a password it stores an argon2id hash only, of a session's secret
// a SHA-256, of a client's address a number below 2^20 that only the salt leads to.
package identity
