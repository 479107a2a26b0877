// Package telemetry makes the log lines and metrics of a process. It
// never logs a body, a credential or an expression, and its metrics have a bounded number
// of series.
package telemetry
