// Package job is a background job: queued, claimed by a runner, ended once.
//
// It promises one winner per transition: a claim and an early cancellation race
// on one revision of one stream, so "started" and "refunded" cannot both
// happen; a runner that lost its claim cannot end the job. It never runs
// anything and never looks at a clock.
package job
