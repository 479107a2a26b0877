package processes

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"reckon/domain/event"
	"reckon/domain/job"
	"reckon/internal/blobs/s3test"
	"reckon/test/e2e"
	"reckon/test/proxy"
	"reckon/test/wait"
)

// longExpression is stored as a blob, which its runner has to read.
func longExpression(i int) map[string]any {
	return map[string]any{"expression": fmt.Sprintf("%d + StringLength[%q]", i, strings.Repeat("x", event.MaxInlineBytes))}
}

// submitTo sends one job.
func submitTo(t *testing.T, a *e2e.Account, body map[string]any) string {
	t.Helper()
	var submitted jobView
	must(t, a.JSON("POST", "/api/jobs", body, &submitted))
	return submitted.JobID
}

// TestARunnerThatCannotReachTheBucket: of two runners one is cut off from the bucket: it costs no job an attempt. Cut off are both: jobs
// wait, and what was computed already is stored when the bucket is back.
func TestARunnerThatCannotReachTheBucket(t *testing.T) {
	bucket := s3test.Start(t)
	in := install(t)
	through := func() (*proxy.Proxy, []string) {
		way := proxy.Start(t, "tcp", bucket.Endpoint)
		return way, []string{"--blobs", s3test.AddressAt(way.Address(), s3test.Bucket)}
	}
	_, own := through()
	api := in.with(own...).api("api,project,react")
	wayA, own := through()
	in.with(own...).headless("run")
	wayB, own := through()
	in.with(own...).headless("run")
	alice := api.NewAccount("alice@example.com")
	log := connect(t, in.log)

	wayA.Refuse()
	var ids []string
	for i := range 12 {
		ids = append(ids, submitTo(t, alice, longExpression(i)))
	}
	for i, id := range ids {
		if j := await(t, alice, id); j.Status != job.Succeeded || j.Output != fmt.Sprint(i+event.MaxInlineBytes) {
			t.Errorf("with one runner cut off: %+v", j)
		}
	}

	wayA.Mend()
	slow := submitTo(t, alice, map[string]any{"expression": `Do[Sum[k, {k, 1000}], {i, 3000}]; StringRepeat["x", 20000]`})
	wait.Until(t, "it runs", func() bool {
		var j jobView
		must(t, alice.JSON("GET", "/api/jobs/"+slow, nil, &j))
		return j.Status == job.Running
	})
	wayA.Refuse()
	wayB.Refuse()
	waiting := submitTo(t, alice, longExpression(100))
	wait.Pace(3 * time.Second)
	wayA.Mend()
	wayB.Mend()
	for _, id := range []string{slow, waiting} {
		if j := await(t, alice, id); j.Status != job.Succeeded {
			t.Errorf("after both were cut off: %+v", j)
		}
	}
	books := settle(t, log)
	books.check(t)
	untried := 0
	for id, of := range books.jobs {
		if len(of.state.Spent) > 0 || id == slow && of.state.Attempt != 1 {
			t.Errorf("job %s: %+v", id, of.state)
		}
		untried += of.state.Attempt - 1
	}
	t.Logf("%d jobs ended, %d attempts could not be tried", len(books.jobs), untried)
}

// TestAStartWaitsForEachPart: a server that is started while its database and its bucket are away is ready once both are there.
func TestAStartWaitsForEachPart(t *testing.T) {
	t.Parallel()
	bucket := s3test.Start(t)
	in := install(t)
	way := proxy.Start(t, "tcp", bucket.Endpoint)
	waiting := in.with("--blobs", s3test.AddressAt(way.Address(), s3test.Bucket))
	way.Refuse()
	in.database.Refuse()
	p, ready, err := spawn(t, append([]string{"serve", "--data", e2e.DataFolder(t), "--roles", "project,react,run"}, waiting.shared...)...)
	must(t, err)
	for _, part := range []*proxy.Proxy{way, in.database} {
		wait.Pace(2 * time.Second)
		select {
		case what := <-ready:
			t.Fatalf("ready without its parts: %s", what)
		case <-p.exited:
			t.Fatalf("it ended:\n%s", p.output)
		default:
		}
		part.Mend()
	}
	select {
	case <-ready:
	case <-p.exited:
		t.Fatalf("it ended:\n%s", p.output)
	case <-time.After(startTimeout):
		p.kill()
		t.Fatalf("not ready:\n%s", p.output)
	}
}
