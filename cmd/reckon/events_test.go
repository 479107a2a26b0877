package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"pgregory.net/rapid"

	"reckon/commands"
	"reckon/domain"
	"reckon/domain/account"
	"reckon/domain/event"
	"reckon/domain/job"
	runs "reckon/domain/run"
	"reckon/domain/slots"
	"reckon/eventstore"
	"reckon/eventstore/node"
)

const someAccount = "0198a1b2-0000-7000-8000-00000000000a"

// intentOf is a request of the test's account.
func intentOf() commands.Intent {
	return commands.Intent{ID: uuid.New(), At: time.Date(2026, 8, 1, 12, 0, 0, 0, time.UTC), Account: someAccount, Actor: "token:t", Source: event.SourceWeb, Agent: "evil \x1b[2Jagent", Build: "test"}
}

func appendTo(t *testing.T, store *eventstore.Store, stream string, at event.Revision, in commands.Intent, events ...event.Event) {
	t.Helper()
	if _, err := store.Append(t.Context(), stream, at, in.Propose(stream, events)); err != nil {
		t.Fatal(err)
	}
}

// runningNode is a log that commands reach while it grows, as they reach a server's: the flags that name it, and a store on it.
func runningNode(t *testing.T) (flags []string, store *eventstore.Store) {
	t.Helper()
	n, err := node.Open(node.Config{Dir: filepath.Join(shortTempDir(t), "log")})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = n.Close(t.Context()) })
	if store, err = eventstore.Connect(t.Context(), eventstore.Config{Connection: n.ConnectionString(), Catalogue: domain.Catalogue()}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(store.Close)
	return []string{"--data", t.TempDir(), "--eventstore", n.ConnectionString()}, store
}

// shortTempDir is a folder in which a socket's path is not too long.
func shortTempDir(t *testing.T) string {
	t.Helper()
	folder, err := os.MkdirTemp("", "reckon")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(folder) })
	return folder
}

// someTrace is the trace of what submitted appends.
const someTrace = "4bf92f3577b34da6a3ce929d0e0e4736"

// submitted appends what a job leads to, from its slot to the run that it publishes.
func submitted(t *testing.T, store *eventstore.Store) (correlation string) {
	t.Helper()
	in := intentOf()
	in.Traceparent = "00-" + someTrace + "-00f067aa0ba902b7-01"
	s := job.Sample()
	s.Account = someAccount
	slot := commands.EventID(in.ID, slots.Stream(someAccount, "2026-08-01"), 0)
	appendTo(t, store, slots.Stream(someAccount, "2026-08-01"), event.NoStream, in, slots.Spent{SlotID: slot, Day: "2026-08-01", Submission: s})
	queued := in
	queued.ID, queued.Correlation, queued.Causation = uuid.MustParse(slot), in.ID.String(), slot
	appendTo(t, store, job.Stream(s.JobID), event.NoStream, queued, job.WasQueued{Submission: s, SlotID: slot, Day: "2026-08-01"})
	runner := commands.Intent{
		ID: uuid.New(), At: in.At.Add(1500 * time.Millisecond), Actor: "runner:r", Source: event.SourceJob, Build: "test", Correlation: in.ID.String(), Traceparent: in.Traceparent,
	}
	appendTo(t, store, job.Stream(s.JobID), 0, runner, job.WasClaimed{JobID: s.JobID, Runner: "r", Nonce: "n", Attempt: 1, StartedAt: event.Timestamp(runner.At)})
	return in.ID.String()
}

func lines(out string) []string { return strings.Split(strings.TrimSuffix(out, "\n"), "\n") }

