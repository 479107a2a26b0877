// Package access decides who may do what with the streams of a node: it authenticates
// users, which the log itself holds, and evaluates the streams' access control lists.
//
// It promises that every decision is made on the log as it is at that moment: a user who
// is disabled, deleted or has a new password, and a right that is taken away, count from
// the position at which the log says so. Anything that cannot be read, be it a user's
// record, a list or the settings, gives rights to members of $admins only. It stores
// passwords as argon2id, compares them in constant time, and bounds how many are tried.
package access
