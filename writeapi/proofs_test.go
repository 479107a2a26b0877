package writeapi_test

import (
	"context"
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"reckon/commands"
	"reckon/domain/account"
	"reckon/internal/httpkit"
	"reckon/test/apitest"
)

const (
	proofMeta  = `{"meta":{"exporter":{"name":"lean4export","version":"3.1.0"},"format":{"version":"3.1.0"},"lean":{"githash":"x","version":"4.29.1"}}}` + "\n"
	trueExport = proofMeta +
		`{"in":1,"str":{"pre":0,"str":"t"}}` + "\n" + `{"in":2,"str":{"pre":0,"str":"P"}}` + "\n" + `{"ie":0,"sort":0}` + "\n" +
		`{"axiom":{"name":2,"levelParams":[],"type":0,"isUnsafe":false}}` + "\n"
)

// elaborator stands in for a toolchain: the source says what it comes to.
type elaborator struct {
	entered chan struct{}
	leave   chan struct{}
}

func (e elaborator) Elaborate(ctx context.Context, source, module string, declarations []string) (commands.Elaborated, error) {
	switch source {
	case "wait":
		e.entered <- struct{}{}
		<-e.leave
	case "gone":
		return commands.Elaborated{}, commands.ErrElaborationUnavailable
	case "wrong":
		return commands.Elaborated{Messages: []commands.ElaborationMessage{{Severity: "error", Line: 3, Column: 2, Message: "type mismatch\nmore"}}}, nil
	case "huge":
		return commands.Elaborated{Export: []byte(strings.Repeat(" ", 2<<20)), Declarations: []string{"P"}}, nil
	}
	if declarations == nil {
		declarations = []string{"P"}
	}
	return commands.Elaborated{
		Messages: []commands.ElaborationMessage{{Severity: "warning", Line: 1, Message: "module " + module}}, Export: []byte(trueExport), Declarations: declarations,
	}, nil
}

func elaborating(t *testing.T) (*apitest.Server, *apitest.User, elaborator) {
	e := elaborator{make(chan struct{}), make(chan struct{})}
	s := apitest.Start(t, apitest.Options{Elaborator: e})
	return s, s.NewUser(t), e
}

func TestElaborate(t *testing.T) {
	t.Parallel()
	_, u, _ := elaborating(t)
	done := u.Do(t, http.MethodPost, "/api/proofs/elaborate", `{"source":"right","module":"My.Proofs"}`).OK(t)
	var answer struct {
		OK           bool
		Phase        string
		UploadID     string `json:"upload_id"`
		Declarations []string
		Messages     []commands.ElaborationMessage
		Export       struct {
			Bytes  int64
			SHA256 string
		}
		Validation struct {
			WouldBe  string `json:"would_be"`
			SlotCost int    `json:"slot_cost"`
		}
		Next struct {
			Method, Path string
			Body         json.RawMessage
		}
	}
	if err := json.Unmarshal(done.Body, &answer); err != nil {
		t.Fatal(err)
	}
	if !answer.OK || answer.Phase != "" || answer.UploadID == "" || len(answer.Declarations) != 1 || answer.Messages[0].Message != "module My.Proofs" ||
		answer.Export.Bytes != int64(len(trueExport)) || len(answer.Export.SHA256) != 64 || answer.Validation.WouldBe != "unsupported" { // P is an axiom of its own
		t.Errorf("%s", done.Body)
	}
	submitted := u.Do(t, answer.Next.Method, answer.Next.Path, string(answer.Next.Body)).OK(t)
	if submitted.JSON["status"] != "queued" || submitted.JSON["kind"] != "proof" {
		t.Errorf("%s", submitted.Body)
	}
	u.Do(t, answer.Next.Method, answer.Next.Path, string(answer.Next.Body)).Want(t, httpkit.UploadUsed)
	wrong := u.Do(t, http.MethodPost, "/api/proofs/elaborate", `{"source":"wrong"}`).OK(t)
	if wrong.JSON["ok"] != false || wrong.JSON["phase"] != "elaborate" || wrong.JSON["hint"] == "" || wrong.JSON["upload_id"] != nil || !strings.Contains(string(wrong.Body), "type mismatch") {
		t.Errorf("%s", wrong.Body)
	}
	gone := u.Do(t, http.MethodPost, "/api/proofs/elaborate", `{"source":"gone"}`)
	if gone.Want(t, httpkit.NoElaboration); gone.Header.Get("Retry-After") == "" {
		t.Error("503 without Retry-After")
	}
	u.Do(t, http.MethodPost, "/api/proofs/elaborate", `{"source":"huge"}`).Want(t, httpkit.ExportOverBudget)
}

