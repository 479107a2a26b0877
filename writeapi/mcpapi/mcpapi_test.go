package mcpapi_test

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/jsonschema-go/jsonschema"
	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"reckon/domain/account"
	"reckon/domain/event"
	"reckon/domain/run"
	"reckon/internal/httpkit"
	"reckon/test/apitest"
	"reckon/test/wait"
	"reckon/writeapi/mcpapi"
)

// bearer sends a token with every request, and what else a test wants.
type bearer struct {
	token   string
	headers http.Header
	next    http.RoundTripper
}

// RoundTrip is http.RoundTripper.
func (b *bearer) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("Authorization", "Bearer "+b.token)
	for name, values := range b.headers {
		r.Header[name] = values
	}
	return b.next.RoundTrip(r)
}

// connect connects the SDK's client in a revision of the protocol.
func connect(t *testing.T, s *apitest.Server, token, revision string, options *mcp.ClientOptions) *mcp.ClientSession {
	t.Helper()
	client := mcp.NewClient(&mcp.Implementation{Name: "lab", Version: "2.1"}, options)
	http := *s.Client()
	http.Transport = &bearer{token: token, next: http.Transport}
	session, err := client.Connect(t.Context(), &mcp.StreamableClientTransport{Endpoint: s.URL + mcpapi.Path, HTTPClient: &http, DisableStandaloneSSE: true}, &mcp.ClientSessionOptions{ProtocolVersion: revision})
	if err != nil {
		t.Fatalf("%s: %v", revision, err)
	}
	t.Cleanup(func() { _ = session.Close() })
	return session
}

// eachRevision runs a test in every revision that is served.
func eachRevision(t *testing.T, test func(t *testing.T, revision string)) {
	for _, revision := range mcpapi.Revisions() {
		t.Run(revision, func(t *testing.T) { test(t, revision) })
	}
}

// called calls a tool and fails the test unless its result is of the output schema.
func called(t *testing.T, session *mcp.ClientSession, name string, arguments any) *mcp.CallToolResult {
	t.Helper()
	result := attempted(t, session, name, arguments)
	if result.IsError {
		t.Fatalf("%s: %s", name, textOf(result))
	}
	checkOutput(t, session, name, result)
	return result
}

func attempted(t *testing.T, session *mcp.ClientSession, name string, arguments any) *mcp.CallToolResult {
	t.Helper()
	result, err := session.CallTool(t.Context(), &mcp.CallToolParams{Name: name, Arguments: arguments})
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return result
}

func checkOutput(t *testing.T, session *mcp.ClientSession, name string, result *mcp.CallToolResult) {
	t.Helper()
	for tool, err := range session.Tools(t.Context(), nil) {
		if err != nil {
			t.Fatal(err)
		}
		if tool.Name == name {
			if err := validate(t, tool.OutputSchema, result.StructuredContent); err != nil {
				t.Errorf("%s answers what its output schema refuses: %v\n%s", name, err, textOf(result))
			}
			return
		}
	}
	t.Errorf("no tool %s is listed", name)
}

// validate checks a value with a schema as it came over the wire.
func validate(t *testing.T, described, value any) error {
	t.Helper()
	written, err := json.Marshal(described)
	if err != nil {
		t.Fatal(err)
	}
	var schema jsonschema.Schema
	if err := json.Unmarshal(written, &schema); err != nil {
		t.Fatalf("%v: %s", err, written)
	}
	resolved, err := schema.Resolve(nil)
	if err != nil {
		t.Fatalf("%v: %s", err, written)
	}
	return resolved.Validate(value)
}

// textOf is the first text of a result.
func textOf(result *mcp.CallToolResult) string {
	for _, content := range result.Content {
		if text, ok := content.(*mcp.TextContent); ok {
			return text.Text
		}
	}
	return ""
}

// member is a member of the structured content.
func member(result *mcp.CallToolResult, name string) any {
	members, _ := result.StructuredContent.(map[string]any)
	return members[name]
}

// links are the addresses of the result's resource links.
func links(result *mcp.CallToolResult) (addresses []string) {
	for _, content := range result.Content {
		if link, ok := content.(*mcp.ResourceLink); ok {
			addresses = append(addresses, link.URI)
		}
	}
	return addresses
}

// problemOf is the problem document of a refused call.
func problemOf(t *testing.T, result *mcp.CallToolResult) (problem httpkit.Problem) {
	t.Helper()
	if !result.IsError || result.StructuredContent != nil {
		t.Fatalf("no tool error: %+v", result)
	}
	if err := json.Unmarshal([]byte(textOf(result)), &problem); err != nil {
		t.Fatalf("%v: %s", err, textOf(result))
	}
	return problem
}

