package main

import (
	"encoding/csv"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"reckon/commands"
	"reckon/domain/burst"
	"reckon/domain/event"
	runs "reckon/domain/run"
	"reckon/eventstore"
	"reckon/internal/config"
	"reckon/test/need"
	"reckon/test/python"
	"reckon/test/sweep"
)

// appendRuns appends runs of an account to the log of a data folder, each so many minutes after noon, and returns the
// position of the first.
func appendRuns(t *testing.T, data, account string, minutes ...int) (first int64) {
	t.Helper()
	where, err := installation{config.Installation{Data: data}}.settings(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	store, closeStore, err := where.openLog(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer closeStore()
	for i, m := range minutes {
		id := int64(i + 1)
		in := commands.Intent{ID: uuid.New(), At: time.Date(2026, 8, 1, 12, m, 0, 0, time.UTC), Account: account, Actor: fmt.Sprint("token:", i%2), Source: event.SourceWeb, Agent: "näme, \"x\"", Build: "test"}
		check := runs.Check{Verdict: runs.VerdictVerified}
		_, err := store.Append(t.Context(), runs.Stream(id), event.NoStream, in.Propose(runs.Stream(id), []event.Event{
			runs.Evaluated{Subject: runs.Subject{RunID: id, Account: account, Expression: event.Inline("1+\n1"), Source: event.SourceWeb}, Answer: event.Inline("2"), Status: runs.Success, Check: &check},
			runs.Sealed{RunID: id},
		}))
		if err != nil {
			t.Fatal(err)
		}
		if i == 0 {
			first = positionOf(t, store, runs.Stream(id))
		}
	}
	return first
}

func positionOf(t *testing.T, store *eventstore.Store, stream string) int64 {
	t.Helper()
	r, err := store.Event(t.Context(), stream, 0)
	if err != nil {
		t.Fatal(err)
	}
	return int64(r.Position.Commit)
}

// TestBurstsOfTheLog derives bursts without a server: in every form, at a position of the past, and as docs/bursts.md tells an
// analyst to go on from there.
func TestBurstsOfTheLog(t *testing.T) {
	t.Parallel()
	data := t.TempDir()
	status, id, stderr := reckon(t, "correct horse battery\n", nil, "account", "create", "--init", "a@example.com", "--password-stdin", "--data", data)
	if status != 0 {
		t.Fatal(stderr)
	}
	account := strings.TrimSpace(id)
	first := appendRuns(t, data, account, 0, 1, 4, 9, 2, 30)
	bursts := func(arguments ...string) string {
		t.Helper()
		status, out, stderr := reckon(t, "", nil, append([]string{"bursts", "--account", "a@example.com", "--data", data}, arguments...)...)
		if status != 0 {
			t.Fatal(stderr)
		}
		return out
	}

	var report burstReport
	if err := json.Unmarshal([]byte(bursts("--json")), &report); err != nil || len(report.Bursts) != 4 || report.Account != account {
		t.Fatalf("%+v, %v", report, err)
	}
	// The agents have the minutes 0 4 2 and 1 9 30.
	if b := report.Bursts[0]; len(b.Events) != 3 || b.DurationMS != 4*60_000 || b.Verified != 3 || b.Events[1].GapMS != 2*60_000 || *b.LastRunID != 3 {
		t.Errorf("%+v", b)
	}
	if err := json.Unmarshal([]byte(bursts("--json", "--at", fmt.Sprint(first))), &report); err != nil || report.At != first || len(report.Bursts) != 1 || len(report.Bursts[0].Events) != 1 {
		t.Errorf("at %d: %+v, %v", first, report, err)
	}
	if out := bursts("--at", "0"); strings.Count(out, "\n") != 1 {
		t.Errorf("at 0: %s", out)
	}
	if out := bursts(); strings.Count(out, "\n") != 5 {
		t.Errorf("%s", out)
	}

	exported := bursts("--csv")
	rows, err := csv.NewReader(strings.NewReader(exported)).ReadAll()
	if err != nil || len(rows) != 7 || rows[1][2] != "näme, \"x\"" || rows[1][11] != "1+\n1" {
		t.Errorf("%q, %v", rows, err)
	}
	file := filepath.Join(t.TempDir(), "timeline.svg")
	bursts("--svg", file)
	if svg, err := os.ReadFile(file); err != nil || strings.Count(string(svg), "<title>") != 4 {
		t.Errorf("%s, %v", svg, err)
	}

	for name, c := range map[string]struct {
		arguments []string
		stderr    string
	}{
		"no account":         {[]string{}, "--account"},
		"nobody":             {[]string{"--account", "b@example.com"}, "account"},
		"beyond the end":     {[]string{"--account", account, "--at", "999999999"}, "--at 999999999: the log has the positions 0 to "},
		"before the first":   {[]string{"--account", account, "--at=-1"}, "--at -1"},
		"no number":          {[]string{"--account", account, "--at", "now"}, "now"},
		"two forms":          {[]string{"--account", account, "--json", "--csv"}, "together"},
		"a file that exists": {[]string{"--account", account, "--svg", file}, file},
	} {
		if status, _, stderr := reckon(t, "", nil, append([]string{"bursts", "--data", data}, c.arguments...)...); status != 2 || !strings.Contains(stderr, c.stderr) {
			t.Errorf("%s: status %d, %s", name, status, stderr)
		}
	}

	t.Run("check_bursts.py", func(t *testing.T) {
		script := pageScript(t, "check_bursts.py")
		out, err := runPython(t, need.Program(t, "python3", "python3"), script, exported)
		if err != nil || strings.TrimSpace(out) != "6 activities in 4 bursts, as derived here" {
			t.Errorf("%s, %v", out, err)
		}
		moved := strings.Replace(exported, "12:09:00", "12:05:30", 1) // within the gap: the file's bursts are not those of its times
		if out, err := runPython(t, need.Program(t, "python3", "python3"), script, moved); err == nil || !strings.Contains(out, "the file says") {
			t.Errorf("a wrong file: %s, %v", out, err)
		}
	})
	t.Run("plot_bursts.py", func(t *testing.T) {
		sweep.Only(t, "it installs pandas and matplotlib, once a machine")
		picture := filepath.Join(t.TempDir(), "bursts.png")
		out, err := runPython(t, python.With(t, "pandas==3.1.1\nmatplotlib==3.11.2\n"), pageScript(t, "plot_bursts.py"), exported, picture)
		if err != nil || strings.Count(out, "\n") != 5 || !strings.Contains(out, "minutes") {
			t.Errorf("%s, %v", out, err)
		}
		if png, err := os.ReadFile(picture); err != nil || !strings.HasPrefix(string(png), "\x89PNG") {
			t.Errorf("the picture: %v", err)
		}
	})
}

// pageScript is a program of docs/bursts.md.
func pageScript(t *testing.T, name string) string {
	t.Helper()
	page, err := os.ReadFile(filepath.Join("..", "..", "docs", "bursts.md"))
	if err != nil {
		t.Fatal(err)
	}
	found := regexp.MustCompile("(?s)<!-- run: " + regexp.QuoteMeta(name) + " -->\n```python\n(.*?)```").FindSubmatch(page)
	if found == nil {
		t.Fatalf("docs/bursts.md has no %s", name)
	}
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, found[1], 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// runPython runs a program with a file of this content as its first argument.
func runPython(t *testing.T, interpreter, script, content string, more ...string) (string, error) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "log.csv")
	if err := os.WriteFile(file, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	out, err := exec.CommandContext(t.Context(), interpreter, append([]string{script, file}, more...)...).CombinedOutput()
	return string(out), err
}

// TestTheCSVHasEveryField: an analyst's file holds what a timeline holds.
func TestTheCSVHasEveryField(t *testing.T) {
	t.Parallel()
	var out strings.Builder
	if err := writeActivities(&out, burst.Derive([]burst.Activity{{Key: "k"}})); err != nil {
		t.Fatal(err)
	}
	header := strings.Split(strings.SplitN(out.String(), "\n", 2)[0], ",")
	fields := map[string]any{}
	encoded, err := json.Marshal(activityOfFile{})
	if err == nil {
		err = json.Unmarshal(encoded, &fields)
	}
	if err != nil {
		t.Fatal(err)
	}
	for field := range fields {
		if field != "offset_ms" && field != "gap_ms" && !strings.Contains(","+strings.Join(header, ",")+",", ","+field+",") { // those follow from at
			t.Errorf("the CSV has no %s", field)
		}
	}
}

// TestTheTableShowsAClientsNameSafely: a client names itself, with what a terminal obeys and at any length.
func TestTheTableShowsAClientsNameSafely(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{
		"":                                   "",
		"Ärger 日本":                           "Ärger 日本",
		"a\u202eb\x1b[2Jc\td":                "a\ufffdb\ufffd[2Jc\ufffdd",
		strings.Repeat("ä", mostShown):       strings.Repeat("ä", mostShown),
		strings.Repeat("ä", mostShown) + "x": strings.Repeat("ä", mostShown-1) + "…",
	} {
		if got := shownClient(name); got != want {
			t.Errorf("%q: %q, want %q", name, got, want)
		}
	}
}
