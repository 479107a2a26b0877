package event

import "time"

// timestampLayout is RFC 3339 with exactly three digits of seconds' fraction, in UTC.
const timestampLayout = "2006-01-02T15:04:05.000Z"

// Timestamp writes a moment as events and the API hold it: RFC 3339, UTC,
// milliseconds, such as 2026-08-01T12:00:00.000Z. Finer parts are cut off.
func Timestamp(t time.Time) string { return t.UTC().Format(timestampLayout) }

// ParseTimestamp reads a moment that an event holds. It takes any RFC 3339 time.
func ParseTimestamp(s string) (time.Time, error) { return time.Parse(time.RFC3339, s) }