func TestEvaluateAndItsResources(t *testing.T) {
	t.Parallel()
	s := apitest.Start(t, apitest.Options{})
	user := s.NewUser(t)
	eachRevision(t, func(t *testing.T, revision string) {
		session := connect(t, s, user.Token, revision, nil)
		if got := session.InitializeResult().ProtocolVersion; got != revision {
			t.Fatalf("negotiated %s", got)
		}
		result := called(t, session, "evaluate", map[string]any{"expression": "1+1"})
		id := strconv.FormatFloat(member(result, "run_id").(float64), 'f', -1, 64)
		if member(result, "result") != "2" || textOf(result) == "" || !slices.Contains(links(result), "reckon://receipts/"+id) {
			t.Errorf("%s %v", textOf(result), links(result))
		}
		receipt := read(t, session, "reckon://receipts/"+id)
		if want := user.Do(t, http.MethodGet, "/api/receipts/"+id, "").OK(t); receipt.Text != strings.TrimSpace(string(want.Body)) || receipt.MIMEType != "application/json" {
			t.Errorf("%s\n%s", receipt.Text, want.Body)
		}

		drawn := called(t, session, "evaluate", map[string]any{"expression": "Plot[x,{x,0,1}]"})
		i := slices.IndexFunc(drawn.Content, func(c mcp.Content) bool { _, ok := c.(*mcp.ImageContent); return ok })
		if i < 0 {
			t.Fatalf("no image: %s", textOf(drawn))
		}
		if image := drawn.Content[i].(*mcp.ImageContent); image.MIMEType != "image/svg+xml" || string(image.Data) != apitest.SVG || !slices.Equal(image.Annotations.Audience, []mcp.Role{"user"}) {
			t.Errorf("%+v", image)
		}
		plot := read(t, session, "reckon://plots/"+strconv.FormatFloat(member(drawn, "run_id").(float64), 'f', -1, 64))
		if plot.Text != apitest.SVG || plot.MIMEType != "image/svg+xml" {
			t.Errorf("%+v", plot)
		}

		var runs struct {
			Runs []struct {
				RunID  int64 `json:"run_id"`
				Source string
				Agent  string
			}
		}
		if err := json.Unmarshal([]byte(read(t, session, "reckon://runs").Text), &runs); err != nil || len(runs.Runs) < 2 || runs.Runs[0].Source != "mcp" || runs.Runs[0].Agent != "lab/2.1" {
			t.Errorf("%+v, %v", runs, err)
		}
		runID, _ := strconv.ParseInt(id, 10, 64)
		logged, err := s.Store.Read(t.Context(), run.Stream(runID))
		if err != nil {
			t.Fatal(err)
		}
		if m := logged.Events[0].Metadata; m.Source != event.SourceMCP || m.Agent != "lab/2.1" || m.Account != user.ID || m.Actor != "token:"+user.TokenID {
			t.Errorf("%+v", m)
		}
		if sine := read(t, session, "reckon://symbols/Sin"); !strings.Contains(sine.Text, `"status":"supported"`) || sine.MIMEType != "application/json" {
			t.Errorf("%+v", sine)
		}
		if page := read(t, session, "reckon://agents.md"); !strings.Contains(page.Text, "check_proof") || page.MIMEType != "text/markdown" {
			t.Errorf("%.200s", page.Text)
		}
	})
}

func read(t *testing.T, session *mcp.ClientSession, uri string) *mcp.ResourceContents {
	t.Helper()
	result, err := session.ReadResource(t.Context(), &mcp.ReadResourceParams{URI: uri})
	if err != nil {
		t.Fatalf("%s: %v", uri, err)
	}
	if len(result.Contents) != 1 || result.Contents[0].URI != uri {
		t.Fatalf("%+v", result.Contents)
	}
	return result.Contents[0]
}

func TestSessionsOfTheEngineAndVerify(t *testing.T) {
	t.Parallel()
	s := apitest.Start(t, apitest.Options{})
	session := connect(t, s, s.NewUser(t).Token, "2025-11-25", nil)
	called(t, session, "evaluate", map[string]any{"expression": "x=5", "session_id": "notebook"})
	if result := called(t, session, "evaluate", map[string]any{"expression": "x", "session_id": "notebook"}); member(result, "result") != "5" {
		t.Error(textOf(result))
	}
	for answer, verdict := range map[string]string{"2": "verified", "3": "refuted"} {
		if result := called(t, session, "verify", map[string]any{"code": "1+1", "result": answer}); member(result, "verdict") != verdict {
			t.Error(textOf(result))
		}
	}
}

// TestLookUpSymbol: the stand-in of the engine knows no ?name; what the real one says is tested in test/clients.
func TestLookUpSymbol(t *testing.T) {
	t.Parallel()
	s := apitest.Start(t, apitest.Options{})
	session := connect(t, s, s.NewUser(t).Token, "2025-11-25", nil)
	named := func(result *mcp.CallToolResult) string {
		found, _ := member(result, "found").([]any)
		if len(found) == 0 {
			return ""
		}
		return found[0].(map[string]any)["name"].(string)
	}
	for name, first := range map[string]string{"Factor": "Factor", "np.linalg.inv": "Inverse", "FactorInteegr": "FactorInteger", "inverse of a matrix": "Inverse"} {
		result := called(t, session, "lookup_symbol", map[string]any{"name": name})
		if named(result) != first || (member(result, "symbol") != nil) != (name == "Factor") {
			t.Errorf("%s: %s", name, textOf(result))
		}
	}
	result := called(t, session, "lookup_symbol", map[string]any{"name": "Factor"})
	if symbol := member(result, "symbol").(map[string]any); symbol["status"] != "supported" || symbol["since_engine"] == nil || len(symbol["examples"].([]any)) < 2 {
		t.Error(textOf(result))
	}
	for _, arguments := range []any{nil, map[string]any{}, map[string]any{"name": ""}, map[string]any{"name": strings.Repeat("a", 101)}, map[string]any{"name": "Sin", "more": 1}, map[string]any{"name": 7}} {
		if problem := problemOf(t, attempted(t, session, "lookup_symbol", arguments)); problem.Code != "invalid_request" || problem.RequestID == "" {
			t.Errorf("%v: %+v", arguments, problem)
		}
	}
}

const bell = `{"qubits":2,"shots":100,"seed":7,"gates":[{"gate":"h","target":0},{"gate":"cx","control":0,"target":1}]}`

