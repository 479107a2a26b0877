package identity_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/uptrace/bun"

	"reckon/internal/auth"
	"reckon/internal/identity"
	"reckon/internal/passwords"
	"reckon/internal/passwords/passwordstest"
	"reckon/internal/private"
	"reckon/internal/ratelimit"
	"reckon/projections/pgtest"
)

type clock struct {
	mu  sync.Mutex
	now time.Time
}

func (c *clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

func (c *clock) pass(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
}

// onEach runs a test on every dialect there is. Three processes have opened the
// tables, on PostgreSQL all at once; a SQLite file belongs to one at a time.
func onEach(t *testing.T, test func(t *testing.T, s *identity.Store, db *bun.DB, c *clock)) {
	for name, fresh := range addresses {
		t.Run(name, func(t *testing.T) {
			address := fresh(t)
			var opened [3]*bun.DB
			var group sync.WaitGroup
			if strings.HasPrefix(address, "sqlite:") {
				first, err := identity.Open(context.Background(), at(address))
				if err != nil {
					t.Fatal(err)
				}
				t.Cleanup(func() { _ = first.Close() })
			}
			for i := range opened {
				group.Go(func() {
					db, err := identity.Open(context.Background(), at(address))
					if err != nil {
						t.Error(err)
						return
					}
					opened[i] = db
					t.Cleanup(func() { _ = db.Close() })
				})
			}
			if group.Wait(); t.Failed() {
				t.FailNow()
			}
			c := &clock{now: time.Date(2026, 8, 1, 12, 0, 0, 0, time.UTC)}
			test(t, identity.New(opened[0], c.Now, identity.DefaultRules(), passwordstest.NewHasher()), opened[0], c)
		})
	}
}

// at is an address with the schema that is there by default.
func at(address string) identity.Where {
	return identity.Where{Address: address, Schema: "identity", Logger: slog.New(slog.DiscardHandler)}
}

var addresses = map[string]func(t *testing.T) string{
	"sqlite":   func(t *testing.T) string { return "sqlite:" + filepath.Join(t.TempDir(), "identity.db") },
	"postgres": func(t *testing.T) string { return pgtest.Database(t) },
}

// logged is a log that keeps what was announced.
type logged struct {
	accounts []string
	fail     error
}

func (l *logged) announce(_ context.Context, account string) error {
	if l.fail != nil {
		return l.fail
	}
	l.accounts = append(l.accounts, account)
	return nil
}

func TestRegisterSignInSignOut(t *testing.T) {
	t.Parallel()
	onEach(t, func(t *testing.T, s *identity.Store, _ *bun.DB, c *clock) {
		ctx, log := context.Background(), &logged{}
		account, err := s.Register(ctx, "Ada@Example.com", "correct horse", log.announce)
		if err != nil || account == "" || len(log.accounts) != 1 || log.accounts[0] != account {
			t.Fatalf("%q %v %v", account, err, log.accounts)
		}
		if _, err := s.Register(ctx, "aDA@example.COM", "another one", log.announce); !errors.Is(err, identity.ErrEmailTaken) {
			t.Errorf("the same address in another case: %v", err)
		}
		session, err := s.SignIn(ctx, "ada@EXAMPLE.com", "correct horse", identity.Client{}, log.announce)
		if err != nil || session.Account != account || len(session.Secret) < 40 {
			t.Fatalf("%+v %v", session, err)
		}
		if len(log.accounts) != 1 {
			t.Error("an active account was announced again")
		}
		for _, wrong := range [][2]string{{"ada@example.com", "correct horsf"}, {"ada@example.com", ""}, {"ada@example.com", strings.Repeat("x", 200)}, {"eve@example.com", "correct horse"}, {"' OR 1=1 --", "correct horse"}, {"", ""}} {
			if _, err := s.SignIn(ctx, wrong[0], wrong[1], identity.Client{}, log.announce); !errors.Is(err, identity.ErrWrongCredentials) {
				t.Errorf("%q: %v", wrong, err)
			}
		}
		if got, err := s.SessionAccount(ctx, session.Secret); err != nil || got != account {
			t.Errorf("%q %v", got, err)
		}
		if _, err := s.SessionAccount(ctx, "' OR '1'='1"); !errors.Is(err, auth.ErrSessionNotFound) {
			t.Error(err)
		}
		if err := errors.Join(s.SignOut(ctx, session.Secret), s.SignOut(ctx, session.Secret)); err != nil {
			t.Error(err)
		}
		if _, err := s.SessionAccount(ctx, session.Secret); !errors.Is(err, auth.ErrSessionNotFound) {
			t.Errorf("after sign-out: %v", err)
		}
		session, err = s.SignIn(ctx, "ada@example.com", "correct horse", identity.Client{}, log.announce)
		if err != nil {
			t.Fatal(err)
		}
		c.pass(identity.SessionLifetime)
		if _, err := s.SessionAccount(ctx, session.Secret); !errors.Is(err, auth.ErrSessionNotFound) {
			t.Errorf("after its lifetime: %v", err)
		}
		if got, err := s.AccountOf(ctx, "ADA@example.com"); err != nil || got != account {
			t.Errorf("%q %v", got, err)
		}
		if err := s.Ready(ctx); err != nil {
			t.Error(err)
		}
	})
}

func TestInterruptedRegistrationIsFinishedBySignIn(t *testing.T) {
	t.Parallel()
	onEach(t, func(t *testing.T, s *identity.Store, _ *bun.DB, _ *clock) {
		ctx, log := context.Background(), &logged{fail: errors.New("the log is away")}
		if _, err := s.Register(ctx, "ada@example.com", "correct horse", log.announce); !errors.Is(err, log.fail) {
			t.Fatal(err)
		}
		if _, err := s.SignIn(ctx, "ada@example.com", "correct horse", identity.Client{}, log.announce); !errors.Is(err, log.fail) {
			t.Errorf("signed in to an account the log does not know: %v", err)
		}
		log.fail = nil
		if _, err := s.Register(ctx, "ada@example.com", "correct horse", log.announce); !errors.Is(err, identity.ErrEmailTaken) {
			t.Error(err)
		}
		session, err := s.SignIn(ctx, "ada@example.com", "correct horse", identity.Client{}, log.announce)
		if err != nil || len(log.accounts) != 1 || log.accounts[0] != session.Account {
			t.Errorf("%+v %v %v", session, err, log.accounts)
		}
	})
}

func TestOneAddressOneAccountUnderRace(t *testing.T) {
	t.Parallel()
	onEach(t, func(t *testing.T, s *identity.Store, _ *bun.DB, _ *clock) {
		var group sync.WaitGroup
		var mu sync.Mutex
		won := 0
		for range 6 {
			group.Go(func() {
				_, err := s.Register(context.Background(), "ada@example.com", "correct horse", (&logged{}).announce)
				mu.Lock()
				defer mu.Unlock()
				if err == nil {
					won++
				} else if !errors.Is(err, identity.ErrEmailTaken) {
					t.Error(err)
				}
			})
		}
		if group.Wait(); won != 1 {
			t.Errorf("%d registrations of one address succeeded", won)
		}
	})
}

func TestAddressesAndPasswords(t *testing.T) {
	t.Parallel()
	onEach(t, func(t *testing.T, s *identity.Store, _ *bun.DB, _ *clock) {
		ctx, log := context.Background(), &logged{}
		for _, email := range []string{"", "a", "@b.c", "a@", "a@b@c", "a b@c.d", "a@b..c", "a@-b.c", ".a@b.c", "a.@b.c", "a..b@c.d", "a@b.c\n", "a@b.c\x00", "é@b.c", "a@b_c.d", strings.Repeat("a", 65) + "@b.c", "a@" + strings.Repeat("b.", 130) + "c", `"a b"@c.d`, "a@[1.2.3.4]"} {
			if _, err := s.Register(ctx, email, "correct horse", log.announce); !errors.Is(err, identity.ErrInvalidEmail) {
				t.Errorf("%q: %v", email, err)
			}
		}
		for _, password := range []string{"", "1234567", "ééééééé", strings.Repeat("x", 129)} {
			if _, err := s.Register(ctx, "a@b.c", password, log.announce); !errors.Is(err, identity.ErrInvalidPassword) {
				t.Errorf("%q: %v", password, err)
			}
		}
		for email, password := range map[string]string{"o'hara+tag@example.co.uk": "12345678", "A_b-1%x@localhost": strings.Repeat("é", 128)} {
			if _, err := s.Register(ctx, email, password, log.announce); err != nil {
				t.Errorf("%q: %v", email, err)
			}
		}
		if _, err := s.Register(ctx, "nfc@example.com", "pe\u0301renne1", log.announce); err != nil {
			t.Fatal(err)
		}
		if _, err := s.SignIn(ctx, "nfc@example.com", "p\u00e9renne1", identity.Client{}, log.announce); err != nil {
			t.Errorf("the same password typed on another system: %v", err)
		}
	})
}

func TestRates(t *testing.T) {
	t.Parallel()
	onEach(t, func(t *testing.T, s *identity.Store, db *bun.DB, c *clock) {
		ctx := context.Background()
		count := func(n int, take func() (ratelimit.Allowance, error)) (allowed int) {
			for range n {
				a, err := take()
				if err != nil {
					t.Fatal(err)
				}
				if a.Allowed {
					allowed++
				}
			}
			return allowed
		}
		register := func(address string) func() (ratelimit.Allowance, error) {
			return func() (ratelimit.Allowance, error) { return s.CountRegistration(ctx, address) }
		}
		signIn := func(address, email string) func() (ratelimit.Allowance, error) {
			return func() (ratelimit.Allowance, error) {
				a, err := s.CountSignIn(ctx, identity.Client{Address: address}, email)
				return a.Allowance, err
			}
		}
		if n := count(8, register("1.2.3.4")); n != 5 {
			t.Errorf("%d registrations from one address", n)
		}
		if n := count(1, register("1.2.3.5")); n != 1 {
			t.Error("another address was refused")
		}
		c.pass(time.Hour)
		if n := count(1, register("1.2.3.4")); n != 1 {
			t.Error("refused in the next hour")
		}
		if n := count(12, signIn("1.2.3.4", "a@b.c")); n != 10 {
			t.Errorf("%d sign-ins from one address", n)
		}
		if n := count(1, signIn("1.2.3.9", "A@B.C")); n != 0 {
			t.Error("one account was tried from a second address of the network")
		}
		if n := count(1, signIn("1.2.3.9", "other@b.c")); n != 1 {
			t.Error("another account was refused")
		}
		if n := count(1, signIn("9.9.9.9", "A@B.C")); n != 1 {
			t.Error("one network has shut the account for another")
		}
		// Two processes count in one place.
		one, two := identity.NewWindows(db), identity.NewWindows(db)
		rule := ratelimit.Rule{Requests: 3, Window: time.Minute}
		if n := count(4, func() (ratelimit.Allowance, error) { return one.Count(ctx, "k", rule, c.Now()) }); n != 3 {
			t.Errorf("%d", n)
		}
		if a, err := two.Count(ctx, "k", rule, c.Now()); err != nil || a.Allowed || a.Remaining != 0 || !a.ResetAt.Equal(c.Now().Add(time.Minute)) {
			t.Errorf("%+v %v", a, err)
		}
		// Looking counts nothing.
		if a, err := two.Peek(ctx, "k", rule, c.Now()); err != nil || a.Limit != 3 || a.Remaining != 0 || !a.ResetAt.Equal(c.Now().Add(time.Minute)) {
			t.Errorf("%+v %v", a, err)
		}
		if a, err := two.Peek(ctx, "k", rule, c.Now().Add(time.Minute)); err != nil || a.Remaining != 3 {
			t.Errorf("after the window: %+v %v", a, err)
		}
		// What one gives back the other may take.
		full, err := two.Count(ctx, "k", rule, c.Now())
		if err != nil {
			t.Fatal(err)
		}
		if restored, err := one.GiveBack(ctx, "k", full); err != nil || restored.Remaining != 1 {
			t.Errorf("given back: %+v %v", restored, err)
		}
		if a, err := two.Count(ctx, "k", rule, c.Now()); err != nil || !a.Allowed || a.Remaining != 0 {
			t.Errorf("what was given back: %+v %v", a, err)
		}
		c.pass(time.Minute)
		if a, err := two.GiveBack(ctx, "nobody", full); err != nil || a != full {
			t.Errorf("a key without a window: %+v %v", a, err)
		}
	})
}

// TestNobodyIsLockedOutByOthers: strangers guess a hundred passwords an hour for an account, from however many networks; a device that has
// signed in before has attempts of its own, and who is right is not counted with those who are wrong.
func TestNobodyIsLockedOutByOthers(t *testing.T) {
	t.Parallel()
	onEach(t, func(t *testing.T, s *identity.Store, _ *bun.DB, c *clock) {
		attempt := func(from identity.Client, email string) identity.SignInAttempt {
			t.Helper()
			a, err := s.CountSignIn(t.Context(), from, email)
			if err != nil {
				t.Fatal(err)
			}
			return a
		}
		network := func(i int) identity.Client {
			return identity.Client{Address: fmt.Sprintf("2001:db8:%x:1::/64", i)}
		}
		device := func(email string) string {
			t.Helper()
			d, err := s.NewDevice(t.Context(), email)
			if err != nil {
				t.Fatal(err)
			}
			return d
		}
		own := identity.Client{Address: "198.51.100.7", Devices: []string{"planted", device("mallory@example.com"), device("Carol@example.com")}}
		for i := range 150 { // as who knows the password, from anywhere
			a := attempt(network(i), "carol@example.com")
			if !a.Allowed {
				t.Fatalf("sign-in %d: %+v", i, a)
			}
			if err := s.SignedIn(t.Context(), a); err != nil {
				t.Fatal(err)
			}
		}
		guessed := 0
		for i := range 300 {
			if attempt(network(1000+i), "carol@example.com").Allowed {
				guessed++
			}
		}
		if guessed != 100 {
			t.Errorf("%d guesses in an hour", guessed)
		}
		for i, from := range []identity.Client{
			{Address: "203.0.113.9"},
			{Address: "203.0.113.10", Devices: []string{device("mallory@example.com")}},
			{Address: "203.0.113.11", Devices: []string{own.Devices[2] + "x"}},
			{Address: "203.0.113.12", Devices: []string{"x" + own.Devices[2]}},
			{Address: "203.0.113.13", Devices: []string{"."}},
		} {
			if a := attempt(from, "carol@example.com"); a.Allowed {
				t.Errorf("stranger %d: %+v", i, a)
			}
		}
		allowed := 0
		for range 12 {
			if attempt(own, "carol@EXAMPLE.com").Allowed {
				allowed++
			}
		}
		if allowed != 10 {
			t.Errorf("the known device had %d attempts", allowed)
		}
		if !attempt(identity.Client{Address: own.Address}, "other@example.com").Allowed {
			t.Error("another account is shut")
		}
		c.pass(time.Minute)
		if !attempt(own, "carol@example.com").Allowed {
			t.Error("the known device, a minute later")
		}
	})
}

// TestPasswordsAreText: what JSON cannot carry is no password, wherever it comes from.
func TestPasswordsAreText(t *testing.T) {
	t.Parallel()
	onEach(t, func(t *testing.T, s *identity.Store, _ *bun.DB, _ *clock) {
		for _, password := range []string{strings.Repeat("\xff", 9), "correct horse \xc3", "\xed\xa0\x80 surrogate"} {
			if _, err := s.Register(t.Context(), "a@b.c", password, (&logged{}).announce); !errors.Is(err, identity.ErrInvalidPassword) {
				t.Errorf("%q: %v", password, err)
			}
		}
	})
}

// TestWindowsAreBounded: whatever addresses come, there are so many windows, evenly used, the same ones for every process, and no
// address can be read from them.
func TestWindowsAreBounded(t *testing.T) {
	t.Parallel()
	onEach(t, func(t *testing.T, s *identity.Store, db *bun.DB, c *clock) {
		other := identity.New(db, c.Now, identity.DefaultRules(), passwordstest.NewHasher())
		used, shared := map[string]bool{}, 0
		const addresses = 100_000
		for i := range addresses {
			address := fmt.Sprintf("2001:db8:%x:%x::/64", i>>16, i&0xffff)
			key, err := s.WindowKey(t.Context(), "register", address)
			if err != nil || len(key) != len("register:00000") {
				t.Fatal(key, err)
			}
			if used[key] {
				shared++
			}
			used[key] = true
			if i%1000 == 0 {
				if theirs, err := other.WindowKey(t.Context(), "register", address); err != nil || theirs != key {
					t.Fatalf("two processes count in %s and %s, %v", key, theirs, err)
				}
			}
		}
		if expected := addresses * addresses / 2 / identity.WindowsOfStrangers; shared > 2*expected {
			t.Errorf("%d of %d addresses share a window, want about %d", shared, addresses, expected)
		}
		if _, err := s.CountRegistration(t.Context(), "203.0.113.77"); err != nil {
			t.Fatal(err)
		}
		var key string
		if err := db.QueryRowContext(t.Context(), "SELECT key FROM identity_windows").Scan(&key); err != nil || strings.Contains(key, "113") {
			t.Errorf("the address is stored: %s, %v", key, err)
		}
	})
}

func TestNothingSecretIsStored(t *testing.T) {
	t.Parallel()
	onEach(t, func(t *testing.T, _ *identity.Store, db *bun.DB, c *clock) {
		ctx, s := context.Background(), identity.New(db, c.Now, identity.DefaultRules(), passwords.NewHasher(passwords.Standard)) // as a service has it
		if _, err := s.Register(ctx, "ada@example.com", "correct horse", (&logged{}).announce); err != nil {
			t.Fatal(err)
		}
		session, err := s.SignIn(ctx, "ada@example.com", "correct horse", identity.Client{}, (&logged{}).announce)
		if err != nil {
			t.Fatal(err)
		}
		var hash, cookie string
		if err := db.QueryRowContext(ctx, "SELECT password_hash FROM identity_accounts").Scan(&hash); err != nil {
			t.Fatal(err)
		}
		if err := db.QueryRowContext(ctx, "SELECT hash FROM identity_sessions").Scan(&cookie); err != nil {
			t.Fatal(err)
		}
		if !strings.HasPrefix(hash, "$argon2id$v=19$m=19456,t=2,p=1$") || strings.Contains(hash, "correct") || cookie == session.Secret {
			t.Errorf("%q %q", hash, cookie)
		}
	})
}

func TestTokenUse(t *testing.T) {
	t.Parallel()
	onEach(t, func(t *testing.T, s *identity.Store, _ *bun.DB, c *clock) {
		ctx := context.Background()
		if err := errors.Join(s.TokenUsed(ctx, "a"), s.TokenUsed(ctx, "a"), s.TokenUsed(ctx, "b")); err != nil {
			t.Fatal(err)
		}
		c.pass(24 * time.Hour)
		if err := s.TokenUsed(ctx, "b"); err != nil {
			t.Fatal(err)
		}
		days, err := s.LastUsed(ctx, []string{"a", "b", "never", "' OR 1=1 --"})
		if err != nil || len(days) != 2 || days["a"] != "2026-08-01" || days["b"] != "2026-08-02" {
			t.Errorf("%v %v", days, err)
		}
		if days, err := s.LastUsed(ctx, nil); err != nil || len(days) != 0 {
			t.Errorf("%v %v", days, err)
		}
	})
}

func TestOnlyTheOwnerReadsTheFile(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "identity.db")
	if err := os.WriteFile(path, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	var refused *private.FolderError
	if _, err := identity.Open(t.Context(), at("sqlite:"+path)); !errors.As(err, &refused) {
		t.Fatalf("a file that others can read: %v", err)
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	db, err := identity.Open(t.Context(), at("sqlite:"+path))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = db.Close() }()
	files, err := filepath.Glob(path + "*")
	if err != nil || len(files) < 2 {
		t.Fatal(files, err)
	}
	for _, file := range files {
		if info, err := os.Stat(file); err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("%s: %v %v", file, info.Mode(), err)
		}
	}
	for _, bad := range []string{"", "mysql://x", "sqlite:" + filepath.Join(path, "no", "folder")} {
		if _, err := identity.Open(t.Context(), at(bad)); err == nil {
			t.Errorf("%q was opened", bad)
		}
	}
}