// TestTailSelects: each filter takes what it says, alone and together; --since and --last begin where they say.
func TestTailSelects(t *testing.T) {
	t.Parallel()
	flags, store := runningNode(t)
	correlation := submitted(t, store)
	appendTo(t, store, account.Stream("another"), event.NoStream, commands.Intent{ID: uuid.New(), At: time.Now(), Account: "another"}, account.Registered{Account: "another", Plan: "free"})
	jobStream := job.Stream(job.Sample().JobID)
	names := func(arguments ...string) []string {
		t.Helper()
		status, out, stderr := reckon(t, "", nil, append(append([]string{"tail", "--once", "--json"}, arguments...), flags...)...)
		if status != 0 {
			t.Fatal(stderr)
		}
		var names []string
		for _, line := range lines(out) {
			var e shownEvent
			if err := json.Unmarshal([]byte(line), &e); line != "" && err != nil {
				t.Fatalf("%q: %v", line, err)
			}
			names = append(names, e.Event)
		}
		return names
	}
	for _, c := range []struct {
		arguments, want string
	}{
		{"", "slots.spent job.queued job.claimed account.registered"},
		{"--since 0", "slots.spent job.queued job.claimed account.registered"},
		{"--last 2", "job.claimed account.registered"},
		{"--last 0", ""},
		{"--category job", "job.queued job.claimed"},
		{"--category job --category slots", "slots.spent job.queued job.claimed"},
		{"--category jo", ""},
		{"--stream " + jobStream, "job.queued job.claimed"},
		{"--stream job", ""},
		{"--type job.claimed", "job.claimed"},
		{"--type job.", "job.queued job.claimed"},
		{"--type job. --last 1", "job.claimed"},
		{"--stream account-another", "account.registered"},
		{"--account " + someAccount, "slots.spent job.queued"},
		{"--correlation " + correlation + " --category job", "job.queued job.claimed"},
	} {
		if got := strings.Join(names(strings.Fields(c.arguments)...), " "); got != c.want {
			t.Errorf("tail %s: %s, want %s", c.arguments, got, c.want)
		}
	}
	for arguments, says := range map[string]string{
		"--type job.sung": "job.queued", "--last -1": "--last", "--last 5 --since 3": "--since", "--account nobody@example.com": "identity",
	} {
		status, _, stderr := reckon(t, "", nil, append(append([]string{"tail", "--once"}, strings.Fields(strings.Replace(arguments, "--last -1", "--last=-1", 1))...), flags...)...)
		if status != 2 || !strings.Contains(stderr, says) {
			t.Errorf("tail %s: status %d, %s", arguments, status, stderr)
		}
	}
}

// startTail begins a live tail and waits until it has printed the log's first event.
func startTail(t *testing.T, flags []string) (*exec.Cmd, *bufio.Reader, *os.File) {
	t.Helper()
	read, write, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	command := reckonCommand(t, nil, append([]string{"tail", "--since", "0", "--category", "account"}, flags...)...)
	command.Stdout, command.Stderr = write, os.Stderr
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	_ = write.Close()
	t.Cleanup(func() { _ = command.Process.Kill() })
	out := bufio.NewReader(read)
	if line, err := out.ReadString('\n'); err != nil || !strings.Contains(line, "account-a@0") {
		t.Fatalf("%q, %v", line, err)
	}
	return command, out, read
}

func register(t *testing.T, store *eventstore.Store, id string) {
	t.Helper()
	appendTo(t, store, account.Stream(id), event.NoStream, intentOf(), account.Registered{Account: id, Plan: "free"})
}

// TestTailFollows: what is appended is printed, and Ctrl-C and a closed pipe are ends and no errors, also while nothing is appended.
func TestTailFollows(t *testing.T) {
	t.Parallel()
	flags, store := runningNode(t)
	register(t, store, "a")
	t.Run("Ctrl-C", func(t *testing.T) {
		command, out, _ := startTail(t, flags)
		register(t, store, "b")
		if line, err := out.ReadString('\n'); err != nil || !strings.Contains(line, `account-b@0  account.registered  {"account":"b","plan":"free"}`) {
			t.Fatalf("%q, %v", line, err)
		}
		if err := command.Process.Signal(os.Interrupt); err != nil {
			t.Fatal(err)
		}
		if err := command.Wait(); err != nil {
			t.Error(err)
		}
	})
	t.Run("a pipe closes", func(t *testing.T) {
		command, _, read := startTail(t, flags)
		_ = read.Close()
		if err := command.Wait(); err != nil {
			t.Error(err)
		}
	})
}

