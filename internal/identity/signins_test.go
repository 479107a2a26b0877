package identity_test

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/uptrace/bun"

	"reckon/internal/auth"
	"reckon/internal/identity"
	"reckon/internal/passwords/passwordstest"
)

const horse = "correct horse"

// register registers an address with the password horse.
func register(t *testing.T, s *identity.Store, email string) (account string) {
	t.Helper()
	account, err := s.Register(t.Context(), email, horse, (&logged{}).announce)
	if err != nil {
		t.Fatal(err)
	}
	return account
}

// signIn signs in and returns the cookie's secret.
func signIn(t *testing.T, s *identity.Store, email, password string, from identity.Client) string {
	t.Helper()
	session, err := s.SignIn(t.Context(), email, password, from, (&logged{}).announce)
	if err != nil {
		t.Fatal(err)
	}
	return session.Secret
}

// valid reports whether a secret authenticates.
func valid(t *testing.T, s *identity.Store, secret string) bool {
	t.Helper()
	_, err := s.SessionAccount(t.Context(), secret)
	if err != nil && !errors.Is(err, auth.ErrSessionNotFound) {
		t.Fatal(err)
	}
	return err == nil
}

func TestSignIns(t *testing.T) {
	t.Parallel()
	onEach(t, func(t *testing.T, s *identity.Store, _ *bun.DB, c *clock) {
		anna := register(t, s, "anna@example.com")
		bert := register(t, s, "bert@example.com")
		laptop := signIn(t, s, "anna@example.com", horse, identity.Client{Address: "203.0.113.77", Agent: "Browser/1"})
		c.pass(time.Minute)
		phone := signIn(t, s, "anna@example.com", horse, identity.Client{Address: "2001:db8:aa:bb::/64", Agent: strings.Repeat("x", 99) + "é and more"})
		other := signIn(t, s, "bert@example.com", horse, identity.Client{Address: "not an address"})
		c.pass(24 * time.Hour)
		for range 2 { // the day is stored by the first
			if !valid(t, s, laptop) {
				t.Fatal("not signed in")
			}
		}
		list, err := s.SignIns(t.Context(), anna, laptop)
		if err != nil || len(list) != 2 {
			t.Fatal(list, err)
		}
		if l := list[1]; !l.Current || l.Agent != "Browser/1" || l.Network != "203.0.113.0/24" || l.LastUsedOn != "2026-08-02" || l.CreatedAt.Format(time.RFC3339) != "2026-08-01T12:00:00Z" || l.ExpiresAt.Sub(l.CreatedAt) != identity.SessionLifetime {
			t.Errorf("%+v", l)
		}
		if l := list[0]; l.Current || len(l.Agent) != 99 || l.Network != "2001:db8:aa::/48" || l.LastUsedOn != "" {
			t.Errorf("%+v", l)
		}
		if err := s.EndSignIn(t.Context(), bert, list[0].ID); !errors.Is(err, identity.ErrSignInNotFound) {
			t.Errorf("another account's: %v", err)
		}
		if err := s.EndSignIn(t.Context(), anna, list[0].ID); err != nil || valid(t, s, phone) || !valid(t, s, laptop) {
			t.Errorf("ended: %v", err)
		}
		if err := s.EndSignIn(t.Context(), anna, list[0].ID); !errors.Is(err, identity.ErrSignInNotFound) {
			t.Errorf("ended again: %v", err)
		}
		if n, err := s.EndSignIns(t.Context(), anna); n != 1 || err != nil || valid(t, s, laptop) || !valid(t, s, other) {
			t.Errorf("%d ended, %v", n, err)
		}
	})
}

// TestSignInsAreBounded: one more than an account may have ends the oldest.
func TestSignInsAreBounded(t *testing.T) {
	t.Parallel()
	onEach(t, func(t *testing.T, s *identity.Store, _ *bun.DB, c *clock) {
		var secrets []string
		for range 103 {
			opened, err := s.OpenSession(t.Context(), "a", time.Hour, identity.Client{})
			if err != nil {
				t.Fatal(err)
			}
			secrets = append(secrets, opened.Secret)
			c.pass(time.Second)
		}
		if list, err := s.SignIns(t.Context(), "a", ""); err != nil || len(list) != 100 || valid(t, s, secrets[2]) || !valid(t, s, secrets[3]) {
			t.Errorf("%d sign-ins, %v", len(list), err)
		}
	})
}

