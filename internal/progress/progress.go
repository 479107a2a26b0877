package progress

import (
	"fmt"
	"io"
	"log/slog"
	"os"
	"strings"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

const (
	drawEvery = 200 * time.Millisecond
	logEvery  = 5 * time.Second
	barWidth  = 24
)

// Task is how far one piece of work is.
type Task struct {
	Name  string
	Done  float64       // 0 to 1; negative: unknown
	Rate  float64       // units per second; 0: unknown
	Unit  string        // of Rate, in the plural
	Left  time.Duration // negative: unknown
	Extra string        // said after the numbers
}

// Display shows tasks: a bar each on a terminal, else a log line each every five seconds. Its
// methods may be called concurrently.
type Display struct {
	logger *slog.Logger
	now    func() time.Time
	out    io.Writer  // the terminal; nil: log lines
	width  func() int // of the terminal, in columns

	mu    sync.Mutex
	next  time.Time // nothing is shown before
	lines int       // bars on the terminal
}

// New returns a display on file when that is a terminal, else on logger.
func New(file *os.File, logger *slog.Logger) *Display {
	d := &Display{logger: logger, now: time.Now}
	d.width = func() int {
		size, err := unix.IoctlGetWinsize(int(file.Fd()), unix.TIOCGWINSZ)
		if err != nil {
			return 0
		}
		return int(size.Col)
	}
	if d.width() > 0 {
		d.out = file
	}
	d.next = d.now().Add(d.pause())
	return d
}

func (d *Display) pause() time.Duration {
	if d.out == nil {
		return logEvery
	}
	return drawEvery
}

// Show shows the tasks that tasks returns, unless they were shown a moment ago.
func (d *Display) Show(tasks func() []Task) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.now().Before(d.next) {
		return
	}
	d.next = d.now().Add(d.pause())
	d.show(tasks())
}

func (d *Display) show(tasks []Task) {
	if d.out == nil {
		for _, t := range tasks {
			d.logger.Info(t.Name, t.attributes()...)
		}
		return
	}
	d.clear()
	for _, t := range tasks {
		_, _ = fmt.Fprintln(d.out, cut(t.bar(), d.width()-1)) // the terminal may be gone
	}
	d.lines = len(tasks)
}

// cut is the beginning of a line, in columns: a line that the terminal wraps is two to clear.
func cut(line string, columns int) string {
	characters := []rune(line)
	return string(characters[:min(len(characters), max(columns, 0))])
}

// Close removes the bars from the terminal.
func (d *Display) Close() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.clear()
	d.lines = 0
}

// clear moves to the first bar and clears what is below (ECMA-48: CPL, ED).
func (d *Display) clear() {
	if d.out != nil && d.lines > 0 {
		_, _ = fmt.Fprintf(d.out, "\x1b[%dF\x1b[J", d.lines)
	}
}

func (t Task) bar() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%-14s ", t.Name)
	if t.Done >= 0 {
		full := min(max(int(t.Done*barWidth), 0), barWidth)
		fmt.Fprintf(&b, "[%s%s] %5.1f %%  ", strings.Repeat("#", full), strings.Repeat(".", barWidth-full), 100*t.Done)
	}
	if t.Rate > 0 {
		fmt.Fprintf(&b, "%.0f %s/s  ", t.Rate, t.Unit)
	}
	if t.Left >= 0 && t.Done >= 0 && t.Done < 1 {
		fmt.Fprintf(&b, "%s left  ", t.Left.Round(time.Second))
	}
	return strings.TrimSpace(b.String() + t.Extra)
}

func (t Task) attributes() []any {
	var a []any
	if t.Done >= 0 {
		a = append(a, "percent", float64(int(1000*t.Done))/10)
	}
	if t.Rate > 0 {
		a = append(a, t.Unit+"_per_s", int64(t.Rate))
	}
	if t.Left >= 0 && t.Done >= 0 && t.Done < 1 {
		a = append(a, "left", t.Left.Round(time.Second).String())
	}
	if t.Extra != "" {
		a = append(a, "state", t.Extra)
	}
	return a
}