// TestTailWithoutAServer prints what the folder's log holds and ends: nobody could append while the command has it.
func TestTailWithoutAServer(t *testing.T) {
	t.Parallel()
	data := t.TempDir()
	if status, _, stderr := reckon(t, "", nil, "keys", "rotate", "--init", "--data", data); status != 0 {
		t.Fatal(stderr)
	}
	status, out, stderr := reckon(t, "", nil, "tail", "--data", data, "--category", "keys")
	if status != 0 || len(lines(out)) != 1 || !strings.Contains(out, "key.published") || !strings.Contains(stderr, "no server runs on "+data) {
		t.Errorf("status %d\n%s\n%s", status, out, stderr)
	}
	if status, _, stderr := reckon(t, "", nil, "tail", "--data", t.TempDir()); status != 2 || !strings.Contains(stderr, "there is no event log") {
		t.Errorf("status %d, %s", status, stderr)
	}
}

// TestShow: a stream as it is and as it was, with the state that commands decide on.
func TestShow(t *testing.T) {
	t.Parallel()
	flags, store := runningNode(t)
	correlation := submitted(t, store)
	stream := job.Stream(job.Sample().JobID)
	show := func(arguments ...string) (int, string, string) {
		return reckon(t, "", nil, append(append([]string{"show"}, arguments...), flags...)...)
	}
	status, out, stderr := show(stream)
	for _, text := range []string{stream + "@0  job.queued v1  2026-08-01T12:00:00.000Z", "  correlation " + correlation, "  caused by   ", "state after revision 1\n", `"Status": "running"`, `evil \u001b[2Jagent`} {
		if status != 0 || !strings.Contains(out, text) {
			t.Errorf("no %q in\n%s\n%s", text, out, stderr)
		}
	}
	if strings.ContainsRune(out, '\x1b') {
		t.Errorf("a terminal would obey %q", out)
	}
	if _, out, _ := show(stream, "--at", "0"); strings.Contains(out, "job.claimed") || !strings.Contains(out, `"Status": "queued"`) {
		t.Errorf("as of revision 0:\n%s", out)
	}
	_, out, _ = show(stream, "--json")
	var state struct {
		Revision int64
		State    job.State
	}
	if all := lines(out); len(all) != 3 || json.Unmarshal([]byte(all[2]), &state) != nil || state.Revision != 1 || state.State.Status != job.Running {
		t.Errorf("%s", out)
	}
	for arguments, says := range map[string]string{stream + " --at 2": "newest event", "job-none": "holds no event", stream + " --at=-1": "begin with 0"} {
		if status, _, stderr := show(strings.Fields(arguments)...); status != 2 || !strings.Contains(stderr, says) {
			t.Errorf("show %s: status %d, %s", arguments, status, stderr)
		}
	}
	if _, out, _ := show("runids"); out != "" {
		t.Errorf("a stream that nobody has written: %s", out)
	}
}

// TestEveryKindOfStreamHasItsState: of each event that a decider folds, show prints a state.
func TestEveryKindOfStreamHasItsState(t *testing.T) {
	t.Parallel()
	catalogue := domain.Catalogue()
	without := []string{"certificate", "runids", "runner"} // nothing decides on them
	for name, declared := range catalogue {
		kind, _, _ := strings.Cut(name, ".")
		var f folding
		f.fold(declared, declared.Sample)
		if slices.Contains(without, kind) {
			if f.missing == "" {
				t.Errorf("%s has a state", name)
			}
			continue
		}
		if f.missing != "" {
			t.Errorf("%s: %s", name, f.missing)
			continue
		}
		if text, err := event.Marshal(f.state()); err != nil || !json.Valid(text) {
			t.Errorf("%s: %s, %v", name, text, err)
		}
	}
}