func TestOneElaborationInFlight(t *testing.T) {
	t.Parallel()
	s, u, e := elaborating(t)
	other := s.NewUser(t)
	first := make(chan apitest.Answer)
	go func() { first <- u.Do(t, http.MethodPost, "/api/proofs/elaborate", `{"source":"wait"}`) }()
	<-e.entered
	again := u.Do(t, http.MethodPost, "/api/proofs/elaborate", `{"source":"right"}`)
	if again.Want(t, httpkit.Elaborating); again.Header.Get("Retry-After") == "" {
		t.Error("429 without Retry-After")
	}
	u.Do(t, http.MethodPost, "/api/jobs", `{"kind":"proof","source":"right","declarations":["P"]}`).Want(t, httpkit.Elaborating)
	other.Do(t, http.MethodPost, "/api/proofs/elaborate", `{"source":"right"}`).OK(t)
	close(e.leave)
	(<-first).OK(t)
	u.Do(t, http.MethodPost, "/api/proofs/elaborate", `{"source":"right"}`).OK(t)
}

// TestSourceOfAJob: elaboration comes before the slot, and errors cost none.
func TestSourceOfAJob(t *testing.T) {
	t.Parallel()
	_, u, _ := elaborating(t)
	refused := u.Do(t, http.MethodPost, "/api/jobs", `{"kind":"proof","source":"wrong","declarations":["P"]}`)
	if refused.Want(t, httpkit.ElaborationFailed); !strings.Contains(refused.JSON["detail"].(string), "line 3, column 2: type mismatch") {
		t.Errorf("%s", refused.Body)
	}
	u.Do(t, http.MethodPost, "/api/jobs", `{"kind":"proof","source":"right","module":"../x","declarations":["P"]}`).Want(t, httpkit.InvalidModule)
	u.Do(t, http.MethodPost, "/api/jobs", `{"kind":"proof","source":"","declarations":["P"]}`).Want(t, httpkit.InvalidSource)
	accepted := u.Do(t, http.MethodPost, "/api/jobs", `{"kind":"proof","source":"right","module":"A.B","declarations":["P"],"wait_ms":0}`).OK(t)
	if remaining := accepted.JSON["jobs_remaining_today"]; remaining != 9.0 {
		t.Errorf("%v jobs remain of 10 after one: refusals cost slots", remaining)
	}
}

func TestProofRoutesAreLimitedPerMinute(t *testing.T) {
	t.Parallel()
	plans := account.DefaultPlans()
	plans[0].PerMinute = 3
	s := apitest.Start(t, apitest.Options{Plans: plans, Elaborator: elaborator{}})
	u := s.NewUser(t)
	for _, path := range []string{"/api/proofs/validate", "/api/proofs/elaborate"} {
		for range 3 {
			u.Do(t, http.MethodPost, path, map[string]string{
				"/api/proofs/validate": `{"export":"x","declarations":["a"]}`, "/api/proofs/elaborate": `{"source":"x"}`,
			}[path])
		}
		limited := u.Do(t, http.MethodPost, path, map[string]string{
			"/api/proofs/validate": `{"export":"x","declarations":["a"]}`, "/api/proofs/elaborate": `{"source":"x"}`,
		}[path])
		if limited.Want(t, httpkit.RateLimited); limited.Header.Get("X-RateLimit-Limit") != "3" || limited.Header.Get("Retry-After") == "" {
			t.Errorf("%s: %v", path, limited.Header)
		}
		u = s.NewUser(t)
	}
	for range 3 {
		u.Do(t, http.MethodPost, "/api/proofs", trueExport, "Content-Type", "application/x-ndjson").OK(t)
	}
	u.Do(t, http.MethodPost, "/api/proofs", trueExport, "Content-Type", "application/x-ndjson").Want(t, httpkit.RateLimited)
}

func TestProofsWhenTheLogIsAway(t *testing.T) {
	t.Parallel()
	s := apitest.Start(t, apitest.Options{})
	u := s.NewUser(t)
	s.LogAway(true)
	u.Do(t, http.MethodPost, "/api/proofs", trueExport, "Content-Type", "application/x-ndjson").Want(t, httpkit.Unavailable)
	s.LogAway(false)
	u.Do(t, http.MethodPost, "/api/proofs", trueExport, "Content-Type", "application/x-ndjson").OK(t)
}
