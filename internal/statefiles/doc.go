// Package statefiles keeps the state vectors that jobs write, for some time.
//
// It promises that a file is whole or absent, that what it was opened with is what was written under that digest, and that the files of an
// account and those of all accounts never take more than their bounds, the heads of files aside: the oldest are forgotten first, and those that have
// reached their age. Several processes may share the folder. Nothing that the log says is ever lost with a file: the
// log has its digest, and the job's circuit makes it again.
package statefiles
