package cluster_test

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"reckon/commands"
	"reckon/domain/event"
	"reckon/domain/run"
	"reckon/internal/httpserver"
	"reckon/internal/httpserver/httpservertest"
	"reckon/runners/cluster"
)

// owner is the process that owns every session, reached over HTTP.
func owner(t *testing.T, secret string, local cluster.EvaluateFunc) (address string) {
	server := httpservertest.Start(t, cluster.NewPeers([]byte(secret), local), httpserver.ProcessLimits())
	return strings.TrimPrefix(server.URL, "http://")
}

func elsewhere(address string) cluster.EvaluateFunc {
	return func(context.Context, commands.Intent, commands.Evaluate) (commands.Evaluation, error) {
		return commands.Evaluation{}, &commands.SessionElsewhereError{Owner: "o", Address: address}
	}
}

func TestForwardedAnswersAndErrors(t *testing.T) {
	answer := commands.Evaluation{RunID: 7, Result: "6", Stdout: "o\n", Run: run.Evaluated{Status: run.Success, Warnings: []string{"w"}}, Position: event.Position{Commit: 9, Prepare: 9}}
	ended := func(cause error) error {
		return &commands.RunEndedError{RunID: 7, Position: event.Position{Commit: 9, Prepare: 9}, Cause: cause}
	}
	for _, want := range []error{
		nil, ended(commands.ErrBudgetExhausted), ended(&commands.EngineFailedError{Reason: "memory", Detail: "d"}),
		commands.ErrTooManySessions, commands.ErrSaturated, commands.ErrUnavailable, errors.New("another"),
	} {
		var asked commands.Evaluate
		var by commands.Intent
		address := owner(t, "s", func(_ context.Context, in commands.Intent, c commands.Evaluate) (commands.Evaluation, error) {
			asked, by = c, in
			if want != nil {
				return commands.Evaluation{}, want
			}
			return answer, nil
		})
		in := commands.Intent{ID: uuid.New(), Account: "a", Actor: "token:t"}
		c := commands.Evaluate{Expression: "x + 1\x00 ü", SessionID: "notebook"}
		got, err := cluster.NewPeers([]byte("s"), elsewhere(address)).Evaluate(t.Context(), in, c)
		switch {
		case !reflect.DeepEqual(asked, c) || by.ID != in.ID || by.Account != "a" || by.Actor != "token:t":
			t.Errorf("asked %+v by %+v", asked, by)
		case want == nil && (err != nil || !reflect.DeepEqual(got, answer)):
			t.Errorf("answered %+v, %v", got, err)
		case want != nil && (err == nil || !strings.Contains(err.Error(), want.Error())):
			t.Errorf("error %v, want %v", err, want)
		}
		var endedAs *commands.RunEndedError
		if errors.As(want, &endedAs) {
			if !reflect.DeepEqual(err, want) {
				t.Errorf("error %#v, want %#v", err, want)
			}
			continue
		}
		for _, typed := range []error{commands.ErrTooManySessions, commands.ErrSaturated, commands.ErrUnavailable} {
			if errors.Is(want, typed) != errors.Is(err, typed) {
				t.Errorf("%v came as %v", want, err)
			}
		}
	}
}

// TestOwnerThatIsGone: the caller waits until the session is free and evaluates itself.
func TestOwnerThatIsGone(t *testing.T) {
	gone := httptest.NewServer(http.NotFoundHandler())
	address := strings.TrimPrefix(gone.URL, "http://")
	gone.Close()
	asked := 0
	p := cluster.NewPeers([]byte("s"), func(ctx context.Context, in commands.Intent, c commands.Evaluate) (commands.Evaluation, error) {
		if asked++; asked == 1 {
			return elsewhere(address)(ctx, in, c)
		}
		return commands.Evaluation{Result: "fresh"}, nil
	})
	if got, err := p.Evaluate(t.Context(), commands.Intent{}, commands.Evaluate{}); err != nil || got.Result != "fresh" {
		t.Errorf("%+v, %v", got, err)
	}
}

func TestOnlyPeersAreAnswered(t *testing.T) {
	address := owner(t, "one secret", func(context.Context, commands.Intent, commands.Evaluate) (commands.Evaluation, error) {
		t.Error("a stranger was answered")
		return commands.Evaluation{}, nil
	})
	stranger := cluster.NewPeers([]byte("another secret"), elsewhere(address))
	if _, err := stranger.Evaluate(t.Context(), commands.Intent{}, commands.Evaluate{}); !errors.Is(err, commands.ErrUnavailable) {
		t.Errorf("a stranger is told %v", err)
	}
	for _, body := range []string{"", "{}", "\xff", strings.Repeat("x", 1<<20)} {
		response, err := http.Post("http://"+address+"/evaluate", "application/json", bytes.NewBufferString(body))
		if err != nil {
			t.Fatal(err)
		}
		if err := response.Body.Close(); err != nil {
			t.Fatal(err)
		}
		if response.StatusCode != http.StatusForbidden {
			t.Errorf("unsigned: %s", response.Status)
		}
	}
	// Of a stranger's body no byte is read: the answer does not wait for it.
	for _, head := range []string{
		"Content-Length: 8000000\r\n\r\n", "Content-Length: 9000000000\r\n\r\n", "Transfer-Encoding: chunked\r\n\r\n",
		"Content-Length: 8000000\r\nX-Reckon-Body: " + strings.Repeat("0", 64) + "\r\nX-Reckon-Peer: " + strings.Repeat("0", 64) + "\r\n\r\n",
	} {
		c, err := net.Dial("tcp", address)
		if err != nil {
			t.Fatal(err)
		}
		_, _ = io.WriteString(c, "POST /evaluate HTTP/1.1\r\nHost: x\r\n"+head)
		response, err := http.ReadResponse(bufio.NewReader(c), nil)
		if err != nil || response.StatusCode != http.StatusForbidden && response.StatusCode != http.StatusRequestEntityTooLarge || !response.Close {
			t.Errorf("%q: %v %v", head, response, err)
		}
		_ = c.Close()
	}
	// A server that is no peer is not believed.
	impostor := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = w.Write([]byte(`{"Evaluation":{"Result":"forged"}}`))
	}))
	defer impostor.Close()
	p := cluster.NewPeers([]byte("s"), elsewhere(strings.TrimPrefix(impostor.URL, "http://")))
	if got, err := p.Evaluate(t.Context(), commands.Intent{}, commands.Evaluate{}); err == nil {
		t.Errorf("a forged answer was believed: %+v", got)
	}
}

