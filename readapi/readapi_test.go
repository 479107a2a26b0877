package readapi_test

import (
	"crypto/ed25519"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"reckon/commands"
	"reckon/domain/account"
	"reckon/domain/event"
	"reckon/domain/keys"
	"reckon/domain/receipt"
	"reckon/internal/httpkit"
	"reckon/internal/view"
	"reckon/test/apitest"
	"reckon/test/wait"
)

func unlimited() account.Plans {
	plans := account.DefaultPlans()
	plans[0].PerMinute = 1_000_000
	return plans
}

// signed is a server with a signing key, published as it would be.
func signed(t *testing.T) (*apitest.Server, *receipt.Signer) {
	t.Helper()
	return signedAt(t, "")
}

// held is one private key.
type held struct{ key ed25519.PrivateKey }

func (h held) Generate() (ed25519.PublicKey, error) { return nil, errors.ErrUnsupported }
func (h held) Holds(kid string) bool {
	return kid == keys.Thumbprint(h.key.Public().(ed25519.PublicKey))
}
func (h held) Sign(_ string, message []byte) ([]byte, error) {
	return ed25519.Sign(h.key, message), nil
}

// signedAt is signed with a public address.
func signedAt(t *testing.T, publicURL string) (*apitest.Server, *receipt.Signer) {
	t.Helper()
	private := ed25519.NewKeyFromSeed([]byte("0123456789abcdef0123456789abcdef"))
	public := private.Public().(ed25519.PublicKey)
	signer := &receipt.Signer{KID: keys.Thumbprint(public), Key: private}
	s := apitest.Start(t, apitest.Options{Signer: signer, Plans: unlimited(), PublicURL: publicURL})
	in := commands.Intent{ID: uuid.New(), At: s.Clock.Now()}
	if _, err := commands.PublishKey(t.Context(), s.Store, in, public); err != nil {
		t.Fatal(err)
	}
	in.ID = uuid.New()
	if _, err := commands.ActivateKey(t.Context(), s.Store, in, held{private}, signer.KID); err != nil {
		t.Fatal(err)
	}
	return s, signer
}

func runOf(t *testing.T, a apitest.Answer) int64 {
	t.Helper()
	runID, ok := a.OK(t).JSON["run_id"].(float64)
	if !ok {
		t.Fatalf("%s", a.Body)
	}
	return int64(runID)
}

func TestReceiptsVerifyOffline(t *testing.T) {
	t.Parallel()
	s, signer := signed(t)
	u, other := s.NewUser(t), s.NewUser(t)
	set := s.Do(t, http.MethodGet, "/.well-known/service-keys.json", "").OK(t)
	if set.Header.Get("Cache-Control") != "public, max-age=300" || set.Header.Get("Access-Control-Allow-Origin") != "*" || set.Header.Get("ETag") == "" {
		t.Errorf("%v", set.Header)
	}
	var published struct {
		Keys []struct{ KTY, CRV, X, KID, Use, Alg string }
	}
	if err := json.Unmarshal(set.Body, &published); err != nil || len(published.Keys) != 1 {
		t.Fatal(err, string(set.Body))
	}
	k := published.Keys[0]
	public, err := keys.DecodeX(k.X)
	if err != nil || k.KTY != "OKP" || k.CRV != "Ed25519" || k.Use != "sig" || k.Alg != "EdDSA" || k.KID != signer.KID {
		t.Fatalf("%+v %v", k, err)
	}
	for _, expression := range []string{"1+1", "Print[<&>]", "Long", "é\u007f\u2028😀[x]", "Plot[x,{x,0,1}]"} {
		runID := runOf(t, u.Evaluate(t, expression))
		path := fmt.Sprintf("/api/receipts/%d", runID)
		a := u.Do(t, http.MethodGet, path, "").OK(t)
		var envelope receipt.Envelope
		if err := json.Unmarshal(a.Body, &envelope); err != nil {
			t.Fatal(err)
		}
		if err := receipt.Check(envelope, map[string]ed25519.PublicKey{k.KID: public}); err != nil {
			t.Errorf("%.20s: %v", expression, err)
		}
		var record receipt.Record
		if err := json.Unmarshal(envelope.Record, &record); err != nil || record.RunID != runID || record.Account != u.ID || record.Expression != expression {
			t.Errorf("%+v %v", record, err)
		}
		if envelope.ReceiptURL != path || envelope.KeysURL != "/.well-known/service-keys.json" || a.Header.Get("Cache-Control") != "no-store" {
			t.Errorf("%s %v", envelope.ReceiptURL, a.Header)
		}
		other.Do(t, http.MethodGet, path, "").Want(t, httpkit.NoSuchRun)
	}
}