func TestJobs(t *testing.T) {
	t.Parallel()
	s := apitest.Start(t, apitest.Options{})
	user := s.NewUser(t)
	eachRevision(t, func(t *testing.T, revision string) {
		told := make(chan string, 100)
		session := connect(t, s, user.Token, revision, &mcp.ClientOptions{ProgressNotificationHandler: func(_ context.Context, r *mcp.ProgressNotificationClientRequest) {
			if r.Params.ProgressToken == "mine" && r.Params.Progress > 0 && r.Params.Progress <= r.Params.Total {
				told <- r.Params.Message
			}
		}})
		queued := called(t, session, "simulate_circuit", map[string]any{"circuit": json.RawMessage(bell), "wait_ms": 0, "idempotency_key": revision})
		if member(queued, "status") != "queued" || member(queued, "resubmit") != false {
			t.Fatal(textOf(queued))
		}
		id := member(queued, "job_id").(string)
		if again := called(t, session, "simulate_circuit", map[string]any{"circuit": json.RawMessage(bell), "wait_ms": 0, "idempotency_key": revision}); member(again, "job_id") != id || member(again, "resubmit") != true {
			t.Error(textOf(again))
		}
		// The job is computed once the client has been told of it.
		ran := make(chan string, 1)
		go func() {
			ran <- <-told
			s.RunJob(t, id)
		}()
		ended, err := session.CallTool(t.Context(), &mcp.CallToolParams{Name: "get_job", Arguments: map[string]any{"job_id": id, "wait_ms": 25000}, Meta: mcp.Meta{"progressToken": "mine"}})
		if err != nil || ended.IsError || member(ended, "status") != "succeeded" {
			t.Fatalf("%+v, %v", ended, err)
		}
		checkOutput(t, session, "get_job", ended)
		if message := <-ran; !strings.HasPrefix(message, "job "+id+" is queued") {
			t.Errorf("progress: %s", message)
		}
		counts := member(ended, "result").(map[string]any)["counts"]
		if repeated := called(t, session, "simulate_circuit", map[string]any{"circuit": json.RawMessage(bell), "idempotency_key": revision}); member(repeated, "status") != "succeeded" || counts == nil {
			t.Error(textOf(repeated))
		}
		state, err := s.Jobs.Read(t.Context(), id)
		if err != nil || state.Queued.Account != user.ID {
			t.Errorf("%+v %v", state, err)
		}
	})
}

// TestCancelling: in the older revisions a notification cancels a call, in the newest the end of its answer. Either cancels the
// job that the call submitted, and stops an evaluation.
func TestCancelling(t *testing.T) {
	t.Parallel()
	plans := account.DefaultPlans()
	s := apitest.Start(t, apitest.Options{Plans: plans})
	eachRevision(t, func(t *testing.T, revision string) {
		user := s.NewUser(t)
		session := connect(t, s, user.Token, revision, nil)
		ctx, cancel := context.WithCancel(t.Context())
		failed := make(chan error, 1)
		go func() {
			_, err := session.CallTool(ctx, &mcp.CallToolParams{Name: "simulate_circuit", Arguments: json.RawMessage(`{"circuit":` + bell + `}`)})
			failed <- err
		}()
		id := watchedJob(t, s, user)
		cancel()
		if err := <-failed; !errors.Is(err, context.Canceled) {
			t.Errorf("%v", err)
		}
		until(t, func() string {
			return map[bool]string{true: "cancelled"}[user.Do(t, http.MethodGet, "/api/jobs/"+id, "").OK(t).JSON["status"] == "cancelled"]
		})

		ctx, cancel = context.WithCancel(t.Context())
		go func() {
			_, err := session.CallTool(ctx, &mcp.CallToolParams{Name: "evaluate", Arguments: map[string]any{"expression": "wait"}})
			failed <- err
		}()
		until(t, func() string { return strings.Repeat("runs", s.Running.Running(user.ID)) })
		cancel()
		if err := <-failed; !errors.Is(err, context.Canceled) {
			t.Errorf("%v", err)
		}
		until(t, func() string { return map[bool]string{true: "stopped"}[s.Running.Running(user.ID) == 0] })
	})
}

// TestACancelledCallIsNotAnswered: its stream ends without a message (MCP, Cancellation: no response is sent).
func TestACancelledCallIsNotAnswered(t *testing.T) {
	t.Parallel()
	s := apitest.Start(t, apitest.Options{})
	user := s.NewUser(t)
	send := func(message string, headers ...string) (*http.Response, string) {
		t.Helper()
		response, err := s.Client().Do(request(t, t.Context(), s, user.Token, message, append(headers, "MCP-Protocol-Version", "2025-11-25")...))
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = response.Body.Close() }()
		body, err := io.ReadAll(response.Body)
		if err != nil {
			t.Fatal(err)
		}
		return response, string(body)
	}
	began, _ := send(`{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}`)
	session := began.Header.Get("Mcp-Session-Id")
	for id, call := range map[string]string{
		"1": `{"name":"evaluate","arguments":{"expression":"wait"}}`,
		"2": `{"name":"simulate_circuit","arguments":{"circuit":` + bell + `,"wait_ms":20000}}`,
	} {
		type answer struct {
			status int
			body   string
		}
		answers := make(chan answer)
		go func() {
			response, body := send(`{"jsonrpc":"2.0","id":`+id+`,"method":"tools/call","params":`+call+`}`, "Mcp-Session-Id", session)
			answers <- answer{response.StatusCode, body}
		}()
		if id == "1" {
			until(t, func() string { return strings.Repeat("runs", s.Running.Running(user.ID)) })
		} else {
			watchedJob(t, s, user)
		}
		send(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":`+id+`}}`, "Mcp-Session-Id", session)
		if a := <-answers; a.status != http.StatusOK || strings.Contains(a.body, "jsonrpc") {
			t.Errorf("call %s is answered: %d %s", id, a.status, a.body)
		}
	}
	if _, body := send(`{"jsonrpc":"2.0","id":3,"method":"ping"}`, "Mcp-Session-Id", session); !strings.Contains(body, `"id":3`) {
		t.Errorf("the next call: %s", body)
	}
}

