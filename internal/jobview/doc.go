// Package jobview is a job as both APIs answer it (spec §2.7), made from its
// stream's fold.
//
// It promises that a run or a certificate is named only once it can be read, and
// that a job is described in the same words whoever describes it. It changes
// nothing and knows no account: who may see a job is decided before.
package jobview