func TestReceiptWithoutAKey(t *testing.T) {
	t.Parallel()
	s := apitest.Share(t)
	u := s.NewUser(t)
	a := u.Do(t, http.MethodGet, fmt.Sprintf("/api/receipts/%d", runOf(t, u.Evaluate(t, "1+1"))), "").OK(t)
	if signature, given := a.JSON["signature"]; !given || signature != nil || a.JSON["kid"] != nil || a.JSON["unsigned_reason"] != receipt.NoKeyReason {
		t.Errorf("%s", a.Body)
	}
	if set := s.Do(t, http.MethodGet, "/.well-known/service-keys.json", "").OK(t); strings.TrimSpace(string(set.Body)) != `{"keys":[]}` {
		t.Errorf("%s", set.Body)
	}
}

func TestPlots(t *testing.T) {
	t.Parallel()
	s := apitest.Share(t)
	u, other := s.NewUser(t), s.NewUser(t)
	path := u.Evaluate(t, "Plot[x,{x,0,1}]").OK(t).JSON["plot_url"].(string)
	a := u.Do(t, http.MethodGet, path, "").OK(t)
	if string(a.Body) != apitest.SVG || a.Header.Get("Content-Type") != "image/svg+xml" || a.Header.Get("X-Content-Type-Options") != "nosniff" ||
		a.Header.Get("Content-Security-Policy") != "default-src 'none'; img-src data:; style-src 'unsafe-inline'; font-src data:; sandbox; frame-ancestors 'none'" {
		t.Errorf("%s %v", a.Body, a.Header)
	}
	other.Do(t, http.MethodGet, path, "").Want(t, httpkit.NoSuchRun)
	u.Do(t, http.MethodGet, fmt.Sprintf("/api/plots/%d", runOf(t, u.Evaluate(t, "1+1"))), "").Want(t, httpkit.NoPlot)
}

func TestIdsThatAreNone(t *testing.T) {
	t.Parallel()
	s := apitest.Share(t)
	u := s.NewUser(t)
	for _, id := range []string{"x", "1x", "1.5", "0", "-1", "9007199254740992", "99999999999999999999", "1'%20OR%20'1'='1", "1;DROP%20TABLE%20history_v3", "..%2F1", "%2e%2e", "0x1", "%31%00", "1%20", "%C2%B9"} {
		for _, route := range []string{"/api/receipts/", "/api/plots/"} {
			a := u.Do(t, http.MethodGet, route+id, "")
			if a.Status != http.StatusBadRequest || a.Code() != httpkit.InvalidParameter.Code {
				t.Errorf("%s%s: %d %s", route, id, a.Status, a.Body)
			}
		}
	}
	u.Do(t, http.MethodGet, "/api/receipts/9007199254740991", "").Want(t, httpkit.NoSuchRun)
	for _, one := range []string{"/api/receipts/%31001", "/api/receipts/100%31", "/%61pi/%72eceipts/1001"} { // percent-encoded, it is the same address (RFC 3986 §2.3)
		u.Do(t, http.MethodGet, one, "").Want(t, httpkit.NoSuchRun)
	}
	u.Do(t, http.MethodGet, "/api/receipts/../history", "").Want(t, httpkit.NoSuchRoute)
}

// page is one answer of /api/history.
type page struct {
	Runs []struct {
		RunID                      int64 `json:"run_id"`
		Expression, Status, Source string
		Result, Agent              *string
		SessionID                  *string `json:"session_id"`
		CreatedAt                  string  `json:"created_at"`
		PlotURL                    *string `json:"plot_url"`
		ReceiptURL                 *string `json:"receipt_url"`
		Warnings                   []string
		Verification               *struct{ Verdict, Method string }
		Certificate                any
	}
	Limit, Offset int
	HasMore       bool `json:"has_more"`
}

