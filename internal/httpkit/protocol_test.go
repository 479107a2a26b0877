package httpkit_test

import (
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"reckon/domain/event"
	"reckon/internal/httpkit"
	"reckon/internal/httpserver"
	"reckon/internal/httpserver/httpservertest"
)

type whoOutput struct {
	Body struct{ Source, Agent, Address, Auth string }
}

// TestServeFor: a request that a protocol makes for its caller is admitted, refused and answered as over HTTP.
func TestServeFor(t *testing.T) {
	t.Parallel()
	api := httpkit.New(httpkit.Settings{Logger: slog.New(slog.DiscardHandler), Authenticator: open{}, Access: rules})
	httpkit.Handle(api, httpkit.Route{Method: http.MethodGet, Path: "/mine", ID: "mine", Tag: "test"},
		func(ctx context.Context, _ *struct{}) (*whoOutput, error) {
			request, out := httpkit.RequestOf(ctx), &whoOutput{}
			out.Body.Source, out.Body.Agent, out.Body.Address = string(request.Source), request.Agent, request.Address
			return out, nil
		})
	httpkit.Handle(api, httpkit.Route{Method: http.MethodPost, Path: "/mine/echo", ID: "echo", Tag: "test"},
		func(_ context.Context, in *echoInput) (*echoOutput, error) {
			if in.Body.Expression == "panic" {
				panic("as asked")
			}
			return &echoOutput{}, nil
		})
	protocol := httpkit.Route{Method: http.MethodPost, Path: "/protocol"}
	api.HandleProtocol(protocol, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var asked struct{ Method, Target, Body string }
		if err := json.NewDecoder(r.Body).Decode(&asked); err != nil {
			t.Error(err)
		}
		var body []byte
		if asked.Body != "" {
			body = []byte(asked.Body)
		}
		reply := api.ServeFor(r.Context(), httpkit.Delegation{Of: r, Route: protocol, Source: event.SourceMCP, Agent: "lab\n/1"}, asked.Method, asked.Target, body)
		w.WriteHeader(reply.Status)
		_, _ = w.Write(reply.Body)
	}), api.WriteProblem)
	s := httpservertest.Start(t, api, httpserver.ClientLimits())
	ask := func(message string, headers ...string) (int, string) {
		r, err := http.NewRequest(http.MethodPost, s.URL+"/protocol", strings.NewReader(message))
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Content-Type", "application/json")
		for i := 0; i < len(headers); i += 2 {
			r.Header.Set(headers[i], headers[i+1])
		}
		response, err := s.Client().Do(r)
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = response.Body.Close() }()
		body, err := io.ReadAll(response.Body)
		if err != nil {
			t.Fatal(err)
		}
		return response.StatusCode, string(body)
	}
	for message, want := range map[string]struct {
		status int
		says   string
	}{
		`{"method":"GET","target":"/mine"}`:                                                    {200, `"Source":"mcp","Agent":"lab/1","Address":"127.0.0.1"`},
		`{"method":"POST","target":"/mine/echo","body":"{\"expression\":\"1+1\"}"}`:            {200, ""},
		`{"method":"POST","target":"/mine/echo","body":"{\"input\":\"1+1\"}"}`:                 {400, "unknown_field"},
		`{"method":"POST","target":"/mine/echo","body":"{\"expression\":1,\"expression\":2}"}`: {400, "invalid_json"},
		`{"method":"POST","target":"/mine/echo","body":"{\"expression\":\"panic\"}"}`:          {500, "internal"},
		`{"method":"POST","target":"/mine/echo"}`:                                              {400, "body_required"},
		`{"method":"GET","target":"/nowhere"}`:                                                 {404, "no_such_route"},
		`{"method":"GET","target":"/mine?x=1"}`:                                                {400, "invalid_parameter"},
		`{"method":"GET","target":"/mine?%zz"}`:                                                {400, "invalid_parameter"},
		`{"method":"no method","target":"/mine"}`:                                              {500, "internal"},
		`{"method":"GET","method":"GET","target":"/mine"}`:                                     {400, "invalid_json"},
		`{"method":"POST","target":"/` + strings.Repeat("x", httpkit.MaxJSONBytes) + `"}`:      {413, "body_too_large"},
	} {
		status, body := ask(message, "Authorization", "Bearer x")
		if status != want.status || !strings.Contains(body, want.says) {
			t.Errorf("%.100s: %d %s", message, status, body)
		}
	}
	if status, body := ask(`{}`); status != http.StatusUnauthorized {
		t.Errorf("without a token: %d %s", status, body)
	}
	if status, body := ask(`{}`, "Cookie", "reckon=x"); status != http.StatusUnauthorized {
		t.Errorf("with a browser session: %d %s", status, body)
	}
}

// TestPagesAskRoutes: a page asks with the credential of its own request, and one that was only opened can ask for nothing that writes.
func TestPagesAskRoutes(t *testing.T) {
	t.Parallel()
	api := httpkit.New(httpkit.Settings{Logger: slog.New(slog.DiscardHandler), Authenticator: open{}, Access: rules})
	httpkit.Handle(api, httpkit.Route{Method: http.MethodGet, Path: "/mine", ID: "mine", Tag: "test"},
		func(context.Context, *struct{}) (*whoOutput, error) { return &whoOutput{}, nil })
	httpkit.Handle(api, httpkit.Route{Method: http.MethodPost, Path: "/mine/echo", ID: "echo", Tag: "test"},
		func(context.Context, *echoInput) (*echoOutput, error) { return &echoOutput{}, nil })
	for _, c := range []struct {
		page, asks, target, body, credential string
		status                               int
	}{
		{http.MethodGet, http.MethodGet, "/mine", "", "Bearer x", http.StatusOK},
		{http.MethodGet, http.MethodGet, "/mine", "", "", http.StatusUnauthorized},
		{http.MethodPost, http.MethodPost, "/mine/echo", `{"expression":"1+1"}`, "Bearer x", http.StatusOK},
		{http.MethodPost, http.MethodPost, "/mine/echo", `{"expression":"1+1"}`, "", http.StatusUnauthorized},
		{http.MethodGet, http.MethodPost, "/mine/echo", `{"expression":"1+1"}`, "Bearer x", http.StatusInternalServerError},
		{http.MethodHead, http.MethodDelete, "/mine", "", "Bearer x", http.StatusInternalServerError},
	} {
		page := httptest.NewRequest(c.page, "/", nil)
		if c.credential != "" {
			page.Header.Set("Authorization", c.credential)
		}
		var body []byte
		if c.body != "" {
			body = []byte(c.body)
		}
		if reply := api.ServeFor(t.Context(), httpkit.Delegation{Of: page, Source: event.SourceWeb}, c.asks, c.target, body); reply.Status != c.status {
			t.Errorf("%s for a %s with %q: %d %s", c.asks, c.page, c.credential, reply.Status, reply.Body)
		}
	}
}
