package processes

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"

	"reckon/commands"
	"reckon/domain/receipt"
	"reckon/test/e2e"
	"reckon/test/wait"
)

// TestSecretsAreNotLogged: two real servers that log everything never write a password, a cookie, a token or what authenticates them
// to the log, the database and each other; whatever is right or wrong with the request that carries it.
func TestSecretsAreNotLogged(t *testing.T) {
	t.Parallel()
	in := install(t)
	const peerSecret = "what the processes know each other by"
	in.shared = append(in.shared, "--log-level", "debug", "--peer-secret", peerSecret)
	dataOne := e2e.DataFolder(t)
	one, two := in.serve(dataOne, "api,project,react"), in.serve(e2e.DataFolder(t), "api")
	a := one.NewAccount("anna@example.com")
	cookie := cookieOf(t, one, a.Email, password)
	secrets := map[string]string{"password": password, "token": a.Token, "cookie": strings.TrimPrefix(strings.Split(cookie, ";")[0], "reckon="), "peer secret": peerSecret}

	secrets["expression"] = "a text that is computed with"
	_, err := inSession(at(a, two), fmt.Sprintf("x = %q", secrets["expression"])) // it lives in one process, and is forwarded to by the other
	must(t, err)
	_, err = inSession(a, "x")
	must(t, err)
	const wrong, changed, minted = "a wrong password", "a changed password", "a password by an operator"
	secrets["wrong password"], secrets["changed password"], secrets["operator's password"] = wrong, changed, minted
	cookieOf(t, one, a.Email, wrong)
	cookieOf(t, one, "nobody@example.com", wrong)
	for _, s := range []*e2e.Server{one, two} {
		asked(t, s, "GET", "/api/history?token="+a.Token, "", "Authorization", "Bearer "+a.Token)
		asked(t, s, "GET", "/api/history", "", "Authorization", "Basic "+a.Token)
		asked(t, s, "GET", "/api/history", "", "Authorization", "Bearer "+a.Token[:20]) // malformed
		asked(t, s, "GET", "/nowhere", "", "Cookie", cookie)
		asked(t, s, "POST", "/api/evaluate", "{", "Cookie", cookie)
	}
	asked(t, one, "POST", "/auth/password", fmt.Sprintf(`{"current_password":%q,"new_password":%q}`, password, changed), "Cookie", cookie)
	asked(t, one, "POST", "/auth/password", fmt.Sprintf(`{"current_password":%q,"new_password":%q,"more":1}`, wrong, changed), "Cookie", cookie)
	operate(t, 0, minted+"\n", "account", "password", a.Email, "--password-stdin", "--data", dataOne)
	secrets["operator's token"] = strings.TrimSpace(operate(t, 0, "", "account", "token", a.Email, "--name", "second", "--data", dataOne))
	in.database.Refuse() // errors of every part are logged
	asked(t, one, "GET", "/api/history", "", "Cookie", cookie)
	cookieOf(t, one, a.Email, minted)
	asked(t, one, "GET", "/api/tokens", "", "Authorization", "Bearer "+secrets["operator's token"])
	in.database.Mend()
	for _, s := range []*e2e.Server{one, two} {
		if status := s.Interrupt(); status != 0 {
			t.Errorf("exit status %d", status)
		}
		output := s.Output()
		if !strings.Contains(output, "level=DEBUG") {
			t.Error("the server did not log everything")
		}
		for what, secret := range secrets {
			if strings.Contains(output, secret) {
				t.Errorf("the %s is in the log", what)
			}
		}
		if strings.Contains(output, "rk_pat_") {
			t.Error("a token is in the log")
		}
	}
}

// TestKeysRotateWhileRequestsRun: not one evaluation fails, and every receipt verifies with the keys that are published right after it.
func TestKeysRotateWhileRequestsRun(t *testing.T) {
	t.Parallel()
	in := install(t)
	dataOne := e2e.DataFolder(t)
	servers := []*e2e.Server{in.serve(dataOne, "api,project,react"), in.serve(e2e.DataFolder(t), "api")}
	a := servers[0].NewAccount("anna@example.com")
	first := sealedWith(t, a, servers[0])

	stop := make(chan struct{})
	var clients sync.WaitGroup
	var mu sync.Mutex
	sealed := map[string]int{} // by kid
	for i := range 4 {
		clients.Go(func() {
			s := servers[i%2]
			for {
				select {
				case <-stop:
					return
				default:
				}
				var e evaluated
				var envelope receipt.Envelope
				err := at(a, s).JSON("POST", "/api/evaluate", map[string]string{"expression": "1+1"}, &e)
				if err == nil {
					err = at(a, s).JSON("GET", fmt.Sprint("/api/receipts/", e.RunID), nil, &envelope)
				}
				if err == nil {
					err = receipt.Check(envelope, publishedKeys(t, s))
				}
				if err != nil || envelope.KID == nil {
					t.Errorf("run %d: %v", e.RunID, err)
					return
				}
				mu.Lock()
				sealed[*envelope.KID]++
				mu.Unlock()
			}
		})
	}
	kids := []string{first}
	for range 2 {
		next := in.publishedEarlier(t)
		if done := rotate(t, 0, dataOne, commands.KeyActivated); done.KID != next {
			t.Fatalf("%+v, want %s", done, next)
		}
		kids = append(kids, next)
		wait.Until(t, "the new key seals", func() bool {
			mu.Lock()
			defer mu.Unlock()
			return sealed[next] > 4
		})
	}
	close(stop)
	clients.Wait()
	if got := slices.Sorted(maps.Keys(sealed)); !slices.Equal(got, slices.Sorted(slices.Values(kids))) {
		t.Errorf("sealed with %v, want %v", got, kids)
	}
}