func history(t *testing.T, u *apitest.User, query string) page {
	t.Helper()
	a := u.Do(t, http.MethodGet, "/api/history?"+query, "").OK(t)
	if a.Header.Get("Consistency") != "" {
		t.Fatalf("%s: %s", query, a.Header.Get("Consistency"))
	}
	var p page
	if err := json.Unmarshal(a.Body, &p); err != nil {
		t.Fatal(err)
	}
	return p
}

func expressions(p page) []string {
	all := []string{}
	for _, r := range p.Runs {
		all = append(all, r.Expression)
	}
	return all
}

func TestHistory(t *testing.T) {
	t.Parallel()
	s := apitest.Start(t, apitest.Options{Plans: unlimited()})
	u, other := s.NewUser(t), s.NewUser(t)
	other.Evaluate(t, "1+1").OK(t)
	u.Evaluate(t, "1+1").OK(t)
	s.Clock.Pass(12 * time.Hour) // midnight of 2 August, to the millisecond
	u.Evaluate(t, "f[x_%'100]").OK(t)
	u.Evaluate(t, "While[True]").Want(t, httpkit.BudgetExhausted)
	s.Clock.Pass(24*time.Hour - time.Millisecond)
	u.Evaluate(t, "Quit[]").Want(t, httpkit.EngineQuit)
	s.Clock.Pass(time.Millisecond)
	plot := u.Evaluate(t, "Plot[x,{x,0,1}]").OK(t)
	u.Do(t, http.MethodPost, "/api/evaluate", `{"expression":"x=5","session_id":"s"}`, "User-Agent", "lab/1").OK(t)
	u.Do(t, http.MethodPost, "/api/verify", fmt.Sprintf(`{"run_id":%.0f}`, plot.JSON["run_id"])).OK(t)

	for query, want := range map[string][]string{
		"":                                  {"x=5", "Plot[x,{x,0,1}]", "Quit[]", "While[True]", "f[x_%'100]", "1+1"},
		"limit=2":                           {"x=5", "Plot[x,{x,0,1}]"},
		"limit=2&offset=4":                  {"f[x_%'100]", "1+1"},
		"offset=99":                         {},
		"status=timeout":                    {"While[True]"},
		"status=error":                      {"Quit[]"},
		"status=unevaluated":                {"f[x_%'100]"},
		"source=web&status=success":         {"x=5", "Plot[x,{x,0,1}]", "1+1"},
		"source=mcp":                        {},
		"query=x":                           {"x=5", "Plot[x,{x,0,1}]", "f[x_%'100]"}, // case-sensitive
		"query=%20x%3D%20":                  {"x=5"},                                  // trimmed
		"query=_%25'":                       {"f[x_%'100]"},                           // literal: no wildcards
		"query=%25":                         {"f[x_%'100]"},
		"query=[true]":                      {},
		"query='%20OR%20'1'='1":             {},
		"query=" + strings.Repeat("é", 200): {},
		"from=2026-08-02":                   {"x=5", "Plot[x,{x,0,1}]", "Quit[]", "While[True]", "f[x_%'100]"},
		"to=2026-08-02":                     {"Quit[]", "While[True]", "f[x_%'100]", "1+1"},
		"from=2026-08-02&to=2026-08-02":     {"Quit[]", "While[True]", "f[x_%'100]"},
		"from=2026-08-03&to=2026-08-02":     {},
		"verdict=verified":                  {"1+1"},
		"verdict=inconclusive":              {"Plot[x,{x,0,1}]"},
		"verdict=refuted":                   {},
	} {
		if got := expressions(history(t, u, query)); !reflect.DeepEqual(got, want) {
			t.Errorf("%q: %q, want %q", query, got, want)
		}
	}
	p := history(t, u, "limit=5")
	if p.Limit != 5 || p.Offset != 0 || !p.HasMore || history(t, u, "limit=6").HasMore {
		t.Errorf("%+v", p)
	}
	latest, plotted, failed, first := p.Runs[0], p.Runs[1], p.Runs[2], history(t, u, "offset=5").Runs[0]
	if latest.SessionID == nil || *latest.SessionID != "s" || *latest.Agent != "lab/1" || *latest.Result != "5" || latest.CreatedAt != "2026-08-03T00:00:00.000Z" || latest.Source != "web" || latest.PlotURL != nil || latest.Certificate != nil {
		t.Errorf("%+v", latest)
	}
	if plotted.PlotURL == nil || *plotted.PlotURL != plot.JSON["plot_url"] || *plotted.ReceiptURL != plot.JSON["receipt_url"] || plotted.Verification.Verdict != "inconclusive" {
		t.Errorf("%+v", plotted)
	}
	if failed.Result != nil || failed.ReceiptURL != nil || failed.Warnings == nil {
		t.Errorf("%+v", failed)
	}
	if first.Verification == nil || first.Verification.Verdict != "verified" || first.Verification.Method != "rewrite_identity" {
		t.Errorf("%+v", first)
	}
}