// TestASchemaOfItsOwn: on PostgreSQL the tables lie apart from whatever else the database holds; tables that lie among the read
// models are moved, once; and everything in the other schemas can be dropped.
func TestASchemaOfItsOwn(t *testing.T) {
	t.Parallel()
	address := pgtest.Database(t)
	admin, err := sql.Open("pgx", address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = admin.Close() })
	execute := func(statement string) {
		t.Helper()
		if _, err := admin.ExecContext(t.Context(), statement); err != nil {
			t.Fatalf("%s: %v", statement, err)
		}
	}
	tables := func(schema string) (n int) {
		t.Helper()
		if err := admin.QueryRowContext(t.Context(), "SELECT count(*) FROM pg_tables WHERE schemaname = $1 AND tablename LIKE 'identity%'", schema).Scan(&n); err != nil {
			t.Fatal(err)
		}
		return n
	}
	open := func(schema string) (*identity.Store, func()) {
		t.Helper()
		db, err := identity.Open(t.Context(), identity.Where{Address: address, Schema: schema, Logger: slog.New(slog.DiscardHandler)})
		if err != nil {
			t.Fatal(err)
		}
		return identity.New(db, time.Now, identity.DefaultRules(), passwordstest.NewHasher()), func() { _ = db.Close() }
	}
	log := &logged{}
	people, closePeople := open("identity")
	anna, err := people.Register(t.Context(), "anna@example.com", "correct horse", log.announce)
	if err != nil || tables("public") != 0 || tables("identity") != 10 {
		t.Fatalf("%v; %d and %d tables", err, tables("public"), tables("identity"))
	}
	closePeople()

	// As they lay before: among the read models.
	for _, table := range []string{"accounts", "sessions", "windows", "token_use", "migrations"} {
		execute("ALTER TABLE identity.identity_" + table + " SET SCHEMA public")
	}
	execute("DROP TABLE identity.identity_salts, identity.identity_places, identity.identity_oauth_clients, identity.identity_oauth_grants, identity.identity_oauth_secrets; ALTER TABLE public.identity_windows SET LOGGED; " +
		"ALTER TABLE public.identity_sessions DROP COLUMN agent, DROP COLUMN network, DROP COLUMN last_used_on; DROP INDEX public.identity_sessions_account; DELETE FROM public.identity_migrations WHERE version > 1")
	execute("DROP SCHEMA identity")
	for range 2 {
		_, closePeople = open("people")
		closePeople()
	}
	if tables("public") != 0 || tables("people") != 10 {
		t.Errorf("%d and %d tables", tables("public"), tables("people"))
	}
	execute("DROP SCHEMA public CASCADE; CREATE SCHEMA public")
	people, closePeople = open("people")
	defer closePeople()
	if session, err := people.SignIn(t.Context(), "anna@example.com", "correct horse", identity.Client{}, log.announce); err != nil || session.Account != anna {
		t.Errorf("%+v, %v", session, err)
	}

	// A user without the right to make schemas: an administrator makes it.
	execute("CREATE ROLE clerk_" + tableSuffix(address) + " LOGIN")
	clerk, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	clerk.User = url.User("clerk_" + tableSuffix(address))
	t.Cleanup(func() {
		if _, err := admin.ExecContext(context.Background(), "DROP OWNED BY "+clerk.User.Username()+"; DROP ROLE "+clerk.User.Username()); err != nil {
			t.Error(err)
		}
	})
	where := identity.Where{Address: clerk.String(), Schema: "clerks", Logger: slog.New(slog.DiscardHandler)}
	if _, err := identity.Open(t.Context(), where); err == nil || !strings.Contains(err.Error(), "CREATE SCHEMA clerks AUTHORIZATION") {
		t.Errorf("a user without rights: %v", err)
	}
	execute("CREATE SCHEMA clerks AUTHORIZATION " + clerk.User.Username())
	db, err := identity.Open(t.Context(), where)
	if err != nil {
		t.Fatal(err)
	}
	_ = db.Close()
	if tables("clerks") != 10 {
		t.Errorf("%d tables", tables("clerks"))
	}
}

