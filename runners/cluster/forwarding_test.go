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
	"reckon/domain/receipt"
	"reckon/domain/run"
	"reckon/internal/httpserver"
	"reckon/internal/httpserver/httpservertest"
	"reckon/runners/cluster"
)

// peers are the peers of a process for which no other one ever dies.
func peers(process, secret string, local cluster.EvaluateFunc) *cluster.Peers {
	return cluster.NewPeers(cluster.PeersConfig{
		Process: process, Secret: []byte(secret), Local: local, Now: time.Now,
		WaitUntilDead: func(ctx context.Context, _ string) error { <-ctx.Done(); return ctx.Err() },
	})
}

// owner is the process "o" that owns every session, reached over HTTP.
func owner(t *testing.T, secret string, local cluster.EvaluateFunc) (address string) {
	server := httpservertest.Start(t, peers("o", secret, local), httpserver.ProcessLimits())
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
		commands.ErrTooManySessions, commands.ErrSaturated, commands.ErrUnavailable, receipt.ErrCannotSign, errors.New("another"),
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
		got, err := peers("caller", "s", elsewhere(address)).Evaluate(t.Context(), in, c)
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
		for _, typed := range []error{commands.ErrTooManySessions, commands.ErrSaturated, commands.ErrUnavailable, receipt.ErrCannotSign} {
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
	p := peers("caller", "s", func(ctx context.Context, in commands.Intent, c commands.Evaluate) (commands.Evaluation, error) {
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
	stranger := peers("caller", "another secret", elsewhere(address))
	if _, err := stranger.Evaluate(t.Context(), commands.Intent{}, commands.Evaluate{}); !errors.Is(err, commands.ErrSessionOwnerAway) || errors.Is(err, commands.ErrUnavailable) {
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
	p := peers("caller", "s", elsewhere(strings.TrimPrefix(impostor.URL, "http://")))
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
	_, err := peers("caller", "s", elsewhere(strings.TrimPrefix(spy.URL, "http://"))).Evaluate(t.Context(), commands.Intent{}, commands.Evaluate{Expression: "1+1"})
	if err == nil || heard == nil {
		t.Fatal(err)
	}
	evaluated := 0
	at := time.Now()
	local := func(context.Context, commands.Intent, commands.Evaluate) (commands.Evaluation, error) {
		evaluated++
		return commands.Evaluation{}, nil
	}
	process := func(name string) string {
		p := peers(name, "s", local)
		p.Now = func() time.Time { return at }
		return strings.TrimPrefix(httpservertest.Start(t, p, httpserver.ProcessLimits()).URL, "http://")
	}
	address, another := process("o"), process("p")
	send := func(address string, body []byte, changed map[string]string) int {
		t.Helper()
		request, err := http.NewRequest(http.MethodPost, "http://"+address+"/evaluate", bytes.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range []string{"Peer", "Body", "To", "Sent", "Nonce"} {
			request.Header.Set("X-Reckon-"+name, heard.Header.Get("X-Reckon-"+name))
		}
		for name, value := range changed {
			request.Header.Set(name, value)
		}
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
		"another body":                send(address, other, nil),
		"another body and its digest": send(address, other, map[string]string{"X-Reckon-Body": hex.EncodeToString(sum[:])}),
		"a longer body":               send(address, append(body, ' '), nil),
		"a shorter body":              send(address, body[:len(body)-1], nil),
		"another time":                send(address, body, map[string]string{"X-Reckon-Sent": "1"}),
		"another nonce":               send(address, body, map[string]string{"X-Reckon-Nonce": strings.Repeat("0", 32)}),
		"no nonce":                    send(address, body, map[string]string{"X-Reckon-Nonce": ""}),
		"another receiver's name":     send(another, body, map[string]string{"X-Reckon-To": "p"}),
	} {
		if status != http.StatusForbidden {
			t.Errorf("%s: %d", name, status)
		}
	}
	if status := send(another, body, nil); status != http.StatusMisdirectedRequest {
		t.Errorf("another receiver: %d", status)
	}
	for _, late := range []time.Duration{2 * time.Minute, -2 * time.Minute} {
		at = time.Now().Add(late)
		if status := send(address, body, nil); status != http.StatusBadRequest {
			t.Errorf("received %v after it was sent: %d", late, status)
		}
	}
	at = time.Now()
	if status := send(address, body, nil); status != http.StatusOK || evaluated != 1 {
		t.Errorf("the sealed body: %d, evaluated %d times", status, evaluated)
	}
	for _, later := range []time.Duration{0, 59 * time.Second} { // as long as its time is accepted
		at = time.Now().Add(later)
		if status := send(address, body, nil); status != http.StatusConflict || evaluated != 1 {
			t.Errorf("the sealed body again after %v: %d, evaluated %d times", later, status, evaluated)
		}
	}
}

// TestAnswersAreOfTheirRequest: the answer to one request is not believed as that to another.
func TestAnswersAreOfTheirRequest(t *testing.T) {
	real := peers("o", "s", func(context.Context, commands.Intent, commands.Evaluate) (commands.Evaluation, error) {
		return commands.Evaluation{Result: "2"}, nil
	})
	var first *httptest.ResponseRecorder
	replaying := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if first == nil {
			first = httptest.NewRecorder()
			real.ServeHTTP(first, r)
		}
		for name, values := range first.Header() {
			w.Header()[name] = values
		}
		_, _ = w.Write(first.Body.Bytes())
	}))
	defer replaying.Close()
	caller := peers("caller", "s", elsewhere(strings.TrimPrefix(replaying.URL, "http://")))
	if got, err := caller.Evaluate(t.Context(), commands.Intent{}, commands.Evaluate{}); err != nil || got.Result != "2" {
		t.Fatalf("%+v, %v", got, err)
	}
	if got, err := caller.Evaluate(t.Context(), commands.Intent{}, commands.Evaluate{}); !errors.Is(err, commands.ErrSessionOwnerAway) {
		t.Errorf("an old answer was believed: %+v, %v", got, err)
	}
}

// TestForwardingEndsWithTheLease: an owner that received the request and says nothing is given
// up once it counts as dead, and what it would have evaluated is cancelled.
func TestForwardingEndsWithTheLease(t *testing.T) {
	reached, cancelled := make(chan struct{}), make(chan struct{})
	address := owner(t, "s", func(ctx context.Context, _ commands.Intent, _ commands.Evaluate) (commands.Evaluation, error) {
		close(reached)
		<-ctx.Done()
		close(cancelled)
		return commands.Evaluation{}, ctx.Err()
	})
	asked := 0
	p := peers("caller", "s", func(ctx context.Context, in commands.Intent, c commands.Evaluate) (commands.Evaluation, error) {
		if asked++; asked == 1 {
			return elsewhere(address)(ctx, in, c)
		}
		return commands.Evaluation{Result: "fresh"}, nil
	})
	p.WaitUntilDead = func(ctx context.Context, process string) error {
		if process != "o" {
			t.Errorf("waits for %s", process)
		}
		<-reached
		return nil
	}
	if got, err := p.Evaluate(t.Context(), commands.Intent{}, commands.Evaluate{}); err != nil || got.Result != "fresh" {
		t.Errorf("%+v, %v", got, err)
	}
	<-cancelled
}

// TestAnswerThatIsLost: a live owner evaluates once, however often it is asked, and the caller is
// told which part did not answer.
func TestAnswerThatIsLost(t *testing.T) {
	evaluated := 0
	real := peers("o", "s", func(context.Context, commands.Intent, commands.Evaluate) (commands.Evaluation, error) {
		evaluated++
		return commands.Evaluation{}, nil
	})
	asked := 0
	cut := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if asked++; asked == 1 {
			real.ServeHTTP(httptest.NewRecorder(), r)
			panic(http.ErrAbortHandler) // the connection breaks before the answer
		}
		real.ServeHTTP(w, r)
	}))
	defer cut.Close()
	_, err := peers("caller", "s", elsewhere(strings.TrimPrefix(cut.URL, "http://"))).Evaluate(t.Context(), commands.Intent{}, commands.Evaluate{})
	var away *commands.SessionOwnerError
	if !errors.As(err, &away) || away.Owner != "o" || !errors.Is(err, commands.ErrSessionOwnerAway) || errors.Is(err, commands.ErrUnavailable) {
		t.Errorf("%v", err)
	}
	if evaluated != 1 || asked != 2 {
		t.Errorf("evaluated %d times of %d", evaluated, asked)
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
		_, err := peers("p", "s", elsewhere(address)).Evaluate(ctx, commands.Intent{}, commands.Evaluate{})
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
	_, err := peers("p", "s", elsewhere(address)).Evaluate(t.Context(), commands.Intent{}, commands.Evaluate{})
	if late, is := errors.AsType[*commands.SaturatedError](err); !is || late.RetryAfter != 7*time.Second {
		t.Errorf("%v", err)
	}
}
