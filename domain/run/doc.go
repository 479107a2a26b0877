// Package run is one evaluation as the log knows it: what was asked, what came
// out, the receipt sealed with it, and the checks made since.
//
// It promises that a run id is used once and that a receipt never changes:
// later checks are events of their own. It never evaluates anything.
package run
