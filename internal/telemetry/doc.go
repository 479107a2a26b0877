// Package telemetry is how a process tells what it does: log lines, metrics and
// the progress of long work. It promises never to log a body, a credential or an
// expression, and that its metrics have a bounded number of series.
package telemetry