func TestPasswords(t *testing.T) {
	t.Parallel()
	onEach(t, func(t *testing.T, s *identity.Store, _ *bun.DB, _ *clock) {
		ctx := t.Context()
		anna := register(t, s, "anna@example.com")
		here, there := signIn(t, s, "anna@example.com", horse, identity.Client{}), signIn(t, s, "anna@example.com", horse, identity.Client{})
		for name, c := range map[string]struct {
			account, present, replacement string
			want                          error
		}{
			"wrong": {anna, "another one", "a new password", identity.ErrWrongPassword}, "no account": {"nobody", horse, "a new password", identity.ErrWrongPassword},
			"short": {anna, horse, "short", identity.ErrInvalidPassword}, "empty": {anna, "", "a new password", identity.ErrWrongPassword},
		} {
			if err := s.ChangePassword(ctx, c.account, c.present, c.replacement, here); !errors.Is(err, c.want) {
				t.Errorf("%s: %v", name, err)
			}
		}
		if !valid(t, s, here) || !valid(t, s, there) {
			t.Error("a refusal ended a sign-in")
		}
		if err := s.ChangePassword(ctx, anna, horse, "a new password", here); err != nil || !valid(t, s, here) || valid(t, s, there) {
			t.Errorf("changed: %v", err)
		}
		if _, err := s.SignIn(ctx, "anna@example.com", horse, identity.Client{}, nil); !errors.Is(err, identity.ErrWrongCredentials) {
			t.Errorf("the old password: %v", err)
		}
		signIn(t, s, "anna@example.com", "a new password", identity.Client{})
		// An operator needs no password, and ends every sign-in.
		if err := s.SetPassword(ctx, anna, "set by an operator"); err != nil || valid(t, s, here) {
			t.Errorf("set: %v", err)
		}
		if err := s.SetPassword(ctx, "nobody", "set by an operator"); !errors.Is(err, identity.ErrAccountNotFound) {
			t.Errorf("nobody's: %v", err)
		}
		for password, want := range map[string]bool{"set by an operator": true, "a new password": false} {
			if got, err := s.IsPassword(ctx, anna, password); got != want || err != nil {
				t.Errorf("%q is the password: %v, %v", password, got, err)
			}
		}
	})
}

// TestASignInUnderWayFailsWhenThePasswordChanges: whatever comes first, no session of the old password outlives the change.
func TestASignInUnderWayFailsWhenThePasswordChanges(t *testing.T) {
	t.Parallel()
	onEach(t, func(t *testing.T, s *identity.Store, _ *bun.DB, _ *clock) {
		anna := register(t, s, "anna@example.com")
		password := horse
		for round := range 2 {
			next := fmt.Sprint("password number ", round)
			var group sync.WaitGroup
			var mu sync.Mutex
			var secrets []string
			for range 2 {
				group.Go(func() {
					opened, err := s.SignIn(t.Context(), "anna@example.com", password, identity.Client{}, nil)
					if err != nil && !errors.Is(err, identity.ErrWrongCredentials) {
						t.Error(err)
					}
					mu.Lock()
					defer mu.Unlock()
					secrets = append(secrets, opened.Secret)
				})
			}
			if err := s.ChangePassword(t.Context(), anna, password, next, ""); err != nil {
				t.Error(err)
			}
			group.Wait()
			for _, secret := range secrets {
				if valid(t, s, secret) {
					t.Fatal("a session of the old password lives")
				}
			}
			password = next
		}
	})
}