// TestTrace: every event of a request below what it followed from, as text, JSON and a diagram.
func TestTrace(t *testing.T) {
	t.Parallel()
	flags, store := runningNode(t)
	correlation := submitted(t, store)
	register(t, store, "a")
	stream := job.Stream(job.Sample().JobID)
	trace := func(arguments ...string) (int, string, string) {
		return reckon(t, "", nil, append(append([]string{"trace"}, arguments...), flags...)...)
	}
	slotStream := slots.Stream(someAccount, "2026-08-01")
	want := correlation + "  2026-08-01T12:00:00.000Z  by token:t  web\n" + "trace " + someTrace + "\n" +
		"└─ slots.spent  " + slotStream + "@0  +0.000 s  token:t\n" +
		"   └─ job.queued  " + stream + "@0  +0.000 s  token:t\n" +
		"      └─ job.claimed  " + stream + "@1  +1.500 s  runner:r  (after)\n"
	for _, of := range []string{correlation, stream, slotStream} {
		if status, out, stderr := trace(of); status != 0 || out != want {
			t.Errorf("trace %s: status %d, %s\n%s\nwant\n%s", of, status, stderr, out, want)
		}
	}
	ofTrace := strings.Replace(want, correlation+"  ", "trace "+someTrace+"  ", 1)
	ofTrace = strings.Replace(ofTrace, "\ntrace "+someTrace+"\n", "\n", 1)
	if status, out, stderr := trace(someTrace); status != 0 || out != ofTrace {
		t.Errorf("trace of the trace: status %d, %s\n%s\nwant\n%s", status, stderr, out, ofTrace)
	}
	if status, _, stderr := trace(strings.Repeat("a", 32)); status != 1 || !strings.Contains(stderr, "no event has the trace aaaa") {
		t.Errorf("status %d, %s", status, stderr)
	}
	_, out, _ := trace(correlation, "--json")
	var report traceReport
	if err := json.Unmarshal([]byte(out), &report); err != nil || len(report.Events) != 3 || !slices.Equal(report.Traces, []string{someTrace}) || report.Events[1].Parent != report.Events[0].ID ||
		report.Events[1].Because != byCausation || report.Events[2].Because != byStream || report.Events[0].Because != byRequest {
		t.Errorf("%v\n%s", err, out)
	}
	if _, out, _ := trace(correlation, "--mermaid"); !strings.Contains(out, "request --> n0\n") || !strings.Contains(out, "n0 --> n1\n") || !strings.Contains(out, "n1 -.-> n2\n") {
		t.Errorf("%s", out)
	}
	if status, _, stderr := trace(uuid.NewString()); status != 1 || !strings.Contains(stderr, "no event has the correlation") {
		t.Errorf("status %d, %s", status, stderr)
	}
	if status, _, stderr := trace("job-none"); status != 2 || !strings.Contains(stderr, "no event of a stream") {
		t.Errorf("status %d, %s", status, stderr)
	}
}

// TestForeignEventsAreShown: an event of another binary, a damaged one and one of another program are shown as they are stored.
func TestForeignEventsAreShown(t *testing.T) {
	t.Parallel()
	catalogue := domain.Catalogue()
	for name, c := range map[string]struct {
		raw                  eventstore.Raw
		data, unreadable, as string
	}{
		"of a newer binary":   {eventstore.Raw{Name: "job.sung", Stream: "job-1", Data: []byte(`{"song":1}`), Metadata: []byte(`{"v":1}`)}, `{"song":1}`, "no event of this name", ""},
		"of a newer version":  {eventstore.Raw{Name: "job.queued", Stream: "job-1", Data: []byte(`{"song":1}`), Metadata: []byte(`{"v":9}`)}, `{"song":1}`, "run a newer one", ""},
		"damaged":             {eventstore.Raw{Name: "job.queued", Stream: "job-1", Data: []byte("\xff{"), Metadata: []byte(`{"v":1}`)}, `"\ufffd{"`, "job.queued v1", ""},
		"with other metadata": {eventstore.Raw{Name: "job.queued", Stream: "job-1", Data: []byte(`{}`), Metadata: []byte("x")}, `{}`, "metadata", ""},
		"of the store":        {eventstore.Raw{Name: "$metadata", Stream: "$$runner-1", Data: []byte(`{"$maxCount":1}`)}, `{"$maxCount":1}`, "", ""},
	} {
		e := decodeShown(catalogue, c.raw)
		text, err := e.json()
		if err != nil || !json.Valid([]byte(text)) || string(e.Data) != c.data || (c.unreadable == "") != (e.Unreadable == "") || !strings.Contains(e.Unreadable, c.unreadable) {
			t.Errorf("%s: %s, %v", name, text, err)
		}
		if line := e.line(); strings.Contains(line, "\n") {
			t.Errorf("%s: %q", name, line)
		}
	}
}

