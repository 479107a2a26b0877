package config_test

import (
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/alecthomas/kong"

	"reckon/domain/account"
	"reckon/internal/config"
	"reckon/internal/statefiles"
	"reckon/internal/supervision"
)

// parse runs the command line the way the binary does.
func parse(t *testing.T, env map[string]string, args ...string) (config.Serve, error) {
	t.Helper()
	for name, value := range env {
		t.Setenv(name, value)
	}
	var cli struct {
		Serve config.Serve `cmd:""`
	}
	parser, err := kong.New(&cli, append(config.Options(os.Getenv), kong.Exit(func(int) {}))...)
	if err != nil {
		return cli.Serve, err
	}
	_, err = parser.Parse(append([]string{"serve"}, args...))
	return cli.Serve, err
}

func write(t *testing.T, content string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "reckon.toml")
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestDefaults(t *testing.T) {
	s, err := parse(t, nil)
	if err != nil {
		t.Fatal(err)
	}
	if s.Listen != "127.0.0.1:8080" || s.Eventstore != "embedded" || !s.Has(config.RoleRun) || s.QueueWait != supervision.WorkerWait || s.Grace != supervision.JobsEnd || s.Log.Level != "info" {
		t.Errorf("%+v", s)
	}
	if s.StateAge != statefiles.DefaultAge || int64(s.StateSpaceAccount)<<20 != statefiles.DefaultAccountBytes || int64(s.StateSpace)<<20 != statefiles.DefaultTotalBytes {
		t.Errorf("docs/limits.md has other bounds of state vectors than %v, %d and %d MiB", s.StateAge, s.StateSpaceAccount, s.StateSpace)
	}
	if s.DatabaseAddress() != "sqlite:reckon-data/readmodels.db" || s.IdentityAddress() != "sqlite:reckon-data/identity.db" {
		t.Errorf("%s %s", s.DatabaseAddress(), s.IdentityAddress())
	}
	if blobs, err := s.BlobAddress(); err != nil || !strings.HasPrefix(blobs.Folder, "/") || !strings.HasSuffix(blobs.Folder, "/reckon-data/blobs") {
		t.Errorf("%s %v", blobs, err)
	}
	if states, err := s.StateFolder(); err != nil || !strings.HasSuffix(states, "/reckon-data/blobs/statevectors") {
		t.Errorf("%s %v", states, err)
	}
	s.Blobs = "s3://a-bucket"
	if states, err := s.StateFolder(); err != nil || states != "reckon-data/statevectors" {
		t.Errorf("%s %v", states, err)
	}
}

func TestSameNamesEverywhere(t *testing.T) {
	file := write(t, "listen = \"f:1\"\nadmin-listen = \"f:2\"\ndata = \"f\"\nroles = [\"api\", \"run\"]\nqueue-wait = \"3s\"\nlog-level = \"debug\"\nworkers = 3\n")
	env := map[string]string{"RECKON_LISTEN": "e:1", "RECKON_ADMIN_LISTEN": "e:2", "RECKON_ADMIN_TOKEN": "a token long enough", "RECKON_LOG_FORMAT": "json"}
	for name, how := range map[string]struct {
		env  map[string]string
		args []string
	}{
		"flag": {env, []string{"--listen", "c:1", "--config", file}},
		"env":  {map[string]string{"RECKON_LISTEN": "e:1", "RECKON_ADMIN_LISTEN": "e:2", "RECKON_ADMIN_TOKEN": "a token long enough", "RECKON_LOG_FORMAT": "json", "RECKON_CONFIG": file}, []string{"--listen", "c:1"}},
	} {
		t.Run(name, func(t *testing.T) {
			s, err := parse(t, how.env, how.args...)
			if err != nil {
				t.Fatal(err)
			}
			if s.Listen != "c:1" || s.AdminListen != "e:2" || s.Data != "f" || s.QueueWait != 3*time.Second || s.Log.Level != "debug" || s.Log.Format != "json" || s.Workers != 3 || !reflect.DeepEqual(s.Roles, []config.Role{config.RoleAPI, config.RoleRun}) {
				t.Errorf("%+v", s)
			}
		})
	}
}