func TestHistoryRefusals(t *testing.T) {
	t.Parallel()
	s := apitest.Start(t, apitest.Options{NoProjections: true, MaxPlaceWait: view.MaxPlaceWait})
	u := s.NewUser(t)
	for _, query := range []string{
		"limit=0", "limit=201", "limit=-1", "limit=x", "limit=1e2", "offset=-1", "offset=x", "offset=10001", "offset=99999999999999999999", "before=x", "before=-1",
		"status=nonsense", "status=success'--", "source=api", "verdict=maybe", "from=yesterday", "from=2026-02-30", "from=2026-8-1",
		"to=2026-08-01T00:00:00Z", "to=01.08.2026", "from=2026-08-01'%20OR%201=1", "query=" + strings.Repeat("x", 201), "query=" + strings.Repeat("é", 201),
		"zzz=1", "limit=1&limit=2", "query=%ff", "query=%00", "Status=success",
	} {
		a := u.Do(t, http.MethodGet, "/api/history?"+query, "")
		if a.Status != http.StatusBadRequest || a.Code() != httpkit.InvalidParameter.Code {
			t.Errorf("%.60s: %d %.200s", query, a.Status, a.Body)
		}
	}
}

func TestListsSeeOwnWritesOrSaySo(t *testing.T) {
	t.Parallel()
	s := apitest.Start(t, apitest.Options{Plans: unlimited()})
	u := s.NewUser(t)
	for i := range 30 {
		runID := runOf(t, u.Evaluate(t, "1+1"))
		if p := history(t, u, "limit=1"); len(p.Runs) != 1 || p.Runs[0].RunID != runID {
			t.Fatalf("evaluation %d is not in the list that followed it: %+v", i, p.Runs)
		}
	}
	token := u.Evaluate(t, "1+1").OK(t).Header.Get("Consistency-Token")
	if a := u.Do(t, http.MethodGet, "/api/history", "", "Consistency-Token", token).OK(t); a.Header.Get("Consistency") != "" {
		t.Errorf("%v", a.Header)
	}
	foreign := httpkit.ConsistencyToken{Log: "another", Position: event.Position{Commit: 1}}.String()
	if a := u.Do(t, http.MethodGet, "/api/history", "", "Consistency-Token", foreign).OK(t); a.Header.Get("Consistency") != "stale" {
		t.Errorf("another log's token: %v", a.Header)
	}
	u.Do(t, http.MethodGet, "/api/history", "", "Consistency-Token", "nonsense").Want(t, httpkit.InvalidParameter)

	asleep := apitest.Start(t, apitest.Options{NoProjections: true, MaxPlaceWait: view.MaxPlaceWait})
	v := asleep.NewUser(t)
	v.Evaluate(t, "1+1").OK(t)
	if a := v.Do(t, http.MethodGet, "/api/history", "").OK(t); a.Header.Get("Consistency") != "stale" {
		t.Errorf("a read model that stands still: %v", a.Header)
	}
}

