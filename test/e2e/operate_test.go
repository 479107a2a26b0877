package e2e

import (
	"bufio"
	"errors"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"reckon/projections"
	"reckon/test/binary"
	"reckon/test/browser"
)

// operatorPages runs `reckon operate` beside the server and returns the link that it prints.
func (s *Server) operatorPages() (link string) {
	s.t.Helper()
	command := exec.Command(binary.Reckon(s.t), "operate", "--data", s.Data)
	out, err := command.StdoutPipe()
	if err = errors.Join(err, command.Start()); err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(func() {
		err := command.Process.Signal(syscall.SIGINT) // Ctrl-C
		if err = errors.Join(err, command.Wait()); err != nil {
			s.t.Errorf("reckon operate: %v", err)
		}
	})
	link, err = bufio.NewReader(out).ReadString('\n')
	if err != nil {
		s.t.Fatal(err)
	}
	return strings.TrimSpace(link)
}

// TestOperatorsPages: the printed link shows an operator, beside the real server, read models, an evaluation's events as they are
// appended, its stream with the state, what it led to, and a parked event, which is tried again; every page is free of barriers
// and fits a telephone.
func TestOperatorsPages(t *testing.T) {
	t.Parallel()
	b := browser.New(t)
	data := DataFolder(t)
	s := Start(t, data, "--config", GenerousPlans(t, data))
	account := s.NewAccount("ada@example.com")
	link := s.operatorPages()
	fine := func(page string) {
		t.Helper()
		for _, scheme := range []string{"light", "dark"} {
			b.Show(360, 740, scheme)
			if wide := b.Wide(); wide != "0" {
				t.Errorf("%s is %s pixels wider than a telephone", page, wide)
			}
			if barriers := b.Barriers(); len(barriers) > 0 {
				t.Errorf("%s, %s: %q", page, scheme, barriers)
			}
		}
		b.Show(1280, 900, "light")
		picture(t, b, "operator-"+page)
	}

	b.Go(link)
	b.Until(`location.pathname.endsWith("/overview") && location.search === ""`)
	b.Until(`[...document.querySelectorAll("#list tbody tr")].every(row => row.innerText.includes("running"))`)
	fine("overview")
	b.Click(`nav a[href="log"]`)
	b.Has("#events", "account.registered")
	if answer := account.evaluate(t, "6*7", ""); answer.Result != "42" {
		t.Fatalf("%+v", answer)
	}
	b.Has("#events", "run.evaluated") // without a click
	fine("log")
	b.Fill("#type", "run.")
	b.Click("form.filters button")
	b.Until(`location.search.includes("type=run.") && !document.querySelector("#events").innerText.includes("account.registered")`)
	b.Has("#events", "run.evaluated")
	b.Click("#events article a")
	b.Has("#state", "42")
	fine("stream")
	b.Click("article a[href^='correlation']")
	b.Has(".tree", "run.evaluated")
	fine("correlation")

	stream := b.Eval(`[...document.querySelectorAll(".tree a")].map(a => a.innerText).find(name => name.startsWith("run-"))`)
	db, err := projections.Open(t.Context(), "sqlite:"+filepath.Join(data, "readmodels.db"))
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range projections.New(nil, nil).All() {
		if p.Name == "history" {
			_, err = db.ExecContext(t.Context(), "INSERT INTO projection_parked (name, version, stream, revision, position, event_id, event_name, reason, parked_at) VALUES (?, ?, ?, 0, 1, 'x', 'run.evaluated', 'set aside by a test', '2026-08-01 12:00:00')", p.Name, p.Version, stream)
		}
	}
	if err = errors.Join(err, db.Close()); err != nil {
		t.Fatal(err)
	}
	b.Click(`nav a[href="parked"]`)
	b.Has("main", "set aside by a test")
	b.Click("a.look")
	b.Has("main pre", "42")
	fine("parked")
	b.Click("a.retry")
	b.Has("main form", "Try again all 1 events")
	fine("ask")
	b.Click("main form button")
	b.Has("main", "Nothing is parked")
	if out, _ := s.operate("parked"); strings.Contains(out, stream) {
		t.Error(out)
	}
	if faults := b.Faults(); len(faults) > 0 {
		t.Errorf("%q", faults)
	}

	stranger := browser.New(t)
	stranger.Go(link)
	stranger.Has("body", "has been used")
}