// tableSuffix tells the databases of tests apart in names that a whole server shares.
func tableSuffix(address string) string {
	u, _ := url.Parse(address) // pgtest wrote it
	return strings.Trim(u.Path, "/")
}

// TestUsesWhileTheDatabaseIsAway: one error, and not one for every request; the use is stored once the database is back.
func TestUsesWhileTheDatabaseIsAway(t *testing.T) {
	t.Parallel()
	way, through := pgtest.Behind(t, pgtest.Database(t))
	db, err := identity.Open(t.Context(), at(through))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = db.Close() }()
	c := &clock{now: time.Date(2026, 8, 1, 12, 0, 0, 0, time.UTC)}
	s := identity.New(db, c.Now, identity.DefaultRules(), passwordstest.NewHasher())
	way.Refuse()
	if err := s.TokenUsed(t.Context(), "a"); err == nil {
		t.Error("stored while the database is away")
	}
	for _, token := range []string{"a", "b", "c"} {
		if err := s.TokenUsed(t.Context(), token); err != nil {
			t.Errorf("a request later: %v", err)
		}
	}
	way.Mend()
	c.pass(time.Minute)
	if err := s.TokenUsed(t.Context(), "a"); err != nil {
		t.Error(err)
	}
	if days, err := s.LastUsed(t.Context(), []string{"a", "b"}); err != nil || len(days) != 1 || days["a"] != "2026-08-01" {
		t.Errorf("%v, %v", days, err)
	}
}