// until waits until found is not empty.
func until(t *testing.T, found func() string) string {
	t.Helper()
	var text string
	wait.Until(t, "a text is found", func() bool {
		text = found()
		return text != ""
	})
	return text
}

// TestALostConnectionLeavesTheJob: before 2026-07-28 a connection that ends is no cancellation.
func TestALostConnectionLeavesTheJob(t *testing.T) {
	t.Parallel()
	s := apitest.Start(t, apitest.Options{})
	user := s.NewUser(t)
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		r := request(t, ctx, s, user.Token, `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"simulate_circuit","arguments":{"circuit":`+bell+`,"wait_ms":3000}}}`, "MCP-Protocol-Version", "2025-11-25")
		if response, err := s.Client().Do(r); err == nil {
			_, _ = io.Copy(io.Discard, response.Body)
			_ = response.Body.Close()
		}
	}()
	id := watchedJob(t, s, user)
	cancel()
	<-ended
	until(t, func() string { return map[bool]string{true: "left"}[s.Watched(id) == 0] })
	if job := user.Do(t, http.MethodGet, "/api/jobs/"+id, "").OK(t); job.JSON["status"] != "queued" {
		t.Errorf("%s", job.Body)
	}
}

// request is a POST of a message with headers, which are name, value pairs.
func request(t *testing.T, ctx context.Context, s *apitest.Server, token, message string, headers ...string) *http.Request {
	t.Helper()
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, s.URL+mcpapi.Path, strings.NewReader(message))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Accept", "application/json, text/event-stream")
	if token != "" {
		r.Header.Set("Authorization", "Bearer "+token)
	}
	for i := 0; i < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	return r
}

// watchedJob waits until a call waits for the newest job of a user, and returns its id.
func watchedJob(t *testing.T, s *apitest.Server, user *apitest.User) string {
	t.Helper()
	id := until(t, func() string {
		jobs, _ := user.Do(t, http.MethodGet, "/api/jobs", "").OK(t).JSON["jobs"].([]any)
		if len(jobs) == 0 {
			return ""
		}
		return jobs[0].(map[string]any)["job_id"].(string)
	})
	until(t, func() string { return strings.Repeat("watched", s.Watched(id)) })
	return id
}