func TestSessionsAndTokens(t *testing.T) {
	t.Parallel()
	s := apitest.Start(t, apitest.Options{Plans: unlimited()})
	u, other := s.NewUser(t), s.NewUser(t)
	s.Clock.Pass(time.Minute)
	u.Do(t, http.MethodPost, "/api/evaluate", `{"expression":"x=5","session_id":"nb.1"}`).OK(t)
	s.Clock.Pass(time.Minute)
	u.Do(t, http.MethodPost, "/api/evaluate", `{"expression":"x","session_id":"nb.1"}`).OK(t)
	a := u.Do(t, http.MethodGet, "/api/sessions", "").OK(t)
	want := `{"sessions":[{"session_id":"nb.1","created_at":"2026-08-01T12:01:00.000Z","last_used_at":"2026-08-01T12:02:00.000Z","expires_at":"2026-08-01T12:32:00.000Z","evaluations":2,"busy":false}],"idle_ttl_seconds":1800}`
	if got := strings.TrimSpace(string(a.Body)); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	if a := other.Do(t, http.MethodGet, "/api/sessions", "").OK(t); len(a.JSON["sessions"].([]any)) != 0 {
		t.Errorf("%s", a.Body)
	}
	u.Do(t, http.MethodDelete, "/api/sessions/nb.1", "").OK(t)
	if a := u.Do(t, http.MethodGet, "/api/sessions", "").OK(t); len(a.JSON["sessions"].([]any)) != 0 {
		t.Errorf("%s", a.Body)
	}

	s.Do(t, http.MethodPost, "/api/tokens", `{"name":"2nd","expires_in_days":30}`, "Cookie", u.Cookie).OK(t)
	a = u.Do(t, http.MethodGet, "/api/tokens?limit=1", "").OK(t)
	first := a.JSON["tokens"].([]any)[0].(map[string]any)
	if first["name"] != "2nd" || first["last_used_on"] != nil || first["expires_at"] != "2026-08-31T12:02:00.000Z" || first["expired"] != false || strings.Contains(string(a.Body), "rk_pat_") {
		t.Errorf("%s", a.Body)
	}
	s.Clock.Pass(30 * 24 * time.Hour)
	if a := u.Do(t, http.MethodGet, "/api/tokens?limit=1", "").OK(t); a.JSON["tokens"].([]any)[0].(map[string]any)["expired"] != true {
		t.Errorf("a token that has expired is listed so: %s", a.Body)
	}
	s.Clock.Pass(-30 * 24 * time.Hour)
	next, _ := a.JSON["next_before"].(string)
	a = u.Do(t, http.MethodGet, "/api/tokens?limit=1&before="+next, "").OK(t)
	second := a.JSON["tokens"].([]any)[0].(map[string]any)
	if second["name"] != "test" || second["last4"] != u.Token[len(u.Token)-4:] || second["last_used_on"] != "2026-08-01" || a.JSON["next_before"] != nil {
		t.Errorf("%s", a.Body)
	}
	u.Do(t, http.MethodGet, "/api/tokens?before='--", "").Want(t, httpkit.InvalidParameter)
	u.Do(t, http.MethodDelete, "/api/tokens/"+first["token_id"].(string), "").OK(t)
	if a := u.Do(t, http.MethodGet, "/api/tokens", "").OK(t); len(a.JSON["tokens"].([]any)) != 1 {
		t.Errorf("%s", a.Body)
	}
}

func TestSignInsAreListed(t *testing.T) {
	t.Parallel()
	s := apitest.Start(t, apitest.Options{})
	u, other := s.NewUser(t), s.NewUser(t)
	s.Clock.Pass(24 * time.Hour)
	a := s.Do(t, http.MethodGet, "/api/sign-ins", "", "Cookie", u.Cookie).OK(t)
	rows := a.JSON["sign_ins"].([]any)
	row := rows[0].(map[string]any)
	if len(rows) != 1 || row["current"] != true || row["created_at"] != "2026-08-01T12:00:00.000Z" || row["expires_at"] != "2026-08-15T12:00:00.000Z" || row["last_used_on"] != "2026-08-02" ||
		row["agent"] != "Go-http-client/1.1" || row["network"] != "127.0.0.0/24" {
		t.Errorf("%s", a.Body)
	}
	u.Do(t, http.MethodGet, "/api/sign-ins", "").Want(t, httpkit.FirstPartyOnly)
	theirs := s.Do(t, http.MethodGet, "/api/sign-ins", "", "Cookie", other.Cookie).OK(t).JSON["sign_ins"].([]any)
	if id := theirs[0].(map[string]any)["sign_in_id"]; len(theirs) != 1 || id == row["sign_in_id"] {
		t.Errorf("%v", theirs)
	}
}

