package cluster_test

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"reflect"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"

	"reckon/commands"
	"reckon/domain/event"
	"reckon/domain/receipt"
	"reckon/domain/run"
	"reckon/internal/httpserver"
	"reckon/runners/cluster"
	"reckon/test/proxy"
	"reckon/test/wait"
)

// peers are the peers of a process for which no other one ever dies.
func peers(process, secret string, local cluster.EvaluateFunc) *cluster.Peers {
	p, err := cluster.NewPeers(cluster.PeersConfig{
		Process: process, Secret: []byte(secret), Local: local, Now: time.Now,
		WaitUntilDead: func(ctx context.Context, _ string) error { <-ctx.Done(); return ctx.Err() },
	})
	if err != nil {
		panic(err) // only where crypto/rand fails
	}
	return p
}

// owner is the process "o" that owns every session, reached over the network.
func owner(t *testing.T, secret string, local cluster.EvaluateFunc) (address string) {
	p := peers("o", secret, local)
	return served(t, p, p.Listener)
}

// served serves as the service does, through secure, until the test ends.
func served(t *testing.T, handler http.Handler, secure func(net.Listener) net.Listener) (address string) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	server := httpserver.New(handler, httpserver.ProcessLimits(), slog.New(slog.DiscardHandler))
	ended := make(chan error, 1)
	go func() { ended <- server.Serve(secure(l)) }()
	t.Cleanup(func() {
		_ = server.Close()
		if err := <-ended; !errors.Is(err, http.ErrServerClosed) {
			t.Error(err)
		}
	})
	return l.Addr().String()
}

func elsewhere(address string) cluster.EvaluateFunc {
	return func(context.Context, commands.Intent, commands.Evaluate) (commands.Evaluation, error) {
		return commands.Evaluation{}, &commands.SessionElsewhereError{Owner: "o", Address: address}
	}
}

func TestForwardedAnswersAndErrors(t *testing.T) {
	t.Parallel()
	answer := commands.Evaluation{RunID: 7, Result: "6", Stdout: "o\n", Run: run.Evaluated{Status: run.Success, Warnings: []string{"w"}}, Position: event.Position{Commit: 9, Prepare: 9}}
	ended := func(cause error) error {
		return &commands.RunEndedError{RunID: 7, Position: event.Position{Commit: 9, Prepare: 9}, Cause: cause}
	}
	for _, want := range []error{
		nil, ended(commands.ErrBudgetExhausted), ended(&commands.EngineFailedError{Reason: "memory", Detail: "d"}),
		commands.ErrTooManySessions, commands.ErrSaturated, commands.ErrUnavailable, receipt.ErrCannotSign, commands.ErrEngineLost, errors.New("another"),
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
		for _, typed := range []error{commands.ErrTooManySessions, commands.ErrSaturated, commands.ErrUnavailable, receipt.ErrCannotSign, commands.ErrEngineLost} {
			if errors.Is(want, typed) != errors.Is(err, typed) {
				t.Errorf("%v came as %v", want, err)
			}
		}
	}
}

// TestOwnerThatIsGone: the caller waits until the session is free and evaluates itself.
func TestOwnerThatIsGone(t *testing.T) {
	t.Parallel()
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

// TestAnOwnerThatIsNotReachedHasEvaluatedNothing: where no connection was made until the caller gives up, the evaluation did not run, and that is said.
func TestAnOwnerThatIsNotReachedHasEvaluatedNothing(t *testing.T) {
	t.Parallel()
	gone := httptest.NewServer(http.NotFoundHandler())
	address := strings.TrimPrefix(gone.URL, "http://")
	gone.Close()
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	_, err := peers("caller", "s", elsewhere(address)).Evaluate(ctx, commands.Intent{}, commands.Evaluate{})
	if !errors.Is(err, commands.ErrSessionOwnerUnreached) || errors.Is(err, commands.ErrSessionOwnerAway) {
		t.Errorf("%v", err)
	}
}

// TestOnlyPeersAreAnswered: neither is a request of one who does not know the secret read, nor an answer of one believed.
func TestOnlyPeersAreAnswered(t *testing.T) {
	t.Parallel()
	forged := cluster.EvaluateFunc(func(context.Context, commands.Intent, commands.Evaluate) (commands.Evaluation, error) {
		t.Error("a stranger was answered")
		return commands.Evaluation{Result: "forged"}, nil
	})
	right, other := owner(t, "one secret", forged), owner(t, "another secret", forged)
	plain := served(t, peers("o", "one secret", forged), func(l net.Listener) net.Listener { return l })
	public := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = w.Write([]byte(`{"Evaluation":{"Result":"forged"}}`))
	}))
	defer public.Close()
	for name, at := range map[string]struct{ secret, address string }{
		"another secret's client": {"another secret", right}, "another secret's server": {"one secret", other},
		"a server without TLS": {"one secret", plain}, "a server with a public certificate": {"one secret", strings.TrimPrefix(public.URL, "https://")},
	} {
		got, err := peers("caller", at.secret, elsewhere(at.address)).Evaluate(t.Context(), commands.Intent{}, commands.Evaluate{})
		if !errors.Is(err, commands.ErrSessionOwnerAway) || errors.Is(err, commands.ErrUnavailable) {
			t.Errorf("%s: %+v, %v", name, got, err)
		}
	}
	for name, client := range map[string]*tls.Config{
		"no certificate":   {InsecureSkipVerify: true},
		"its own":          {InsecureSkipVerify: true, Certificates: public.TLS.Certificates},
		"an older version": {InsecureSkipVerify: true, MaxVersion: tls.VersionTLS12},
	} {
		c, err := tls.Dial("tcp", right, client)
		if err == nil {
			_, _ = io.WriteString(c, "POST /evaluate HTTP/1.1\r\nHost: x\r\nX-Reckon-To: o\r\nX-Reckon-Nonce: "+strings.Repeat("0", 32)+"\r\nContent-Length: 2\r\n\r\n{}")
			_, err = c.Read(make([]byte, 1)) // in TLS 1.3 a client learns of the refusal when it reads
			_ = c.Close()
		}
		if alert := new(net.OpError); !errors.As(err, &alert) || !strings.Contains(err.Error(), "remote error: tls:") {
			t.Errorf("%s: %v", name, err)
		}
	}
	response, err := http.Post("http://"+right+"/evaluate", "application/json", strings.NewReader("{}"))
	if err == nil {
		t.Errorf("without TLS: %s", response.Status)
	}
}