// TestFaultsOfTheProtocol are errors of JSON-RPC in words of ours: none tells of what the service is written in.
func TestFaultsOfTheProtocol(t *testing.T) {
	t.Parallel()
	s := apitest.Start(t, apitest.Options{})
	token := s.NewUser(t).Token
	for message, want := range map[string]struct {
		code int64
		id   any
	}{
		`{`:        {jsonrpc.CodeParseError, nil},
		``:         {jsonrpc.CodeParseError, nil},
		`{}{}`:     {jsonrpc.CodeParseError, nil},
		"\ufeff{}": {jsonrpc.CodeParseError, nil},
		`{"jsonrpc":"2.0","jsonrpc":"2.0","id":7,"method":"ping"}`: {jsonrpc.CodeParseError, nil},
		`{"jsonrpc":"2.0","id":7}`:                                 {jsonrpc.CodeInvalidRequest, 7.0},
		`null`:                                                     {jsonrpc.CodeInvalidRequest, nil},
		`[]`:                                                       {jsonrpc.CodeInvalidRequest, nil},
		`"x"`:                                                      {jsonrpc.CodeInvalidRequest, nil},
		`{}`:                                                       {jsonrpc.CodeInvalidRequest, nil},
		`{"id":7}`:                                                 {jsonrpc.CodeInvalidRequest, 7.0},
		`{"jsonrpc":"1.0","id":7,"method":"ping"}`:                                                  {jsonrpc.CodeInvalidRequest, 7.0},
		`{"jsonrpc":2.0,"id":7,"method":"ping"}`:                                                    {jsonrpc.CodeInvalidRequest, 7.0},
		`{"jsonrpc":"2.0","id":1e400,"method":"ping"}`:                                              {jsonrpc.CodeInvalidRequest, nil},
		`{"jsonrpc":"2.0","id":1.5,"method":"ping"}`:                                                {jsonrpc.CodeInvalidRequest, nil},
		`{"jsonrpc":"2.0","id":9007199254740993,"method":"ping"}`:                                   {jsonrpc.CodeInvalidRequest, nil},
		`{"jsonrpc":"2.0","id":{},"method":"ping"}`:                                                 {jsonrpc.CodeInvalidRequest, nil},
		`{"jsonrpc":"2.0","id":null,"method":"ping"}`:                                               {jsonrpc.CodeInvalidRequest, nil},
		`{"jsonrpc":"2.0","id":true,"method":"ping"}`:                                               {jsonrpc.CodeInvalidRequest, nil},
		`{"jsonrpc":"2.0","id":"a","Method":"ping"}`:                                                {jsonrpc.CodeInvalidRequest, "a"},
		`{"jsonrpc":"2.0","ID":1,"method":"ping"}`:                                                  {jsonrpc.CodeInvalidRequest, nil},
		`{"jsonrpc":"2.0","id":7,"method":7}`:                                                       {jsonrpc.CodeInvalidRequest, 7.0},
		`{"jsonrpc":"2.0","id":7,"method":null}`:                                                    {jsonrpc.CodeInvalidRequest, 7.0},
		`{"jsonrpc":"2.0","method":"ping"}`:                                                         {jsonrpc.CodeInvalidRequest, nil},
		`{"jsonrpc":"2.0","id":7,"method":"notifications/initialized"}`:                             {jsonrpc.CodeInvalidRequest, 7.0},
		`{"jsonrpc":"2.0","id":7,"method":"nope"}`:                                                  {jsonrpc.CodeMethodNotFound, 7.0},
		`{"jsonrpc":"2.0","id":7,"method":""}`:                                                      {jsonrpc.CodeMethodNotFound, 7.0},
		`{"jsonrpc":"2.0","id":7,"method":"ping","params":[1]}`:                                     {jsonrpc.CodeInvalidParams, 7.0},
		`{"jsonrpc":"2.0","id":7,"method":"ping","params":null}`:                                    {jsonrpc.CodeInvalidParams, 7.0},
		`{"jsonrpc":"2.0","id":7,"method":"tools/call"}`:                                            {jsonrpc.CodeInvalidParams, 7.0},
		`{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":7}}`:                        {jsonrpc.CodeInvalidParams, 7.0},
		`{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"evaluate","_meta":7}}`:     {jsonrpc.CodeInvalidParams, 7.0},
		`{"jsonrpc":"2.0","id":7,"method":"resources/read","params":{"uri":[]}}`:                    {jsonrpc.CodeInvalidParams, 7.0},
		`{"jsonrpc":"2.0","id":7,"method":"prompts/get","params":{"name":"x","arguments":{"a":7}}}`: {jsonrpc.CodeInvalidParams, 7.0},
		`{"jsonrpc":"2.0","id":7,"method":"tools/list","params":{"cursor":7}}`:                      {jsonrpc.CodeInvalidParams, 7.0},
		`{"jsonrpc":"2.0","id":7,"method":"tools/list","params":{"cursor":"x"}}`:                    {jsonrpc.CodeInvalidParams, 7.0},
		`{"jsonrpc":"2.0","id":7,"method":"initialize","params":{"protocolVersion":7}}`:             {jsonrpc.CodeInvalidParams, 7.0},
		`{"jsonrpc":"2.0","id":7,"method":"initialize","params":{"capabilities":7}}`:                {jsonrpc.CodeInvalidParams, 7.0},
		`{"jsonrpc":"2.0","id":7,"method":"resources/subscribe","params":{"uri":7}}`:                {jsonrpc.CodeInvalidParams, 7.0},
		`{"jsonrpc":"2.0","id":7,"method":"completion/complete","params":{"ref":7}}`:                {jsonrpc.CodeInvalidParams, 7.0},
		`{"jsonrpc":"2.0","id":7,"method":"logging/setLevel","params":{"level":7}}`:                 {jsonrpc.CodeInvalidParams, 7.0},
	} {
		for _, headers := range [][]string{{"Mcp-Protocol-Version", "2025-06-18"}, {"Mcp-Protocol-Version", "2025-11-25"}, nil} {
			status, header, body := post(t, s, request(t, t.Context(), s, token, message, headers...))
			document := body
			if _, data, streamed := strings.Cut(body, "data: "); streamed {
				document = data
			}
			var answer struct {
				ID    any
				Error struct {
					Code    int64
					Message string
				}
			}
			if err := json.Unmarshal([]byte(document), &answer); err != nil || answer.Error.Code != want.code || answer.ID != want.id || answer.Error.Message == "" {
				t.Errorf("%s %v: %d %s %s %v", message, headers, status, header.Get("Content-Type"), body, err)
			}
			if regexp.MustCompile(`(?i)unmarshal|\bgo\b|struct|\*mcp|jsonrpc2|float64|interface`).MatchString(body) {
				t.Errorf("%s: %s", message, body)
			}
		}
	}
	unknown := `{"jsonrpc":"2.0","id":7,"method":"zz/y","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28"}}}`
	status, _, body := post(t, s, request(t, t.Context(), s, token, unknown, "Mcp-Protocol-Version", "2026-07-28"))
	if want := `{"jsonrpc":"2.0","id":7,"error":{"code":-32601,"message":"there is no such method"}}`; status != http.StatusNotFound || body != want {
		t.Errorf("%d %s", status, body)
	}
	for _, id := range []string{"9007199254740992", "-9007199254740992", "1790000000000000"} { // the last counts microseconds, as clients do
		ping := `{"jsonrpc":"2.0","id":` + id + `,"method":"ping"}`
		if status, _, body := post(t, s, request(t, t.Context(), s, token, ping, "Mcp-Protocol-Version", "2025-11-25")); status != http.StatusOK || !strings.Contains(body, `"id":`+id) {
			t.Errorf("%s: %d %s", ping, status, body)
		}
	}
	for _, notification := range []string{`{"jsonrpc":"2.0","method":"notifications/initialized"}`, `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":7}}`,
		`{"jsonrpc":"2.0","method":"notifications/of/times/to/come","params":{"a":1}}`, `{"jsonrpc":"2.0","method":"zz/y"}`} {
		if status, _, body := post(t, s, request(t, t.Context(), s, token, notification, "Mcp-Protocol-Version", "2025-11-25")); status != http.StatusAccepted {
			t.Errorf("%s: %d %s", notification, status, body)
		}
	}
}