func TestHealth(t *testing.T) {
	t.Parallel()
	s := apitest.Start(t, apitest.Options{})
	if a := s.Do(t, http.MethodGet, "/healthz", "").OK(t); strings.TrimSpace(string(a.Body)) != `{"status":"ok","version":"test"}` {
		t.Errorf("%s", a.Body)
	}
	var ready apitest.Answer
	wait.Until(t, "it is ready", func() bool { ready = s.Do(t, http.MethodGet, "/readyz", ""); return ready.Status == http.StatusOK })
	if ready.OK(t).JSON["ready"] != true || len(ready.JSON["projections"].([]any)) == 0 {
		t.Errorf("%s", ready.Body)
	}
	s.LogAway(true)
	a := s.Do(t, http.MethodGet, "/readyz", "")
	if a.Status != http.StatusServiceUnavailable || a.JSON["ready"] != false || a.Header.Get("Retry-After") == "" ||
		!strings.Contains(string(a.Body), `{"name":"eventstore","ready":false,"detail":"the event log cannot be reached"}`) {
		t.Errorf("%d %s", a.Status, a.Body)
	}
	s.Do(t, http.MethodGet, "/healthz", "").OK(t)
}

// FuzzHistoryFilters: whatever the query, the answer is a page or a 400 that names a parameter.
func FuzzHistoryFilters(f *testing.F) {
	s := apitest.Start(f, apitest.Options{Plans: unlimited()})
	u, other := s.NewUser(f), s.NewUser(f)
	other.Evaluate(f, "secret[x]").OK(f)
	u.Evaluate(f, "1+1").OK(f)
	for _, seed := range []string{"limit=1", "query='", "from=2026-08-01&to=", "verdict=verified&status=success", "query=%25&offset=1", "status=success;--", "&&&=", "query=secret", "limit=1&limit=1"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, query string) {
		if strings.ContainsAny(query, "#\x00\r\n\t ") || strings.IndexFunc(query, func(r rune) bool { return r < 0x21 || r > 0x7e }) >= 0 {
			t.Skip("not a request line")
		}
		a := u.Do(t, http.MethodGet, "/api/history?"+query, "")
		if a.Status != http.StatusOK && (a.Status != http.StatusBadRequest || a.Code() != httpkit.InvalidParameter.Code) {
			t.Fatalf("%q: %d %s", query, a.Status, a.Body)
		}
		if strings.Contains(string(a.Body), "secret[x]") {
			t.Fatalf("%q shows another account's run", query)
		}
	})
}

// TestAnIntegerHasOneText: a run has one address, and a page of a list too.
func TestAnIntegerHasOneText(t *testing.T) {
	t.Parallel()
	s := apitest.Share(t)
	u := s.NewUser(t)
	run := u.Evaluate(t, "1+1").OK(t).JSON["run_id"]
	u.Do(t, http.MethodGet, fmt.Sprintf("/api/receipts/%v", run), "").OK(t)
	for _, path := range []string{"/api/receipts/%%2B%v", "/api/receipts/+%v", "/api/receipts/0%v", "/api/receipts/%v.0", "/api/history?limit=%%2B%v", "/api/history?limit=0%v", "/api/history?limit=%v.0"} {
		if a := u.Do(t, http.MethodGet, fmt.Sprintf(path, run), ""); a.Status != http.StatusBadRequest || a.Code() != "invalid_parameter" {
			t.Errorf("%s: %d %s", path, a.Status, a.Body)
		}
	}
}