func TestMistakesAreNamed(t *testing.T) {
	for name, c := range map[string]struct {
		env  map[string]string
		args []string
		want string
	}{
		"flag":        {nil, []string{"--lisen=x"}, "lisen"},
		"key":         {nil, []string{"--config", write(t, "lisen = 1")}, "lisen"},
		"key by env":  {map[string]string{"RECKON_CONFIG": write(t, "lisen = 1")}, nil, "lisen"},
		"no file":     {nil, []string{"--config", "nosuch.toml"}, "nosuch.toml"},
		"env no file": {map[string]string{"RECKON_CONFIG": "nosuch.toml"}, nil, "nosuch.toml"},
		"not TOML":    {nil, []string{"--config", write(t, "= 1")}, "configuration file"},
		"value":       {map[string]string{"RECKON_WORKERS": "many"}, nil, "many"},
		"role":        {nil, []string{"--roles=api,cook"}, "cook"},
		"store":       {nil, []string{"--eventstore=http://x"}, "esdb"},
		"no socket":   {nil, []string{"--eventstore=unix:"}, "unix:PATH"},
		"bucket":      {nil, []string{"--blobs=gs://x"}, "file:///DIR"},
		"no token":    {nil, []string{"--admin-listen=127.0.0.1:0"}, "--admin-token (RECKON_ADMIN_TOKEN, or admin-token in the configuration file)"},
		"short token": {nil, []string{"--admin-listen=127.0.0.1:0", "--admin-token=short"}, "16"},
		"peer secret": {map[string]string{"RECKON_PEER_SECRET": "fifteen letters"}, nil, "at least 16"},
		"negative":    {nil, []string{"--workers=-1"}, "workers"},
		"proxy":       {nil, []string{"--trusted-proxies=10.0.0.1"}, "10.0.0.0/8"},
		"schema":      {nil, []string{"--identity-schema=public"}, "a schema of its own"},
		"no schema":   {nil, []string{"--identity-schema=a-b"}, "--identity-schema (RECKON_IDENTITY_SCHEMA"},
		"system's":    {nil, []string{"--identity-schema=pg_temp"}, "a schema of its own"},
		"one file":    {nil, []string{"--identity=sqlite:x.db", "--database=sqlite:./x.db"}, "another file"},
		"its default": {nil, []string{"--database=sqlite:reckon-data/identity.db"}, "another file"},
		"public url":  {nil, []string{"--public-url=example.com/x"}, "public-url"},
	} {
		t.Run(name, func(t *testing.T) {
			if _, err := parse(t, c.env, c.args...); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%v, want it to name %q", err, c.want)
			}
		})
	}
}