// TestSealedBodies: the seal of one body is no other's, of no other length and of no answer.
func TestSealedBodies(t *testing.T) {
	var heard *http.Request
	var body []byte
	spy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		heard = r.Clone(context.Background())
		body, _ = io.ReadAll(r.Body)
		http.Error(w, "", http.StatusTeapot)
	}))
	defer spy.Close()
	_, err := cluster.NewPeers([]byte("s"), elsewhere(strings.TrimPrefix(spy.URL, "http://"))).Evaluate(t.Context(), commands.Intent{}, commands.Evaluate{Expression: "1+1"})
	if err == nil || heard == nil {
		t.Fatal(err)
	}
	evaluated := 0
	address := owner(t, "s", func(context.Context, commands.Intent, commands.Evaluate) (commands.Evaluation, error) {
		evaluated++
		return commands.Evaluation{}, nil
	})
	send := func(body []byte, digest string) int {
		t.Helper()
		request, err := http.NewRequest(http.MethodPost, "http://"+address+"/evaluate", bytes.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		request.Header.Set("X-Reckon-Peer", heard.Header.Get("X-Reckon-Peer"))
		request.Header.Set("X-Reckon-Body", digest)
		response, err := http.DefaultClient.Do(request)
		if err != nil {
			t.Fatal(err)
		}
		_ = response.Body.Close()
		return response.StatusCode
	}
	other := bytes.Replace(body, []byte("1+1"), []byte("2+2"), 1)
	sum := sha256.Sum256(other)
	for name, status := range map[string]int{
		"another body":                send(other, heard.Header.Get("X-Reckon-Body")),
		"another body and its digest": send(other, hex.EncodeToString(sum[:])),
		"a longer body":               send(append(body, ' '), heard.Header.Get("X-Reckon-Body")),
		"a shorter body":              send(body[:len(body)-1], heard.Header.Get("X-Reckon-Body")),
	} {
		if status != http.StatusForbidden {
			t.Errorf("%s: %d", name, status)
		}
	}
	if status := send(body, heard.Header.Get("X-Reckon-Body")); status != http.StatusOK || evaluated != 1 {
		t.Errorf("the sealed body: %d, evaluated %d times", status, evaluated)
	}
}

// TestACallerWhoGoesAwayIsNoticedByTheOwner: the evaluation ends where it runs.
func TestACallerWhoGoesAwayIsNoticedByTheOwner(t *testing.T) {
	arrived, ended := make(chan struct{}), make(chan error, 1)
	address := owner(t, "s", func(ctx context.Context, _ commands.Intent, _ commands.Evaluate) (commands.Evaluation, error) {
		close(arrived)
		<-ctx.Done()
		ended <- ctx.Err()
		return commands.Evaluation{}, ctx.Err()
	})
	ctx, leave := context.WithCancel(t.Context())
	left := make(chan error, 1)
	go func() {
		_, err := cluster.NewPeers([]byte("s"), elsewhere(address)).Evaluate(ctx, commands.Intent{}, commands.Evaluate{})
		left <- err
	}()
	<-arrived
	leave()
	if err := <-ended; !errors.Is(err, context.Canceled) {
		t.Errorf("at the owner: %v", err)
	}
	if err := <-left; !errors.Is(err, context.Canceled) {
		t.Errorf("where it was asked: %v", err)
	}
}

// TestWhenAWorkerComesFreeIsForwarded with the refusal.
func TestWhenAWorkerComesFreeIsForwarded(t *testing.T) {
	address := owner(t, "s", func(context.Context, commands.Intent, commands.Evaluate) (commands.Evaluation, error) {
		return commands.Evaluation{}, &commands.SaturatedError{RetryAfter: 7 * time.Second}
	})
	_, err := cluster.NewPeers([]byte("s"), elsewhere(address)).Evaluate(t.Context(), commands.Intent{}, commands.Evaluate{})
	if late, is := errors.AsType[*commands.SaturatedError](err); !is || late.RetryAfter != 7*time.Second {
		t.Errorf("%v", err)
	}
}