// TestWhatPeersRefuse of one that knows the secret.
func TestWhatPeersRefuse(t *testing.T) {
	t.Parallel()
	evaluated := 0
	p := peers("o", "s", func(context.Context, commands.Intent, commands.Evaluate) (commands.Evaluation, error) {
		evaluated++
		return commands.Evaluation{}, nil
	})
	now := time.Now()
	p.Now = func() time.Time { return now }
	ask := func(method, path, to, nonce, body string) int {
		r := httptest.NewRequest(method, path, strings.NewReader(body))
		r.Header.Set("X-Reckon-To", to)
		r.Header.Set("X-Reckon-Nonce", nonce)
		w := httptest.NewRecorder()
		p.ServeHTTP(w, r)
		return w.Code
	}
	nonce := strings.Repeat("0", 32)
	for name, status := range map[string][2]int{
		"another path":    {ask("POST", "/", "o", nonce, "{}"), http.StatusNotFound},
		"another method":  {ask("GET", "/evaluate", "o", nonce, "{}"), http.StatusNotFound},
		"another process": {ask("POST", "/evaluate", "p", nonce, "{}"), http.StatusMisdirectedRequest},
		"no nonce":        {ask("POST", "/evaluate", "o", "", "{}"), http.StatusBadRequest},
		"a long nonce":    {ask("POST", "/evaluate", "o", nonce+nonce, "{}"), http.StatusBadRequest},
		"no evaluation":   {ask("POST", "/evaluate", "o", nonce, "\xff"), http.StatusBadRequest},
		"a large body":    {ask("POST", "/evaluate", "o", nonce, strings.Repeat(" ", 8<<20+1)), http.StatusRequestEntityTooLarge},
	} {
		if status[0] != status[1] || evaluated != 0 {
			t.Errorf("%s: %d, evaluated %d", name, status[0], evaluated)
		}
	}
	if status := ask("POST", "/evaluate", "o", nonce, "{}"); status != http.StatusOK || evaluated != 1 {
		t.Errorf("%d, evaluated %d times", status, evaluated)
	}
	for _, later := range []time.Duration{0, 9 * time.Minute} { // as long as anyone may ask again
		now = now.Add(later)
		if status := ask("POST", "/evaluate", "o", nonce, "{}"); status != http.StatusConflict || evaluated != 1 {
			t.Errorf("again after %v: %d, evaluated %d times", later, status, evaluated)
		}
	}
}

