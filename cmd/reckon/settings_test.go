package main

import (
	"encoding/json"
	"errors"
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/alecthomas/kong"

	"reckon/domain/account"
	"reckon/internal/config"
)

// withoutInstallation are the commands that work on no installation, or are what an installation consists of.
var withoutInstallation = map[string]string{
	"serve": "the server itself: it has the settings, and more", "node run": "the log itself",
	"node verify": "works on the folder of a log", "node reindex": "likewise", "node backup": "likewise", "node restore": "likewise", "node scavenge": "likewise",
	"node export": "likewise, or on any server by its address", "node import": "likewise", "node stats": "likewise",
	"migrate":         "works on the two logs that it is given, of which no server runs on the first",
	"node users list": "a part of the log itself", "node users create": "likewise", "node users password": "likewise",
	"node users groups": "likewise", "node users disable": "likewise", "node users enable": "likewise", "node users delete": "likewise",
	"engine install": "the engine lies in the data folder always", "engine status": "likewise", "engine test": "likewise",
	"reference build": "works on files, and on the engine in the data folder", "reference check": "likewise",
	"reference search": "prints what the binary has", "reference show": "likewise",
	"lean check": "works on files", "lean child": "a part of the server", "lean jail": "likewise", "lean reference build": "works on files",
	"audit log": "works on a log wherever it lies, and takes no server's word for where that is", "audit usage": "likewise",
	"witness": "run by another party, who has no installation", "verify": "likewise",
	"qsim": "works on a file", "qsim-child": "a part of the server", "licences": "prints", "version": "prints",
}

// TestEveryCommandHasTheServersSettings: a command that works on an installation embeds it, so that it finds every part where the servers do.
func TestEveryCommandHasTheServersSettings(t *testing.T) {
	t.Parallel()
	parser, err := kong.New(&commandLine{}, append(config.Options(os.Getenv), kong.Name("reckon"), kong.Vars{"version": ""})...)
	if err != nil {
		t.Fatal(err)
	}
	type flag struct{ help, env, fallback, placeholder string }
	flagsOf := func(n *kong.Node) map[string]flag {
		flags := map[string]flag{}
		for _, f := range n.Flags {
			flags[f.Name] = flag{f.Help, strings.Join(f.Envs, " "), f.Default, f.PlaceHolder}
		}
		return flags
	}
	leaves := map[string]*kong.Node{}
	for _, leaf := range parser.Model.Leaves(false) {
		words := []string{}
		for n := leaf; n.Type == kong.CommandNode; n = n.Parent {
			words = append([]string{n.Name}, words...)
		}
		leaves[strings.Join(words, " ")] = leaf
	}
	serve := flagsOf(leaves["serve"])
	for name, leaf := range leaves {
		if withoutInstallation[name] != "" {
			continue
		}
		if field, found := leaf.Target.Type().FieldByName("installation"); !found || field.Type != reflect.TypeFor[installation]() {
			t.Errorf("reckon %s does not embed installation", name)
			continue
		}
		flags := flagsOf(leaf)
		for field := range reflect.TypeFor[config.Installation]().Fields() {
			setting := strings.ReplaceAll(strings.TrimSuffix(field.Tag.Get("json"), ",omitempty"), "_", "-")
			if flags[setting] != serve[setting] || flags[setting] == (flag{}) {
				t.Errorf("reckon %s --%s is %+v, and the server's %+v", name, setting, flags[setting], serve[setting])
			}
		}
	}
	for name := range withoutInstallation {
		if leaves[name] == nil {
			t.Errorf("there is no command %q", name)
		}
	}
}

// opens are the functions that open a part of an installation, and the files that may call them: those that make a server, and settings.go.
var opens = map[string][]string{
	"eventstore.Connect": {"parts.go", "settings.go"}, "projections.Open": {"parts.go", "settings.go"}, "identity.Open": {"parts.go", "settings.go"},
	"node.Open": {"node.go"}, "openNode": {"migrate.go", "node_room.go", "node_users.go", "settings.go"}, "openWithRoom": {"node.go", "parts.go"}, "blobs.OpenFolder": {"settings.go"}, "blobs.ExistingFolder": {"settings.go"}, "openBlobs": {"parts.go", "settings.go"},
	"keyring.Open": {"signing.go"}, "openKeys": {"signing.go", "settings.go", "admin.go"}, "config.LoadPlans": {"service.go", "settings.go"},
}