// TestEveryNumberIsBounded: a setting that counts or lasts cannot be negative, and the message gives all its names.
func TestEveryNumberIsBounded(t *testing.T) {
	var cli struct {
		Serve config.Serve `cmd:""`
	}
	parser, err := kong.New(&cli, config.Options(os.Getenv)...)
	if err != nil {
		t.Fatal(err)
	}
	checked := 0
	for _, flag := range parser.Model.Children[0].Flags {
		value := map[reflect.Kind]string{reflect.Int: "-1", reflect.Int64: "-1s"}[flag.Target.Kind()]
		if value == "" {
			continue
		}
		checked++
		want := "--" + flag.Name + " (" + flag.Envs[0] + ", or " + flag.Name + " in the configuration file): must "
		if _, err := parse(t, nil, "--"+flag.Name+"="+value); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
	if checked < 8 {
		t.Errorf("only %d settings are numbers or durations: the walk is wrong", checked)
	}
}

func TestAllMistakesAreToldAtOnce(t *testing.T) {
	_, err := parse(t, nil, "--workers=-1", "--beat=0s", "--public-url=x", "--trusted-proxies=10.0.0.1")
	for _, setting := range []string{"--workers", "--beat", "--public-url", "--trusted-proxies"} {
		if err == nil || !strings.Contains(err.Error(), setting+" (RECKON_") {
			t.Errorf("%v, want it to name %s", err, setting)
		}
	}
}

func TestPostgresHoldsIdentityToo(t *testing.T) {
	s, err := parse(t, nil, "--database=postgres://h/d")
	if err != nil || s.IdentityAddress() != "postgres://h/d" {
		t.Errorf("%s %v", s.IdentityAddress(), err)
	}
}

// TestEveryPathIsAbsolute: completed settings mean the same in another process.
func TestEveryPathIsAbsolute(t *testing.T) {
	here, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	got, err := config.Installation{
		Config: "c.toml", Data: "d", Eventstore: "unix:log/node.sock", Database: "sqlite:r.db", Identity: "sqlite:i.db", Blobs: "file://b", Keys: "k",
	}.Complete()
	want := config.Installation{
		Config: config.File(here + "/c.toml"), Data: here + "/d", Eventstore: "unix:" + here + "/log/node.sock", Database: "sqlite:" + here + "/r.db",
		Identity: "sqlite:" + here + "/i.db", IdentitySchema: "identity", Blobs: "file://" + here + "/b", Keys: here + "/k",
	}
	if err != nil || got != want {
		t.Errorf("%+v, %v", got, err)
	}
	got, err = config.Installation{Data: "d"}.Complete()
	want = config.Installation{
		Data: here + "/d", Eventstore: "embedded", Database: "sqlite:" + here + "/d/readmodels.db", Identity: "sqlite:" + here + "/d/identity.db",
		IdentitySchema: "identity", Blobs: "file://" + here + "/d/blobs", Keys: here + "/d/keys",
	}
	if err != nil || got != want {
		t.Errorf("%+v, %v", got, err)
	}
	if again, err := got.Complete(); err != nil || again != got {
		t.Errorf("completed again: %+v, %v", again, err)
	}
	var fields []string // a new setting must be compared too, or be one of these
	for field := range reflect.TypeFor[config.Installation]().Fields() {
		fields = append(fields, field.Name)
	}
	if strings.Join(fields, " ") != "Config Data Eventstore InsecureEventstore Database Identity IdentitySchema Blobs Keys PublicURL" {
		t.Errorf("fields %v: does Under compare the new one?", fields)
	}
}

func TestPasswordsAreCutOut(t *testing.T) {
	for address, want := range map[string]string{
		"sqlite:/x":                 "sqlite:/x",
		"unix:/a@b:c":               "unix:/a@b:c",
		"postgres://h/d":            "postgres://h/d",
		"postgres://u@h/d":          "postgres://u@h/d",
		"postgres://u:p@h/d":        "postgres://u:…@h/d",
		"postgres://u:p@ss:w@h:1/d": "postgres://u:…@h:1/d",
		"postgres://u:@h/d?a=b":     "postgres://u:…@h/d?a=b",
		"postgres:///d?user=u&password=p@x&sslpassword=q&host=h": "postgres:///d?user=u&password=…&sslpassword=…&host=h",
		"postgres:///d?PASSWORD=p":                               "postgres:///d?PASSWORD=…",
		"esdb://u:p@a:1,b:2?tls=true":                            "esdb://u:…@a:1,b:2?tls=true",
		"esdb+discover://u:p@a":                                  "esdb+discover://u:…@a",
	} {
		i := config.Installation{Database: address}
		cut := i.WithoutSecrets()
		if cut.Database != want || i.Database != address {
			t.Errorf("%s becomes %s, want %s", address, cut.Database, want)
		}
		if err := cut.RequireSecrets("it"); (err != nil) != strings.Contains(want, "…") {
			t.Errorf("%s: %v", address, err)
		}
		if again, err := i.Under(cut, "it"); err != nil || again != i {
			t.Errorf("%s under itself: %+v, %v", address, again, err)
		}
	}
}

// TestTheExampleOfPlans: what docs/accounts.md shows as a file of plans is one.
func TestTheExampleOfPlans(t *testing.T) {
	page, err := os.ReadFile(filepath.Join("..", "..", "docs", "accounts.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, example, _ := strings.Cut(string(page), "```toml\n")
	example, _, _ = strings.Cut(example, "```")
	if plans, err := config.LoadPlans(write(t, example)); err != nil || len(plans) != 2 || plans[1].Name != "lab" {
		t.Errorf("%+v, %v", plans, err)
	}
}

func TestPlans(t *testing.T) {
	plans, err := config.LoadPlans(write(t, "listen = \"x\"\n[[plans]]\nplan = \"free\"\nper_minute = 7\n[[plans]]\nplan = \"lab\"\nevaluation_budget_ms = 1\nper_minute = 1\nconcurrent_evaluations = 1\njob_budget_ms = 1\nprices = [{period = \"month\", amount_minor = 5, currency = \"EUR\"}]\n"))
	if err != nil || len(plans) != 2 {
		t.Fatal(plans, err)
	}
	free, _ := account.DefaultPlans().Find("free")
	free.PerMinute = 7
	if !reflect.DeepEqual(plans[0], free) || plans[1].Name != "lab" || plans[1].Prices[0].Currency != "EUR" {
		t.Errorf("%+v", plans)
	}
	for _, path := range []string{"", write(t, "listen = \"x\"")} {
		if plans, err := config.LoadPlans(path); err != nil || !reflect.DeepEqual(plans, account.DefaultPlans()) {
			t.Errorf("%v %v", plans, err)
		}
	}
	for _, bad := range []string{"[[plans]]\nplan = \"free\"\nper_minit = 7", "[[plans]]\nplan = \"free\"\nper_minute = 0", "[[plans]]\nper_minute = 1", "plans = 3", "["} {
		if plans, err := config.ParsePlans([]byte(bad)); err == nil {
			t.Errorf("%q accepted: %+v", bad, plans)
		}
	}
}
