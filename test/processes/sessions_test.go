package processes

import (
	"os/exec"
	"strings"
	"testing"

	"reckon/domain/event"
	"reckon/domain/run"
	"reckon/test/binary"
	"reckon/test/e2e"
	"reckon/test/proxy"
	"reckon/test/wait"
)

// What becomes of a session whose owner and the log lose each other.

// byTheWay is the installation for processes that reach the log by a way of their own.
func (in *installation) byTheWay(t *testing.T) (*installation, *proxy.Proxy) {
	t.Helper()
	socket, ok := strings.CutPrefix(in.log, "unix:")
	if !ok {
		t.Fatalf("the node listens at %s", in.log)
	}
	way := proxy.Start(t, "unix", socket)
	return in.with("--eventstore", "esdb://"+way.Address()+"?tls=false", "--insecure-eventstore"), way
}

// cleanAudit audits the log of a server.
func cleanAudit(t *testing.T, in *installation, s *e2e.Server) {
	t.Helper()
	if output, err := exec.Command(binary.Reckon(t), "audit", "--data", s.Data, "--eventstore", in.log).CombinedOutput(); err != nil || !strings.Contains(string(output), "\nclean:") {
		t.Errorf("audit: %v\n%s", err, output)
	}
}

// TestALostAcknowledgementLeavesACleanLog: the owner of a session logs a run and does not learn it, and the process that forwarded the
// evaluation begins it again in a fresh session once the owner is dead. Both runs are in the log, with events of their own.
func TestALostAcknowledgementLeavesACleanLog(t *testing.T) {
	t.Parallel()
	in := install(t)
	in.headless("project,react")
	cut, way := in.byTheWay(t)
	one, two := in.api("api"), cut.api("api")
	here := one.NewAccount("alice@example.com")
	there := at(here, two)
	_, err := inSession(there, "z = 7")
	must(t, err)
	const again = "Pause[3]; z = z + 1"
	p := begin(t, here, there, again)
	way.Mute()
	if <-p.ended; p.err != nil || !strings.Contains(strings.Join(p.Warnings, " "), "was lost, because the process that held it stopped reporting") {
		t.Fatalf("%+v, %v", p.evaluated, p.err)
	}
	way.Mend()
	ids, runs := map[string]string{}, 0
	for r, err := range connect(t, in.log).ReadAll(t.Context(), event.Position{}) {
		must(t, err)
		if e, ok := r.Event.(run.Evaluated); ok && e.Expression.Inline == again {
			runs++
		}
		if r.Event == nil { // the log's own
			continue
		}
		if other, twice := ids[r.ID]; twice {
			t.Errorf("event %s is in %s and in %s", r.ID, other, r.Stream)
		}
		ids[r.ID] = r.Stream
	}
	if runs != 2 {
		t.Errorf("%d runs were logged: this test wants the owner's too", runs)
	}
	cleanAudit(t, in, one)
}

// TestALostConnectionCostsNoSession: the connection of the owner to the log is lost, and neither side is told; new ones pass. The owner
// reports over another one in time, and what is asked meanwhile is answered.
func TestALostConnectionCostsNoSession(t *testing.T) {
	t.Parallel()
	in := install(t)
	in.headless("project,react")
	cut, way := in.byTheWay(t)
	server := cut.api("api")
	alice := server.NewAccount("alice@example.com")
	_, err := inSession(alice, "z = 7")
	must(t, err)
	for i := range 3 {
		way.Lose()
		e, err := inSession(alice, "z + 1")
		if err != nil || e.Result != "8" || len(e.Warnings) > 0 {
			t.Errorf("loss %d: %+v, %v", i, e, err)
		}
	}
	way.Lose() // now the heartbeat finds it
	lost := func() int { return strings.Count(server.Output(), "was lost, and neither side was told") }
	wait.Until(t, "the last loss is found", func() bool { return lost() >= 4 })
	if strings.Contains(server.Output(), "no heartbeat could be written") {
		t.Errorf("it ended its sessions:\n%s", server.Output())
	}
	cleanAudit(t, in, server)
}

// TestASessionIsNeverLostInSilence: its owner ends it because it could write no heartbeat. The next evaluation says so, although no other
// process has noticed anything.
func TestASessionIsNeverLostInSilence(t *testing.T) {
	t.Parallel()
	for name, away := range map[string]func(*proxy.Proxy){"refusing": refuse, "silent": swallow} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			in := install(t)
			in.headless("project,react")
			cut, way := in.byTheWay(t)
			server := cut.api("api")
			alice := server.NewAccount("alice@example.com")
			_, err := inSession(alice, "z = 7")
			must(t, err)
			away(way)
			wait.Until(t, "the sessions are ended", func() bool { return strings.Contains(server.Output(), "no heartbeat could be written") })
			way.Mend()
			var e evaluated
			wait.Until(t, "an answer", func() bool {
				e, err = inSession(alice, "z + 1")
				return err == nil
			})
			said := strings.Join(e.Warnings, " ") // by the owner, or by another process that was faster
			if e.Result != "1 + z" || !strings.Contains(said, "was lost, because the process that held it ") || !strings.Contains(said, "was cut off from the event log") {
				t.Errorf("%+v", e)
			}
			if e, err = inSession(alice, "z + 1"); err != nil || len(e.Warnings) > 0 {
				t.Errorf("said twice: %+v, %v", e, err)
			}
			cleanAudit(t, in, server)
		})
	}
}
