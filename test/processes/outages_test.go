package processes

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"reckon/domain/event"
	"reckon/domain/job"
	"reckon/internal/blobs/s3test"
	"reckon/test/e2e"
	"reckon/test/need"
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
	slow := submitTo(t, alice, map[string]any{"expression": `Pause[2]; StringRepeat["x", 20000]`})
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

// look asks an address that needs no credential; the status is 0 where nobody answers.
func look(address string) (status int, body string) {
	response, err := http.Get(address)
	if err != nil {
		return 0, ""
	}
	defer func() { _ = response.Body.Close() }()
	content, err := io.ReadAll(response.Body)
	if err != nil {
		return 0, ""
	}
	return response.StatusCode, string(content)
}

// TestAStartWaitsForEachPart: a server that is started while its log, its bucket and its databases refuse, or say nothing, says which it waits for,
// lives meanwhile, and is ready once all are there.
func TestAStartWaitsForEachPart(t *testing.T) {
	t.Parallel()
	for name, fail := range map[string]func(*proxy.Proxy){"refusing": refuse, "silent": swallow} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			in, w := installWithBucket(t).behind(t)
			for _, way := range w.all() {
				fail(way)
			}
			watched := need.Address(t)
			p, ready, err := spawn(t, append([]string{"serve", "--data", e2e.DataFolder(t), "--roles", "project,react,run", "--admin-listen", watched, "--admin-token", "at-least-16-bytes"}, in.shared...)...)
			must(t, err)
			for _, part := range []struct {
				name string
				way  *proxy.Proxy
			}{{"the event log", w.log}, {"the store of blobs", w.blobs}, {"the database of identities", w.identity}, {"the database of read models", w.database}} {
				wait.Until(t, "it lives, and says that it waits for "+part.name, func() bool {
					lives, _ := look("http://" + watched + "/livez")
					status, said := look("http://" + watched + "/readyz")
					return lives == http.StatusOK && status == http.StatusServiceUnavailable && strings.Contains(said, part.name)
				})
				request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+watched+"/metrics", nil)
				must(t, err)
				request.Header.Set("Authorization", "Bearer at-least-16-bytes")
				response, err := http.DefaultClient.Do(request)
				must(t, err)
				figures, err := io.ReadAll(response.Body)
				must(t, errors.Join(err, response.Body.Close()))
				if response.StatusCode != http.StatusOK || !strings.Contains(string(figures), "\nreckon_ready 0\n") || !strings.Contains(string(figures), "\nreckon_build_info{") {
					t.Errorf("no alert can see that it is not ready: %d %s", response.StatusCode, figures)
				}
				select {
				case what := <-ready:
					t.Fatalf("ready without its parts: %s", what)
				case <-p.exited:
					t.Fatalf("it ended:\n%s", p.output)
				default:
				}
				part.way.Mend()
			}
			select {
			case <-ready:
			case <-p.exited:
				t.Fatalf("it ended:\n%s", p.output)
			case <-time.After(wait.Longest):
				p.kill()
				t.Fatalf("not ready:\n%s", p.output)
			}
		})
	}
}

// TestAServerStopsWhileItsPartsAreSilent: no part that does not answer keeps a server from its end, and no job loses an attempt by it.
func TestAServerStopsWhileItsPartsAreSilent(t *testing.T) {
	t.Parallel()
	in := installWithBucket(t)
	alice := in.api("api,project,react").NewAccount("alice@example.com")
	behind, w := in.behind(t)
	stopped := behind.headless("run")
	id := submitTo(t, alice, map[string]any{"expression": "Pause[4]; 7"})
	wait.Until(t, "it runs", func() bool {
		var j jobView
		must(t, alice.JSON("GET", "/api/jobs/"+id, nil, &j))
		return j.Status == job.Running
	})
	for _, way := range w.all() {
		way.Swallow()
	}
	if status, err := stopped.interrupt(); err != nil || status != 0 {
		t.Errorf("it ends with %d, %v:\n%s", status, err, stopped.output)
	}
	in.headless("run")
	if j := await(t, alice, id); j.Status != job.Succeeded || j.Output != "7" {
		t.Errorf("%+v", j)
	}
	settle(t, connect(t, in.log)).check(t)
}

// TestAStartEndsOnWhatWaitingCannotMend: a part that answers and refuses is there.
func TestAStartEndsOnWhatWaitingCannotMend(t *testing.T) {
	t.Parallel()
	in := installWithBucket(t)
	database, err := url.Parse(in.postgres)
	must(t, err)
	database.Path = "/nowhere"
	stranger := *database
	stranger.Path, stranger.User = "/postgres", url.UserPassword("nobody", "guess")
	for name, wrong := range map[string]struct{ flag, value, told string }{
		"no such database":               {"--database", database.String(), `database "nowhere" does not exist`},
		"no such user":                   {"--database", stranger.String(), "nobody"},
		"no such database of identities": {"--identity", database.String(), `database "nowhere" does not exist`},
		"no such bucket":                 {"--blobs", in.bucket.Address("nowhere"), "there is no bucket nowhere"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p, ready, err := spawn(t, append([]string{"serve", "--data", e2e.DataFolder(t), "--roles", "project,react"}, in.with(wrong.flag, wrong.value).shared...)...)
			must(t, err)
			select {
			case <-p.exited:
			case what := <-ready:
				t.Fatalf("ready: %s", what)
			case <-time.After(wait.Longest):
				p.kill()
				t.Fatalf("it waits:\n%s", p.output)
			}
			if status := p.command.ProcessState.ExitCode(); status != 2 || !strings.Contains(p.output.String(), wrong.told) || strings.Contains(p.output.String(), "guess") {
				t.Errorf("it ends with %d:\n%s", status, p.output)
			}
		})
	}
}
