package telemetry_test

import (
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"reckon/internal/telemetry"
)

// lines keeps what is written.
type lines struct {
	mu   sync.Mutex
	text string
}

func (l *lines) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.text += string(p)
	return len(p), nil
}

func (l *lines) take() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	taken := strings.Split(strings.TrimSuffix(l.text, "\n"), "\n")
	if l.text == "" {
		taken = nil
	}
	l.text = ""
	return taken
}

func TestOutagesWriteALineASecond(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		away := errors.New("the log is away")
		var out lines
		withoutTime := &slog.HandlerOptions{ReplaceAttr: func(_ []string, a slog.Attr) slog.Attr {
			if a.Key == slog.TimeKey {
				return slog.Attr{}
			}
			return a
		}}
		log := slog.New(telemetry.LimitOutages(slog.NewTextHandler(&out, withoutTime), func(err error) bool { return errors.Is(err, away) }))
		const seconds, each = 10, 24
		for n := range seconds * each {
			log.With("part", n%each).Warn("cannot read", "error", fmt.Errorf("reading %d: %w", n, away))
			time.Sleep(time.Second / each)
		}
		time.Sleep(2 * time.Second)
		written := out.take()
		if len(written) != seconds+1 { // the first at once, and one at the end of every second
			t.Errorf("%d lines in %d seconds:\n%s", len(written), seconds, strings.Join(written, "\n"))
		}
		left := 0
		for _, line := range written {
			var n int
			if _, count, found := strings.Cut(line, "left_out="); found {
				if _, err := fmt.Sscan(count, &n); err != nil {
					t.Error(err)
				}
			}
			left += n
			if !strings.Contains(line, "part=") {
				t.Errorf("%s", line)
			}
		}
		if left+len(written) != seconds*each {
			t.Errorf("%d lines written and %d left out, of %d", len(written), left, seconds*each)
		}

		log.Warn("cannot read", "error", away)
		for range 3 { // everything else is written as it comes
			log.Error("halted", "error", errors.New("a bad event"))
			log.Info("trying", "error", away)
			log.Warn("no error")
		}
		if got := out.take(); len(got) != 10 {
			t.Errorf("%d lines:\n%s", len(got), strings.Join(got, "\n"))
		}
	})
}