// TestNothingCanBeReadOrReplayedUnderWay: what someone on the way records has no word of the evaluation or its answer, and
// is no evaluation when it is sent again.
func TestNothingCanBeReadOrReplayedUnderWay(t *testing.T) {
	t.Parallel()
	evaluated := 0
	address := owner(t, "s", func(context.Context, commands.Intent, commands.Evaluate) (commands.Evaluation, error) {
		evaluated++
		return commands.Evaluation{Result: "a secret answer"}, nil
	})
	tap, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = tap.Close() }()
	var sent, answered bytes.Buffer
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		client, err := tap.Accept()
		if err != nil {
			return
		}
		server, err := net.Dial("tcp", address)
		if err != nil {
			return
		}
		forth := make(chan struct{})
		go func() {
			defer close(forth)
			_, _ = io.Copy(io.MultiWriter(server, &sent), client)
			_ = server.Close()
		}()
		_, _ = io.Copy(io.MultiWriter(client, &answered), server)
		<-forth
	}()
	caller := peers("caller", "s", elsewhere(tap.Addr().String()))
	got, err := caller.Evaluate(t.Context(), commands.Intent{}, commands.Evaluate{Expression: "a secret question"})
	if err != nil || got.Result != "a secret answer" {
		t.Fatalf("%+v, %v", got, err)
	}
	caller.CloseIdleConnections()
	<-ended
	if sent.Len() < 500 || answered.Len() < 500 {
		t.Fatalf("recorded %d and %d bytes", sent.Len(), answered.Len())
	}
	for _, word := range []string{"secret", "X-Reckon", "evaluate"} {
		if strings.Contains(sent.String()+answered.String(), word) {
			t.Errorf("%q can be read", word)
		}
	}
	again, err := net.Dial("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	_, _ = again.Write(sent.Bytes())
	if _, err := io.Copy(io.Discard, again); evaluated != 1 {
		t.Errorf("sent again it was evaluated: %d times (%v)", evaluated, err)
	}
	_ = again.Close()
}

// TestForwardingEndsWithTheLease: an owner that received the request and says nothing is given
// up once it counts as dead, and what it would have evaluated is cancelled.
func TestForwardingEndsWithTheLease(t *testing.T) {
	t.Parallel()
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
	t.Parallel()
	evaluated := 0
	real := peers("o", "s", func(context.Context, commands.Intent, commands.Evaluate) (commands.Evaluation, error) {
		evaluated++
		return commands.Evaluation{}, nil
	})
	asked := 0
	cut := served(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if asked++; asked == 1 {
			real.ServeHTTP(httptest.NewRecorder(), r)
			panic(http.ErrAbortHandler) // the connection breaks before the answer
		}
		real.ServeHTTP(w, r)
	}), real.Listener)
	_, err := peers("caller", "s", elsewhere(cut)).Evaluate(t.Context(), commands.Intent{}, commands.Evaluate{})
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
	t.Parallel()
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
	t.Parallel()
	address := owner(t, "s", func(context.Context, commands.Intent, commands.Evaluate) (commands.Evaluation, error) {
		return commands.Evaluation{}, &commands.SaturatedError{RetryAfter: 7 * time.Second}
	})
	_, err := peers("p", "s", elsewhere(address)).Evaluate(t.Context(), commands.Intent{}, commands.Evaluate{})
	if late, is := errors.AsType[*commands.SaturatedError](err); !is || late.RetryAfter != 7*time.Second {
		t.Errorf("%v", err)
	}
}

// TestAConnectionThatIsLostCostsNoEvaluation: the connection to the owner that was kept is lost, before the request arrives or after it, and
// neither side is told. What has not arrived is asked over a new one; what has is evaluated once, and its answer is not known.
func TestAConnectionThatIsLostCostsNoEvaluation(t *testing.T) {
	t.Parallel()
	var evaluated atomic.Int64
	begun := make(chan struct{}, 2)
	way := proxy.Start(t, "tcp", owner(t, "s", func(ctx context.Context, _ commands.Intent, c commands.Evaluate) (commands.Evaluation, error) {
		evaluated.Add(1)
		if c.Expression == "slow" {
			begun <- struct{}{}
			<-ctx.Done()
			return commands.Evaluation{}, ctx.Err()
		}
		return commands.Evaluation{Result: c.Expression}, nil
	}))
	p := peers("caller", "s", elsewhere(way.Address()))
	ask := func(ctx context.Context, expression string) error {
		got, err := p.Evaluate(ctx, commands.Intent{}, commands.Evaluate{Expression: expression})
		if err == nil && got.Result != expression {
			t.Errorf("%s is %q", expression, got.Result)
		}
		return err
	}
	if err := ask(t.Context(), "1"); err != nil {
		t.Fatal(err)
	}
	way.Lose()
	if err := ask(t.Context(), "2"); err != nil {
		t.Fatal(err)
	}
	if n := evaluated.Load(); n != 2 {
		t.Errorf("%d evaluations, want 2", n)
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	go func() {
		<-begun
		way.Lose()
		wait.Pace(4 * time.Second) // it is asked again, and refused
		cancel()
	}()
	if err := ask(ctx, "slow"); !errors.Is(err, commands.ErrSessionOwnerAway) {
		t.Errorf("what arrived: %v", err)
	}
	if n := evaluated.Load(); n != 3 {
		t.Errorf("%d evaluations, want 3", n)
	}
}
