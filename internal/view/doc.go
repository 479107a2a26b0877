// Package view holds the JSON types of the things that the service answers with: a job, an
// evaluation, a check, a receipt, and the paths they are served at (interface §2.2 to
// §2.7). They are made from the folds of their streams. Both APIs and the runners (the
// result of a job) use these types, so that a thing has one representation. Times are
// written by event.Timestamp and long texts read by event.Text.Load.
//
// It promises that a run or a certificate is named only once it can be read. It writes
// nothing and checks no access: its callers do.
package view