// TestOnlySettingsOpenParts: no command opens a part by itself.
func TestOnlySettingsOpenParts(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	called := map[string]bool{}
	for _, file := range files {
		if strings.HasSuffix(file, "_test.go") {
			continue
		}
		tree, err := parser.ParseFile(token.NewFileSet(), file, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(tree, func(n ast.Node) bool {
			call, ok := n.(*ast.CallExpr)
			if !ok {
				return true
			}
			name := ""
			switch f := call.Fun.(type) {
			case *ast.Ident:
				name = f.Name
			case *ast.SelectorExpr:
				if of, ok := f.X.(*ast.Ident); ok {
					name = of.Name + "." + f.Sel.Name
				}
			}
			if allowed, watched := opens[name]; watched {
				called[name] = true
				if !slices.Contains(allowed, file) {
					t.Errorf("%s calls %s: a command opens what (installation).settings tells", file, name)
				}
			}
			return true
		})
	}
	if len(called) != len(opens) {
		t.Errorf("called: %v", slices.Sorted(maps.Keys(called)))
	}
}

// served answers /settings of a folder as a server with these settings does.
func served(t *testing.T, with func(data string) config.Installation) (data string) {
	t.Helper()
	mux := http.NewServeMux()
	data = listenAdmin(t, mux)
	if err := os.Chmod(data, 0o700); err != nil {
		t.Fatal(err)
	}
	complete, err := with(data).Complete()
	if err != nil {
		t.Fatal(err)
	}
	mux.HandleFunc("GET /settings", func(w http.ResponseWriter, _ *http.Request) {
		_ = json.NewEncoder(w).Encode(serverSettings{Installation: complete, Plans: account.DefaultPlans()[:1], Log: "unix:/the/log", Process: "p"})
	})
	return data
}

const postgresWithPassword = "postgres://reckon:s3cr3t-1@db/reckon?sslpassword=s3cr3t-2&host=x"

// TestSettingsAreTheServers: a command learns every part from the server that runs, and may not contradict it.
func TestSettingsAreTheServers(t *testing.T) {
	t.Parallel()
	keys := filepath.Join(t.TempDir(), "keys")
	data := served(t, func(data string) config.Installation {
		return config.Installation{Data: data, Eventstore: "unix:/srv/node.sock", Database: postgresWithPassword, Keys: keys, IdentitySchema: "people", PublicURL: "https://reckon.example"}
	})
	s, err := installation{config.Installation{Data: data}}.settings(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if s.Keys != keys || s.Identity != postgresWithPassword || s.Database != postgresWithPassword || s.IdentitySchema != "people" || s.log != "unix:/the/log" ||
		s.PublicURL != "https://reckon.example" || s.Blobs != "file://"+data+"/blobs" || len(s.plans) != 1 || len(s.unknown) != 0 {
		t.Errorf("%+v", s)
	}
	agreeing := config.Installation{Data: data, Keys: keys, PublicURL: "HTTPS://reckon.example:443/", Database: strings.ReplaceAll(postgresWithPassword, "s3cr3t", "another")}
	if _, err := (installation{agreeing}).settings(t.Context()); err != nil {
		t.Errorf("what the server says too: %v", err)
	}
	for setting, contradicting := range map[string]config.Installation{
		"keys": {Keys: "/elsewhere"}, "database": {Database: "sqlite:/x"}, "eventstore": {Eventstore: "embedded"}, "identity": {Identity: "postgres://other/reckon"},
		"identity-schema": {IdentitySchema: "others"}, "blobs": {Blobs: "file:///elsewhere"}, "public-url": {PublicURL: "https://other.example"},
	} {
		contradicting.Data = data
		if _, err := (installation{contradicting}).settings(t.Context()); err == nil || !strings.Contains(err.Error(), "--"+setting+" (RECKON_") || strings.Contains(err.Error(), "s3cr3t") {
			t.Errorf("another %s: %v", setting, err)
		}
	}
}

// TestSettingsOfTheLastServer: where none runs, what the folder's last server had holds; passwords are not kept.
func TestSettingsOfTheLastServer(t *testing.T) {
	t.Parallel()
	data, keys := filepath.Join(t.TempDir(), "data"), filepath.Join(t.TempDir(), "keys")
	if err := os.Mkdir(data, 0o700); err != nil {
		t.Fatal(err)
	}
	record := func(i config.Installation) {
		t.Helper()
		i.Data = data
		complete, err := i.Complete()
		if err == nil {
			err = recordServed(complete)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	settingsOf := func(i config.Installation) (*settings, error) {
		i.Data = data
		return installation{i}.settings(t.Context())
	}
	record(config.Installation{Keys: keys, Database: "postgres://reckon@/reckon?host=/run/postgresql"})
	s, err := settingsOf(config.Installation{})
	if err != nil || s.Keys != keys || s.Database != "postgres://reckon@/reckon?host=/run/postgresql" || s.Identity != s.Database || s.Eventstore != "embedded" || s.log != "" || len(s.plans) != len(account.DefaultPlans()) {
		t.Errorf("%+v, %v", s, err)
	}
	if _, err := settingsOf(config.Installation{Keys: "/elsewhere"}); err == nil || !strings.Contains(err.Error(), "--keys") || !strings.Contains(err.Error(), keys) {
		t.Errorf("other keys: %v", err)
	}

	record(config.Installation{Database: postgresWithPassword, Eventstore: "esdb://reckon:s3cr3t-3@one:1,two:2?tls=true"})
	content, err := os.ReadFile(servedFile(data))
	info, statErr := os.Stat(servedFile(data))
	if err = errors.Join(err, statErr); err != nil || strings.Contains(string(content), "s3cr3t") || info.Mode().Perm() != 0o600 {
		t.Fatalf("%v, %v\n%s", err, info.Mode(), content)
	}
	_, err = settingsOf(config.Installation{})
	for _, setting := range []string{"--eventstore", "--database", "--identity"} {
		if err == nil || !strings.Contains(err.Error(), setting+" (RECKON_") {
			t.Errorf("without the passwords: %v", err)
		}
	}
	s, err = settingsOf(config.Installation{Database: postgresWithPassword, Identity: postgresWithPassword, Eventstore: "esdb://reckon:s3cr3t-3@one:1,two:2?tls=true"})
	if err != nil || s.Database != postgresWithPassword || s.Identity != postgresWithPassword || s.Eventstore != "esdb://reckon:s3cr3t-3@one:1,two:2?tls=true" {
		t.Errorf("with the passwords: %+v, %v", s, err)
	}
	if err := os.WriteFile(servedFile(data), []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := settingsOf(config.Installation{}); err == nil || !strings.Contains(err.Error(), servedFile(data)) {
		t.Errorf("a damaged record: %v", err)
	}
}

// TestAMovedOrCopiedFolder: what lies in a folder goes with it; what lies outside is shared with a copy only when told.
func TestAMovedOrCopiedFolder(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	first, outside := filepath.Join(root, "first"), filepath.Join(root, "keys")
	record := func(i config.Installation) {
		t.Helper()
		i.Data = first
		complete, err := i.Complete()
		if err = errors.Join(err, os.MkdirAll(first, 0o700)); err == nil {
			err = recordServed(complete)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	copied := func() string {
		t.Helper()
		data := filepath.Join(t.TempDir(), "copy")
		content, err := os.ReadFile(servedFile(first))
		if err = errors.Join(err, os.Mkdir(data, 0o700), os.WriteFile(servedFile(data), content, 0o600)); err != nil {
			t.Fatal(err)
		}
		return data
	}
	settingsOf := func(i config.Installation) (*settings, error) { return installation{i}.settings(t.Context()) }
	whole := func(data string, s *settings, err error) {
		t.Helper()
		if err != nil || s.Keys != filepath.Join(data, "my keys") || s.Database != "sqlite:"+filepath.Join(data, "db") || s.Identity != "sqlite:"+filepath.Join(data, "identity.db") ||
			s.Blobs != "file://"+data+"/large bytes" || string(s.Config) != "" || s.Eventstore != "unix:"+filepath.Join(data, "n.sock") {
			t.Errorf("in %s: %+v, %v", data, s, err)
		}
	}

	record(config.Installation{Keys: filepath.Join(first, "my keys"), Database: "sqlite:" + filepath.Join(first, "db"), Blobs: "file://" + first + "/large bytes", Eventstore: "unix:" + filepath.Join(first, "n.sock")})
	s, err := settingsOf(config.Installation{Data: first})
	whole(first, s, err)
	data := copied()
	s, err = settingsOf(config.Installation{Data: data})
	whole(data, s, err)
	elsewhere := filepath.Join(root, "linked")
	if err := errors.Join(os.Mkdir(elsewhere, 0o700), os.Symlink(elsewhere, filepath.Join(data, "my keys"))); err != nil {
		t.Fatal(err)
	}
	if _, err := settingsOf(config.Installation{Data: data}); err == nil || !strings.Contains(err.Error(), "--keys (RECKON_") {
		t.Errorf("a copied link: %v", err)
	}

	given := config.Installation{Keys: outside, Database: "postgres://reckon@/reckon?host=/run/postgresql", Blobs: "file:///srv/blobs", Eventstore: "unix:/srv/n.sock"}
	record(given)
	data = copied()
	_, err = settingsOf(config.Installation{Data: data})
	for _, setting := range []string{"keys", "database", "identity", "blobs", "eventstore"} {
		if err == nil || !strings.Contains(err.Error(), "--"+setting+" (RECKON_") {
			t.Errorf("a copy without --%s: %v", setting, err)
		}
	}
	given.Data, given.Keys, given.Identity = data, filepath.Join(data, "keys"), given.Database
	if s, err := settingsOf(given); err != nil || s.Keys != given.Keys || s.Database != given.Database || s.Eventstore != given.Eventstore {
		t.Errorf("a copy that was told: %+v, %v", s, err)
	}
	moved := filepath.Join(root, "moved")
	if err := os.Rename(first, moved); err != nil {
		t.Fatal(err)
	}
	if s, err := settingsOf(config.Installation{Data: moved}); err != nil || s.Keys != outside {
		t.Errorf("the moved folder: %+v, %v", s, err)
	}
}

// TestANewInstallationNeedsAnEmptyFolder: where a log is missing and anything else is there, no command and no server makes another log.
func TestANewInstallationNeedsAnEmptyFolder(t *testing.T) {
	t.Parallel()
	commands := [][]string{{"keys", "rotate"}, {"account", "create", "a@example.com", "--password-stdin"}}
	for _, left := range []string{"keys", "identity.db", "settings.json", "blobs", "readmodels.db", "engine"} {
		data := filepath.Join(t.TempDir(), "data")
		if err := errors.Join(os.MkdirAll(filepath.Join(data, "eventstore"), 0o700), os.Mkdir(filepath.Join(data, left), 0o700), os.WriteFile(filepath.Join(data, left, "file"), nil, 0o600)); err != nil {
			t.Fatal(err) // of a folder where a file is meant no command gets as far as to read it
		}
		if left == "settings.json" {
			complete, err := config.Installation{Data: data}.Complete()
			if err = errors.Join(err, os.RemoveAll(servedFile(data))); err == nil {
				err = recordServed(complete)
			}
			if err != nil {
				t.Fatal(err)
			}
		}
		all := commands
		if left != "engine" { // `engine install` comes before the first server
			all = append(slices.Clone(all), []string{"serve", "--listen", "127.0.0.1:0"})
		}
		for _, command := range all {
			status, _, stderr := reckon(t, "a long password\n", nil, append(slices.Clone(command), "--data", data)...)
			if status != 2 || !strings.Contains(stderr, "no event log") || !strings.Contains(stderr, left) {
				t.Errorf("reckon %v where %s is left: status %d\n%s", command, left, status, stderr)
			}
		}
		if inside, err := os.ReadDir(filepath.Join(data, "eventstore")); err != nil || len(inside) > 0 {
			t.Errorf("where %s is left: made %v, %v", left, inside, err)
		}
	}
	data := filepath.Join(t.TempDir(), "data")
	for _, command := range commands { // the second on what the first made
		if status, _, stderr := reckon(t, "a long password\n", nil, append(slices.Clone(command), "--init", "--data", data)...); status != 0 {
			t.Errorf("reckon %v: status %d\n%s", command, status, stderr)
		}
	}
}

// TestAServerThatDoesNotAnswerIsNotAbsent: a command does not go on as if no server ran.
func TestAServerThatDoesNotAnswerIsNotAbsent(t *testing.T) {
	t.Parallel()
	mux := http.NewServeMux()
	data := listenAdmin(t, mux)
	if err := os.Chmod(data, 0o700); err != nil {
		t.Fatal(err)
	}
	mux.HandleFunc("GET /settings", func(w http.ResponseWriter, _ *http.Request) {
		connection, _, err := http.NewResponseController(w).Hijack()
		if err == nil {
			_ = connection.Close()
		}
	})
	if _, err := (installation{config.Installation{Data: data}}).settings(t.Context()); err == nil || !strings.Contains(err.Error(), data) {
		t.Errorf("%v", err)
	}
}

// TestNoSecretIsPrinted: passwords in addresses are in no message, whatever goes wrong.
func TestNoSecretIsPrinted(t *testing.T) {
	t.Parallel()
	const secret = "s3cr3t"
	data := t.TempDir()
	if err := os.Chmod(data, 0o700); err != nil {
		t.Fatal(err)
	}
	commands := [][]string{{"keys", "list"}, {"keys", "rotate"}, {"account", "create", "a@example.com", "--password-stdin"}, {"account", "token", "a@example.com", "--name", "x"}, {"projections", "status"}, {"parked"}}
	for _, environment := range [][]string{
		{"RECKON_DATABASE=postgres://u:" + secret + "@127.0.0.1:1/x?connect_timeout=1"}, {"RECKON_IDENTITY=postgres://u:" + secret + "@127.0.0.1:1/x"},
		{"RECKON_DATABASE=postgres://u:" + secret + "@[::bad/x"}, {"RECKON_EVENTSTORE=esdb://u:" + secret + "@127.0.0.1:1?tls=false"},
		{"RECKON_EVENTSTORE=http://u:" + secret + "@127.0.0.1:1"}, {"RECKON_EVENTSTORE=esdb://u:" + secret + "@127.0.0.1:1?tls=nonsense"},
		{"RECKON_PUBLIC_URL=https://u:" + secret + "@example.com"},
	} {
		var group sync.WaitGroup
		for _, command := range commands {
			group.Go(func() {
				status, stdout, stderr := reckon(t, secret+" as a password\n", environment, append(slices.Clone(command), "--data", data)...)
				if strings.Contains(stdout+stderr, secret) {
					t.Errorf("%v reckon %v: status %d\n%s%s", environment, command, status, stdout, stderr)
				}
			})
		}
		group.Wait()
	}
}

// TestLostIsSaidByHand: a variable or a line in a file that somebody left there does not make a command give up a key.
func TestLostIsSaidByHand(t *testing.T) {
	t.Parallel()
	data, file := filepath.Join(t.TempDir(), "data"), filepath.Join(t.TempDir(), "reckon.toml")
	for range 2 { // published, then active
		if status, _, stderr := reckon(t, "", nil, "keys", "rotate", "--init", "--data", data); status != 0 {
			t.Fatal(stderr)
		}
	}
	if err := errors.Join(os.Rename(filepath.Join(data, "keys"), filepath.Join(t.TempDir(), "keys")), os.WriteFile(file, []byte("lost = true\n"), 0o600)); err != nil {
		t.Fatal(err)
	}
	for _, environment := range [][]string{nil, {"RECKON_LOST=true"}} {
		if status, _, stderr := reckon(t, "", environment, "keys", "rotate", "--data", data); status != 2 || !strings.Contains(stderr, "--lost") {
			t.Errorf("%v: status %d\n%s", environment, status, stderr)
		}
	}
	if status, _, stderr := reckon(t, "", []string{"RECKON_CONFIG=" + file}, "keys", "rotate", "--data", data); status != 2 || !strings.Contains(stderr, `no setting "lost"`) {
		t.Errorf("in a file: status %d\n%s", status, stderr)
	}
	if status, stdout, stderr := reckon(t, "", nil, "keys", "list", "--data", data); status != 1 || !strings.Contains(stdout, "its private half is not in") {
		t.Errorf("the list: status %d\n%s%s", status, stdout, stderr)
	}
	if status, stdout, stderr := reckon(t, "", nil, "keys", "rotate", "--lost", "--data", data); status != 0 || !strings.Contains(stdout, "published") {
		t.Errorf("by hand: status %d\n%s", status, stderr)
	}
}

// TestCommandsTakeTurns: two commands at once on a folder without a server both do their work.
func TestCommandsTakeTurns(t *testing.T) {
	t.Parallel()
	data := filepath.Join(t.TempDir(), "data")
	if status, _, stderr := reckon(t, "", nil, "keys", "rotate", "--init", "--data", data); status != 0 {
		t.Fatal(stderr)
	}
	var group sync.WaitGroup
	for range 3 {
		group.Go(func() {
			if status, _, stderr := reckon(t, "", nil, "keys", "list", "--data", data); status != 0 {
				t.Errorf("status %d\n%s", status, stderr)
			}
		})
	}
	group.Wait()
}
