package event_test

import (
	"testing"
	"time"

	"reckon/domain/event"
)

func TestTimestampIsUTCWithMilliseconds(t *testing.T) {
	paris := time.FixedZone("", 2*60*60)
	for want, moment := range map[string]time.Time{
		"2026-08-01T12:00:00.000Z": time.Date(2026, 8, 1, 14, 0, 0, 0, paris),
		"2026-08-01T12:00:00.123Z": time.Date(2026, 8, 1, 12, 0, 0, 123_999_999, time.UTC),
	} {
		got := event.Timestamp(moment)
		if got != want {
			t.Errorf("%v is written %s, want %s", moment, got, want)
		}
		if back, err := event.ParseTimestamp(got); err != nil || !back.Equal(moment.Truncate(time.Millisecond)) {
			t.Errorf("%s is read as %v, %v", got, back, err)
		}
	}
	if _, err := event.ParseTimestamp("yesterday"); err == nil {
		t.Error("a word was read as a moment")
	}
}