// post posts a message and returns status, header and body.
func post(t *testing.T, s *apitest.Server, r *http.Request) (int, http.Header, string) {
	t.Helper()
	response, err := s.Client().Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = response.Body.Close() }()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	return response.StatusCode, response.Header, string(body)
}

const list = `{"jsonrpc":"2.0","id":1,"method":"tools/list"}`

func TestWhoMayCome(t *testing.T) {
	t.Parallel()
	s := apitest.Start(t, apitest.Options{})
	user := s.NewUser(t)
	token := user.Token
	for name, c := range map[string]struct {
		token   string
		headers []string
		status  int
		says    string
	}{
		"a token":                 {token, nil, 200, "simulate_circuit"},
		"nothing":                 {"", nil, 401, "unauthenticated"},
		"garbage":                 {"rk_pat_garbage", nil, 401, "invalid_token"},
		"a browser session":       {"", []string{"Cookie", user.Cookie}, 401, "unauthenticated"},
		"a page of another site":  {token, []string{"Origin", "https://evil.example"}, 403, "cross_origin"},
		"a sandboxed page":        {token, []string{"Origin", "null"}, 403, "cross_origin"},
		"a page of this machine":  {token, []string{"Origin", "http://localhost:6274"}, 200, "simulate_circuit"},
		"a session id of no one":  {token, []string{"Mcp-Session-Id", "1868a90c"}, 404, "no_such_mcp_session"},
		"no JSON":                 {token, []string{"Content-Type", "text/plain"}, 415, "unsupported_media_type"},
		"a revision of long ago":  {token, []string{"Mcp-Protocol-Version", "2024-11-05"}, 400, `-32022,"message":"the header MCP-Protocol-Version names a revision that is not served","data":{"supported":["2026-07-28",`},
		"a revision to come":      {token, []string{"Mcp-Protocol-Version", "2031-01-01"}, 400, `"requested":"2031-01-01"`},
		"no revision at all":      {token, []string{"Mcp-Protocol-Version", "x"}, 400, `"supported":["2026-07-28",`},
		"no streams":              {token, []string{"Accept", "application/json"}, 400, "Accept"},
		"of an interface to come": {token, []string{"API-Version", "2031-01"}, 400, "unsupported_version"},
	} {
		status, header, body := post(t, s, request(t, t.Context(), s, c.token, list, c.headers...))
		if status != c.status || !strings.Contains(body, c.says) || status == 401 && !strings.HasPrefix(header.Get("WWW-Authenticate"), "Bearer ") || status == 401 && !strings.Contains(header.Get("WWW-Authenticate"), `, scope="mcp"`) {
			t.Errorf("%s: %d %v %.300s", name, status, header, body)
		}
		if strings.Contains(body, token) {
			t.Errorf("%s: the answer repeats the token", name)
		}
	}
	rebound := request(t, t.Context(), s, token, list)
	rebound.Host = "evil.example"
	if status, _, body := post(t, s, rebound); status != 403 || !strings.Contains(body, "Host") {
		t.Errorf("another name of this machine: %d %s", status, body)
	}
	for message, says := range map[string]string{
		"[" + list + "]": "batches", `{"jsonrpc":"2.0","jsonrpc":"2.0","id":1,"method":"ping"}`: "twice", "7": "", `{"jsonrpc":"2.0"`: "cut short",
		`{"jsonrpc":"2.0","id":1,"method":"` + strings.Repeat("x", httpkit.MaxJSONBytes) + `"}`: "larger than",
	} {
		if status, _, body := post(t, s, request(t, t.Context(), s, token, message)); status < 400 || status >= 500 || !strings.Contains(body, says) {
			t.Errorf("%.60s: %d %s", message, status, body)
		}
	}
	for _, method := range []string{http.MethodGet, http.MethodDelete, http.MethodPut} {
		if a := user.Do(t, method, mcpapi.Path, ""); a.Status != 405 || a.Header.Get("Allow") != "OPTIONS, POST" {
			t.Errorf("%s: %d %v", method, a.Status, a.Header)
		}
	}
}

func TestAPublicAddress(t *testing.T) {
	t.Parallel()
	s := apitest.Start(t, apitest.Options{PublicURL: "https://reckon.example"})
	token := s.NewUser(t).Token
	for origin, want := range map[string]int{"https://reckon.example": 200, "https://reckon.example.evil.example": 403, "http://reckon.example": 403} {
		r := request(t, t.Context(), s, token, list, "Origin", origin)
		r.Host = "reckon.example" // as a proxy passes it on
		if status, _, body := post(t, s, r); status != want {
			t.Errorf("%s: %d %.200s", origin, status, body)
		}
	}
}

// TestARevokedTokenEndsTheSession: also calls that are waiting end, refused as the next request is (401), which tells the client to sign in.
func TestARevokedTokenEndsTheSession(t *testing.T) {
	t.Parallel()
	s := apitest.Start(t, apitest.Options{})
	eachRevision(t, func(t *testing.T, revision string) {
		user := s.NewUser(t)
		session := connect(t, s, user.Token, revision, nil)
		queued := called(t, session, "simulate_circuit", map[string]any{"circuit": json.RawMessage(bell), "wait_ms": 0})
		id := member(queued, "job_id").(string)
		waiting := make(chan error, 2)
		for tool, arguments := range map[string]map[string]any{"get_job": {"job_id": id, "wait_ms": 25000}, "evaluate": {"expression": "wait"}} {
			go func() {
				_, err := session.CallTool(t.Context(), &mcp.CallToolParams{Name: tool, Arguments: arguments})
				waiting <- err
			}()
		}
		until(t, func() string {
			return strings.Repeat("waits", min(s.Watched(id), s.Running.Running(user.ID)))
		})
		s.Do(t, http.MethodDelete, "/api/tokens/"+user.TokenID, "", "Cookie", user.Cookie).OK(t)
		for range 2 {
			if err := <-waiting; err == nil || !strings.Contains(err.Error(), "Unauthorized") {
				t.Errorf("a call that waited: %v", err)
			}
		}
		if _, err := session.CallTool(t.Context(), &mcp.CallToolParams{Name: "evaluate", Arguments: map[string]any{"expression": "1+1"}}); err == nil {
			t.Error("a revoked token evaluates")
		}
	})
}

