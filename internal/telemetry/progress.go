package telemetry

import (
	"fmt"
	"io"
	"strings"
	"sync"
	"time"
)

// The least time between two reports: on a terminal the line is redrawn, in a file one is added.
const (
	progressEvery       = 100 * time.Millisecond
	progressEveryInFile = 5 * time.Second
)

// Progress shows how far long work has come, with rate and time left. It is safe
// for concurrent use; Done ends the line.
type Progress struct {
	mu       sync.Mutex
	w        io.Writer
	terminal bool
	now      func() time.Time
	what     string
	total    int64 // 0: unknown
	done     int64
	begun    time.Time
	shown    time.Time
}

// NewProgress shows work of total steps (0: unknown) on w, which is a terminal or a file.
func NewProgress(w io.Writer, terminal bool, now func() time.Time, what string, total int64) *Progress {
	begun := now()
	return &Progress{w: w, terminal: terminal, now: now, what: what, total: total, begun: begun, shown: begun}
}

// SetDone sets how many steps are done, and reports it when the last report is old enough.
func (p *Progress) SetDone(done int64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.done = done
	every := progressEveryInFile
	if p.terminal {
		every = progressEvery
	}
	if now := p.now(); now.Sub(p.shown) >= every {
		p.shown = now
		p.show(now)
	}
}

// Finish shows the end.
func (p *Progress) Finish() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.show(p.now())
	if p.terminal {
		_, _ = fmt.Fprintln(p.w)
	}
}

const barCells = 24

func (p *Progress) show(now time.Time) {
	elapsed := now.Sub(p.begun)
	rate := float64(p.done) / max(elapsed.Seconds(), 1e-3)
	line := fmt.Sprintf("%s %d, %.0f/s", p.what, p.done, rate)
	if p.total > 0 {
		share := min(1, float64(p.done)/float64(p.total))
		full := int(share * barCells)
		line = fmt.Sprintf("%s [%s%s] %3.0f%%  %d of %d, %.0f/s", p.what, strings.Repeat("#", full), strings.Repeat(".", barCells-full), 100*share, p.done, p.total, rate)
		if p.done > 0 && p.done < p.total {
			left := time.Duration(float64(elapsed) * (1/share - 1))
			line += ", " + left.Round(time.Second).String() + " left"
		}
	}
	if p.terminal {
		_, _ = fmt.Fprintf(p.w, "\r\x1b[2K%s", line)
		return
	}
	_, _ = fmt.Fprintln(p.w, line)
}
