// Package tracing begins the spans of a process and carries their trace from one process to the next. It is the only package, with otlp
// below it, that knows OpenTelemetry.
//
// Declared lists every span and its attributes. No attribute holds an account, an expression, a result, a credential or an address,
// and no span holds the text of an error.
package tracing