// TestRefusals: what a route refuses is a tool's error with the route's code; what breaks the protocol is an error of it.
func TestRefusals(t *testing.T) {
	t.Parallel()
	s := apitest.Start(t, apitest.Options{})
	user, stranger := s.NewUser(t), s.NewUser(t)
	foreign := stranger.Evaluate(t, "1+1").OK(t).JSON["run_id"]
	eachRevision(t, func(t *testing.T, revision string) {
		session := connect(t, s, user.Token, revision, nil)
		for _, c := range []struct {
			tool      string
			arguments any
			code      string
		}{
			{"evaluate", nil, "expression_required"},
			{"evaluate", map[string]any{"expression": ""}, "expression_required"},
			{"evaluate", map[string]any{"input": "1+1"}, "unknown_field"},
			{"evaluate", map[string]any{"expression": "1+1", "session_id": "a b"}, "invalid_session_id"},
			{"evaluate", map[string]any{"expression": "While[True]"}, "budget_exhausted"},
			{"evaluate", map[string]any{"expression": "Quit[]"}, "engine_quit"},
			{"evaluate", map[string]any{"expression": "saturate"}, "saturated"},
			{"evaluate", map[string]any{"expression": 7}, "invalid_request"},
			{"evaluate", map[string]any{"expression": strings.Repeat("(", 5000)}, "expression_too_complex"},
			{"verify", map[string]any{"code": "1+1"}, "verify_input"},
			{"verify", map[string]any{"run_id": foreign}, "no_such_run"},
			{"simulate_circuit", map[string]any{}, "invalid_request"},
			{"simulate_circuit", map[string]any{"circuit": json.RawMessage(bell), "kind": "evaluate"}, "unknown_field"},
			{"simulate_circuit", map[string]any{"circuit": json.RawMessage(bell), "wait_ms": 25001}, "invalid_request"},
			{"simulate_circuit", map[string]any{"circuit": json.RawMessage(bell), "wait_ms": -1}, "invalid_request"},
			{"simulate_circuit", map[string]any{"circuit": json.RawMessage(`{"qubits":1,"gates":[{"gate":"quux","target":0}]}`)}, "malformed_circuit"},
			{"check_proof", map[string]any{"declarations": []string{"P"}}, "export_choice"},
			{"get_job", map[string]any{"job_id": "7c9e6679-7425-50de-944b-e07fc1f90ae7"}, "no_such_job"},
			{"get_job", map[string]any{"job_id": "../../auth/logout"}, "no_such_job"},
			{"get_job", map[string]any{}, "invalid_request"},
			{"get_job", map[string]any{"job_id": "7c9e6679-7425-50de-944b-e07fc1f90ae7", "more": true}, "invalid_request"},
		} {
			result := attempted(t, session, c.tool, c.arguments)
			if problem := problemOf(t, result); problem.Code != c.code || problem.Detail == "" {
				t.Errorf("%s %.200s: %+v", c.tool, mustJSON(t, c.arguments), problem)
			}
		}
		_, err := session.CallTool(t.Context(), &mcp.CallToolParams{Name: "no_such_tool"})
		if code := wireCode(err); code != jsonrpc.CodeInvalidParams {
			t.Errorf("an unknown tool: %v", err)
		}
		for _, uri := range []string{"reckon://receipts/999", "reckon://receipts/x", "reckon://receipts/" + string(mustJSON(t, foreign)), "reckon://plots/..%2Fhistory", "reckon://nothing", "reckon://jobs/%zz", "reckon://symbols/NoSuchThing", "file:///etc/passwd"} {
			if _, err := session.ReadResource(t.Context(), &mcp.ReadResourceParams{URI: uri}); err == nil {
				t.Errorf("%s is read", uri)
			}
		}
	})
}

func mustJSON(t *testing.T, v any) []byte {
	t.Helper()
	written, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return written
}

// wireCode is the code of a JSON-RPC error; 0 for another error.
func wireCode(err error) int64 {
	if wire, ok := errors.AsType[*jsonrpc.Error](err); ok {
		return wire.Code
	}
	return 0
}

// TestLimitsAreTheRoutes: calls count with requests over HTTP.
func TestLimitsAreTheRoutes(t *testing.T) {
	t.Parallel()
	plans := account.DefaultPlans()
	plans[0].PerMinute = 3
	s := apitest.Start(t, apitest.Options{Plans: plans})
	user := s.NewUser(t)
	session := connect(t, s, user.Token, "2025-06-18", nil)
	user.Evaluate(t, "1+1").OK(t)
	called(t, session, "evaluate", map[string]any{"expression": "1+1"})
	called(t, session, "verify", map[string]any{"code": "1+1", "result": "2"})
	result := attempted(t, session, "evaluate", map[string]any{"expression": "1+1"})
	if problem := problemOf(t, result); problem.Code != "rate_limited" || len(result.Content) != 2 || !strings.HasPrefix(result.Content[1].(*mcp.TextContent).Text, "Try again in ") {
		t.Errorf("%+v", result.Content)
	}
	user.Evaluate(t, "1+1").Want(t, httpkit.RateLimited)
}