// TestOldVersionsAreShownAsTheNewest: data are what a reader of today gets, and the version is the one that is stored.
func TestOldVersionsAreShownAsTheNewest(t *testing.T) {
	t.Parallel()
	stored, err := os.ReadFile("../../domain/testdata/events/account.plan_changed.v1.json")
	if err != nil {
		t.Fatal(err)
	}
	e := decodeShown(domain.Catalogue(), eventstore.Raw{Name: "account.plan_changed", Stream: "account-a", Data: stored, Metadata: []byte(`{"v":1}`)})
	var changed account.PlanChanged
	if e.Version != 1 || e.Unreadable != "" || json.Unmarshal(e.Data, &changed) != nil || changed.Plan == "" {
		t.Errorf("%+v %s", e, e.Data)
	}
}

// TestNothingOfAnEventIsObeyed: whatever stands in an event, a line of it is one line, of bounded length, without a character that a
// terminal obeys, and the JSON form has the value unchanged.
func TestNothingOfAnEventIsObeyed(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.StringN(0, 4000, -1).Draw(t, "text") + rapid.SampledFrom([]string{"", "\x1b[2J", "\u009b31m", "\u202e", "\u2028", "\x00", "\U000E0001", "\u200b"}).Draw(t, "evil")
		data, err := event.Marshal(runs.Evaluated{Answer: event.Inline(text)})
		if err != nil {
			t.Fatal(err)
		}
		e := shownEvent{Stream: text, Event: text, Data: data, Metadata: json.RawMessage("{}"), Unreadable: text}
		line := e.line()
		if strings.ContainsFunc(line, func(r rune) bool {
			return r < ' ' || r == 0x7f || r >= 0x80 && r <= 0x9f || r == 0x202e || r == 0x2028 || r == 0xe0001
		}) {
			t.Fatalf("%q", line)
		}
		if most := 3*longestName*6 + longestData*6 + 400; len(line) > most {
			t.Fatalf("%d bytes", len(line))
		}
		whole, err := e.json()
		var back shownEvent
		if err != nil || json.Unmarshal([]byte(whole), &back) != nil {
			t.Fatalf("%q, %v", whole, err)
		}
		var answer struct{ Answer event.Text }
		if err := json.Unmarshal(back.Data, &answer); err != nil || answer.Answer.Inline != strings.ToValidUTF8(text, "\ufffd") {
			t.Fatalf("%q, %v; want %q", answer.Answer.Inline, err, text)
		}
	})
}

func TestLongTextsAreCutWithTheirSize(t *testing.T) {
	t.Parallel()
	data := []byte(fmt.Sprintf(`{"a":%q,"b":"short","c":[%s1]}`, strings.Repeat("é", 5000), strings.Repeat("1,", 3000)))
	text := cutData(data, longestData)
	if !strings.Contains(text, "… (10000 bytes)") || !strings.Contains(text, fmt.Sprintf("… (%d bytes in all)", len(data))) || !strings.Contains(text, `"b":"short"`) || len(text) > longestData+40 {
		t.Error(text)
	}
	if short := cutData([]byte(`{"a": 1}`), longestData); short != `{"a":1}` {
		t.Error(short)
	}
}
