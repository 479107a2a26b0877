package progress

import (
	"bytes"
	"log/slog"
	"os"
	"strings"
	"testing"
	"time"
)

func TestLogLinesWhereNoTerminalIs(t *testing.T) {
	file, err := os.CreateTemp(t.TempDir(), "")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = file.Close() }()
	var lines bytes.Buffer
	d := New(file, slog.New(slog.NewTextHandler(&lines, nil)))
	at := time.Unix(0, 0)
	d.now = func() time.Time { return at }
	d.next = at.Add(logEvery)
	tasks := func() []Task {
		return []Task{{Name: "history", Done: 0.4267, Rate: 91234.5, Unit: "events", Left: 12 * time.Second}, {Name: "jobs", Done: -1, Left: -1, Extra: "halted"}}
	}
	d.Show(tasks)
	if lines.Len() > 0 {
		t.Errorf("shown at once: %s", &lines)
	}
	at = at.Add(logEvery)
	d.Show(tasks)
	d.Show(tasks) // a moment later
	d.Close()
	got := lines.String()
	for _, want := range []string{"msg=history percent=42.6 events_per_s=91234 left=12s", "msg=jobs state=halted"} {
		if strings.Count(got, want) != 1 {
			t.Errorf("%q is not in\n%s once", want, got)
		}
	}
	if written, err := os.ReadFile(file.Name()); err != nil || len(written) > 0 {
		t.Errorf("written to the file: %q %v", written, err)
	}
}

func TestBarsOnATerminal(t *testing.T) {
	var screen bytes.Buffer
	at := time.Unix(0, 0)
	columns := 80
	d := &Display{out: &screen, now: func() time.Time { return at }, width: func() int { return columns }}
	d.Show(func() []Task {
		return []Task{{Name: "history", Done: 0.5, Rate: 1000, Unit: "events", Left: time.Minute}}
	})
	at = at.Add(drawEvery)
	d.Show(func() []Task { return []Task{{Name: "history", Done: 1, Rate: 1000, Unit: "events"}} })
	at, columns = at.Add(drawEvery), 20 // the window was made narrow
	d.Show(func() []Task { return []Task{{Name: "history", Done: 1, Rate: 1000, Unit: "events"}} })
	d.Close()
	want := "history        [############............]  50.0 %  1000 events/s  1m0s left\n" +
		"\x1b[1F\x1b[Jhistory        [########################] 100.0 %  1000 events/s\n" +
		"\x1b[1F\x1b[Jhistory        [###\n\x1b[1F\x1b[J"
	if got := screen.String(); got != want {
		t.Errorf("%q\nwant\n%q", got, want)
	}
}