// TestToolsAreTheRoutes: every tool has schemas of its own, without references outside them and, for what models send, without
// alternatives at the top, which models' interfaces refuse.
func TestToolsAreTheRoutes(t *testing.T) {
	t.Parallel()
	s := apitest.Start(t, apitest.Options{})
	session := connect(t, s, s.NewUser(t).Token, mcpapi.Revisions()[0], nil)
	var names []string
	for tool, err := range session.Tools(t.Context(), nil) {
		if err != nil {
			t.Fatal(err)
		}
		names = append(names, tool.Name)
		input := tool.InputSchema.(map[string]any)
		for _, keyword := range []string{"oneOf", "anyOf", "allOf"} {
			if input[keyword] != nil {
				t.Errorf("%s: %s at the top of the input", tool.Name, keyword)
			}
		}
		for _, schema := range []any{tool.InputSchema, tool.OutputSchema} {
			written := mustJSON(t, schema)
			for _, m := range regexp.MustCompile(`"\$ref":"([^"]*)"`).FindAllSubmatch(written, -1) {
				if !strings.HasPrefix(string(m[1]), "#/$defs/") {
					t.Errorf("%s refers to %s", tool.Name, m[1])
				}
			}
			if err := validate(t, schema, 7); err == nil {
				t.Errorf("%s: a schema that refuses nothing: %s", tool.Name, written)
			}
		}
		if tool.Description == "" || tool.Title == "" || tool.Annotations == nil {
			t.Errorf("%+v", tool)
		}
	}
	slices.Sort(names)
	if want := []string{"check_proof", "evaluate", "get_job", "lookup_symbol", "simulate_circuit", "verify"}; !slices.Equal(names, want) {
		t.Errorf("%v", names)
	}
	good := map[string]any{
		"evaluate": map[string]any{"expression": "1+1", "session_id": nil}, "verify": map[string]any{"run_id": 7.0}, "get_job": map[string]any{"job_id": "7c9e6679-7425-50de-944b-e07fc1f90ae7"},
		"simulate_circuit": map[string]any{"circuit": decode(t, bell)}, "check_proof": map[string]any{"declarations": []any{"P"}, "source": "theorem P : True := trivial"}, "lookup_symbol": map[string]any{"name": "Sin"},
	}
	for tool, err := range session.Tools(t.Context(), nil) {
		if err != nil {
			t.Fatal(err)
		}
		if err := validate(t, tool.InputSchema, good[tool.Name]); err != nil {
			t.Errorf("%s refuses %v: %v", tool.Name, good[tool.Name], err)
		}
	}
}

func decode(t *testing.T, text string) (v any) {
	t.Helper()
	if err := json.Unmarshal([]byte(text), &v); err != nil {
		t.Fatal(err)
	}
	return v
}

func TestPrompts(t *testing.T) {
	t.Parallel()
	s := apitest.Start(t, apitest.Options{})
	eachRevision(t, func(t *testing.T, revision string) {
		session := connect(t, s, s.NewUser(t).Token, revision, nil)
		for name, arguments := range map[string]map[string]string{
			"check_this_answer": {"expression": "1+1", "answer": "3"}, "simulate_and_explain": {"circuit": "a Bell pair"}, "check_this_proof": {"declarations": "P", "source": "theorem P : True := trivial"},
		} {
			result, err := session.GetPrompt(t.Context(), &mcp.GetPromptParams{Name: name, Arguments: arguments})
			if err != nil || len(result.Messages) != 1 {
				t.Fatalf("%s: %v", name, err)
			}
			text := result.Messages[0].Content.(*mcp.TextContent).Text
			for _, given := range arguments {
				if !strings.Contains(text, given) {
					t.Errorf("%s lacks %q:\n%s", name, given, text)
				}
			}
			named := 0
			for _, tool := range mcpapi.Tools() {
				named += strings.Count(text, tool.Name)
			}
			if named == 0 {
				t.Errorf("%s names no tool:\n%s", name, text)
			}
			for _, wrong := range []map[string]string{nil, {"declarations": strings.Repeat("a", 1<<17), "expression": strings.Repeat("a", 1<<17), "answer": "1", "circuit": strings.Repeat("a", 1<<17)}} {
				if _, err := session.GetPrompt(t.Context(), &mcp.GetPromptParams{Name: name, Arguments: wrong}); wireCode(err) != jsonrpc.CodeInvalidParams {
					t.Errorf("%s: %v", name, err)
				}
			}
		}
	})
}

// TestNoticesOfLists: nothing changes while a process runs, so that no client is kept waiting for a change.
func TestNoticesOfLists(t *testing.T) {
	t.Parallel()
	s := apitest.Start(t, apitest.Options{})
	meta := `"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}`
	status, _, body := post(t, s, request(t, t.Context(), s, s.NewUser(t).Token, `{"jsonrpc":"2.0","id":1,"method":"subscriptions/listen","params":{`+meta+`,"notifications":{"toolsListChanged":true}}}`,
		"Mcp-Protocol-Version", "2026-07-28", "Mcp-Method", "subscriptions/listen"))
	if status != 200 || !strings.Contains(body, `"result"`) {
		t.Errorf("%d %s", status, body)
	}
}