// TestForget removes everything of an account and nothing of another.
func TestForget(t *testing.T) {
	t.Parallel()
	onEach(t, func(t *testing.T, s *identity.Store, db *bun.DB, _ *clock) {
		ctx := t.Context()
		anna, bert := register(t, s, "anna@example.com"), register(t, s, "bert@example.com")
		hers, his := signIn(t, s, "anna@example.com", horse, identity.Client{}), signIn(t, s, "bert@example.com", horse, identity.Client{})
		places := identity.NewPlaces(s, nil, func(err error) { t.Error(err) })
		for _, account := range []string{anna, bert} {
			if ok, err := places.Take(ctx, account, "notebook", 1, nil); !ok || err != nil {
				t.Fatal(ok, err)
			}
			if err := s.TokenUsed(ctx, "token of "+account); err != nil {
				t.Fatal(err)
			}
		}
		for range 2 {
			if err := s.Forget(ctx, anna, []string{"token of " + anna}); err != nil {
				t.Fatal(err)
			}
		}
		if valid(t, s, hers) || !valid(t, s, his) {
			t.Error("her sign-in lives, or his does not")
		}
		for table, column := range map[string]string{"accounts": "id", "sessions": "account", "places": "account", "token_use": "token_id"} {
			var left int
			if err := db.QueryRowContext(ctx, "SELECT count(*) FROM identity_"+table+" WHERE "+column+" LIKE '%"+anna+"%'").Scan(&left); err != nil || left != 0 {
				t.Errorf("%d rows of hers in %s, %v", left, table, err)
			}
			if err := db.QueryRowContext(ctx, "SELECT count(*) FROM identity_"+table+" WHERE "+column+" LIKE '%"+bert+"%'").Scan(&left); err != nil || left != 1 {
				t.Errorf("%d rows of his in %s, %v", left, table, err)
			}
		}
		if _, err := s.SignIn(ctx, "anna@example.com", horse, identity.Client{}, nil); !errors.Is(err, identity.ErrWrongCredentials) {
			t.Errorf("she signs in: %v", err)
		}
		if again := register(t, s, "anna@example.com"); again == anna {
			t.Error("her address has the same account again")
		}
	})
}

// TestNothingOfAForgottenAccountIsInTheFiles: neither in SQLite's file nor in its write-ahead log, while other connections are open, as soon
// as Forget returns.
func TestNothingOfAForgottenAccountIsInTheFiles(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "identity.db")
	db, err := identity.Open(t.Context(), at("sqlite:"+path))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	s := identity.New(db, time.Now, identity.DefaultRules(), passwordstest.NewHasher())
	anna := register(t, s, "anna@example.com")
	signIn(t, s, "anna@example.com", horse, identity.Client{Agent: "annas-browser"})
	if _, err := db.ExecContext(t.Context(), `WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 300)
		INSERT INTO identity_accounts SELECT 'id' || i, CASE WHEN i % 3 = 0 THEN 'anna' ELSE 'bert' END || i || '@example.com', 'key' || i, 'hash', 'active', 0 FROM n`); err != nil {
		t.Fatal(err)
	}
	found := func(text string) (in []string) {
		t.Helper()
		files, err := filepath.Glob(path + "*")
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range files {
			content, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if bytes.Contains(content, []byte(text)) {
				in = append(in, filepath.Base(file))
			}
		}
		return in
	}
	var hash string
	if err := db.QueryRowContext(t.Context(), "SELECT password_hash FROM identity_accounts WHERE id = ?", anna).Scan(&hash); err != nil {
		t.Fatal(err)
	}
	texts := []string{"anna", hash[len(hash)-20:], anna}
	for _, text := range texts {
		if len(found(text)) == 0 {
			t.Fatalf("%s is not there before: the test sees nothing", text)
		}
	}
	accounts := []string{anna}
	for i := 3; i <= 300; i += 3 {
		accounts = append(accounts, fmt.Sprint("id", i))
	}
	for _, account := range accounts {
		if err := s.Forget(t.Context(), account, nil); err != nil {
			t.Fatal(err)
		}
	}
	for _, text := range texts {
		if in := found(text); len(in) > 0 {
			t.Errorf("%s is in %v", text, in)
		}
	}
	if len(found("bert")) == 0 {
		t.Error("the others are gone too")
	}
}
