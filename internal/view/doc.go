// Package view is what the service answers, whoever asks: a job, an evaluation,
// a check, a receipt and the addresses they are served at, made from the folds of
// their streams (interface §2.2 to §2.7). Both APIs, the runners (the result of a job)
// and every page or tool show these types, so that one thing is described in the
// same words everywhere. Moments are written by event.Timestamp and long texts
// read by event.Text.Load.
//
// It promises that a run or a certificate is named only once it can be read. It
// changes nothing and knows no account: who may see what is decided before.
package view
