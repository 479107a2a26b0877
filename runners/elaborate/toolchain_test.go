package elaborate

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"reckon/commands"
	"reckon/runners/jail"
	"reckon/test/need"
)

// TestMain lets the test binary be the jail, as the service's binary is.
func TestMain(m *testing.M) {
	if len(os.Args) == 3 && os.Args[1] == "jail" {
		os.Exit(jail.Enter(os.Args[2]))
	}
	os.Exit(m.Run())
}

const exported = `{"meta":{"format":{"version":"3.1.0"}}}` + "\n"

// standIn is a toolchain whose lean and lean4export are scripts that stand in for the real ones.
func standIn(t *testing.T, change func(*Options)) *Toolchain {
	t.Helper()
	if runtime.GOOS != "linux" {
		need.Skip(t, "Linux, for the walls of elaboration", "make test, on Linux")
	}
	root := filepath.Join(t.TempDir(), "toolchain")
	if err := os.CopyFS(root, os.DirFS(filepath.Join("testdata", "standin"))); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(root, "export.ndjson"), []byte(exported), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"lean", "lean4export"} {
		if err := os.Chmod(filepath.Join(root, "bin", name), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	o := Options{Lean: root, Jail: []string{executable(t), "jail"}, ReadOnly: []string{"/bin", "/usr/bin"}}
	if change != nil {
		change(&o)
	}
	toolchain, err := New(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	return toolchain
}

func executable(t *testing.T) string {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return self
}

// withPath lets the scripts find the shell's commands; the walls stay.
func withPath(t *testing.T, toolchain *Toolchain) *Toolchain {
	t.Helper()
	for _, name := range []string{"cat", "cp", "tr", "sh"} {
		for _, folder := range []string{"/usr/bin", "/bin"} {
			if _, err := os.Stat(filepath.Join(folder, name)); err == nil {
				_ = os.Symlink(filepath.Join(folder, name), filepath.Join(toolchain.root, "bin", name))
			}
		}
	}
	return toolchain
}

func TestStandInElaborates(t *testing.T) {
	t.Parallel()
	toolchain := withPath(t, standIn(t, nil))
	if !strings.Contains(toolchain.Version, "stand-in") {
		t.Errorf("version %q", toolchain.Version)
	}
	end, column := 1, 9
	warning := commands.ElaborationMessage{Severity: "warning", Line: 1, Column: 8, EndLine: &end, EndColumn: &column, Message: "declaration uses `sorry`"}
	for name, c := range map[string]struct {
		source, module string
		declarations   []string
		want           commands.Elaborated
	}{
		"every theorem": {"theorem a : True := trivial\ndef b := 1\nlemma c.d : True := trivial\n", "Service", nil, commands.Elaborated{Messages: []commands.ElaborationMessage{}, Export: []byte(exported), Declarations: []string{"a", "c.d"}}},
		"dotted module": {"theorem a : True := trivial\n", "My.Deep.Proofs", nil, commands.Elaborated{Messages: []commands.ElaborationMessage{}, Export: []byte(exported), Declarations: []string{"a"}}},
		"named":         {"--warning\n--information\ntheorem a : True := trivial\n", "Service", []string{"b"}, commands.Elaborated{Messages: []commands.ElaborationMessage{warning}, Export: []byte(exported), Declarations: []string{"b"}}},
	} {
		got, err := toolchain.Elaborate(t.Context(), c.source, c.module, c.declarations)
		if err != nil || !reflect.DeepEqual(got, c.want) {
			t.Errorf("%s: %v\ngot  %+v\nwant %+v", name, err, got, c.want)
		}
	}
}

func TestStandInFails(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	patient := withPath(t, standIn(t, nil))
	hasty := withPath(t, standIn(t, func(o *Options) { o.Timeout = 2 * time.Second }))
	for source, want := range map[string]string{
		"--information\n--error\n": "type mismatch",
		"--crash\n":                "Stack overflow detected",
		"--forever\n":              "ran past its time",
		"--flood\n":                "printed more than",
		"def a := 1\n":             "declares no theorem",
		"theorem a : True := sorry --unexportable\n": "unknown constant",
	} {
		toolchain := patient
		if strings.Contains(source, "--forever") {
			toolchain = hasty // only what never ends may run out of time, on the slowest machine
		}
		got, err := toolchain.Elaborate(t.Context(), source, "Service", nil)
		failures := ofSeverity(got.Messages, commands.SeverityError)
		if err != nil || got.Export != nil || len(failures) != 1 || !strings.Contains(failures[0].Message, want) {
			t.Errorf("%q: %+v %v, want %q", source, got, err, want)
		}
	}
	leftovers, err := filepath.Glob(filepath.Join(os.TempDir(), "reckon-lean-*"))
	if err != nil || len(leftovers) > 0 {
		t.Errorf("left behind: %v %v", leftovers, err)
	}
}

// TestStandInIsWalledIn has a source try what no source may.
func TestStandInIsWalledIn(t *testing.T) {
	t.Parallel()
	toolchain := withPath(t, standIn(t, nil))
	outside := filepath.Join(t.TempDir(), "outside")
	if err := os.WriteFile(outside, []byte("secret"), 0o644); err != nil {
		t.Fatal(err)
	}
	for name, attempt := range map[string]string{
		"read a file":          "cat /etc/passwd",
		"read outside":         "cat " + outside,
		"write outside":        "echo x >" + outside,
		"make a file outside":  "echo x >" + outside + ".new",
		"remove outside":       "/bin/rm " + outside,
		"list the root":        "/bin/ls /",
		"see processes":        "/bin/ls /proc/1",
		"change the toolchain": "echo x >" + filepath.Join(toolchain.root, "bin", "lean"),
		"signal the parent":    "kill -0 " + strconv.Itoa(os.Getpid()),
		"a file of 1 GiB":      "/bin/dd if=/dev/null of=big bs=1 seek=1073741824 count=0 && /bin/dd if=bin of=big",
		"mount":                "/bin/mount -t tmpfs none .",
	} {
		got, err := toolchain.Elaborate(t.Context(), "theorem a : True := trivial --try "+attempt+"\n", "Service", nil)
		if err != nil || len(got.Messages) != 1 || got.Messages[0].Message != "refused" {
			t.Errorf("%s: %+v %v", name, got.Messages, err)
		}
	}
	// The attempts fail for the walls and not for a mistake in the test.
	for _, possible := range []string{"cat Service.lean", "echo x >here", "/bin/ls ."} {
		got, err := toolchain.Elaborate(t.Context(), "theorem a : True := trivial --try "+possible+"\n", "Service", nil)
		if err != nil || len(got.Messages) != 1 || got.Messages[0].Message != "it worked" {
			t.Errorf("%s: %+v %v", possible, got.Messages, err)
		}
	}
	if content, err := os.ReadFile(outside); err != nil || string(content) != "secret" {
		t.Errorf("%q %v", content, err)
	}
}

func TestOneAtATime(t *testing.T) {
	t.Parallel()
	toolchain := withPath(t, standIn(t, nil))
	toolchain.places <- struct{}{}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := toolchain.Elaborate(ctx, "x", "Service", nil); !errors.Is(err, commands.ErrSaturated) {
		t.Errorf("%v", err)
	}
	<-toolchain.places
}

func TestToolchainThatIsNone(t *testing.T) {
	t.Parallel()
	for name, lean := range map[string]string{"missing": filepath.Join(t.TempDir(), "x"), "empty folder": t.TempDir(), "another program": "/bin/true"} {
		if _, err := New(t.Context(), Options{Lean: lean, Jail: []string{executable(t), "jail"}}); err == nil {
			t.Errorf("%s: taken for a toolchain", name)
		}
	}
}

// TestRealToolchain runs wherever RECKON_TEST_LEAN names one, with lean4export beside its lean.
func TestRealToolchain(t *testing.T) {
	t.Parallel()
	lean := os.Getenv("RECKON_TEST_LEAN")
	if lean == "" {
		need.Skip(t, "a Lean toolchain", "RECKON_TEST_LEAN=/path/of/lean go test ./runners/elaborate")
	}
	toolchain, err := New(t.Context(), Options{Lean: lean, Exporter: os.Getenv("RECKON_TEST_LEAN_EXPORTER"), Jail: []string{executable(t), "jail"}})
	if err != nil {
		t.Fatal(err)
	}
	got, err := toolchain.Elaborate(t.Context(), "theorem two : 1 + 1 = 2 := rfl\ntheorem A.three : True := by trivial\nstructure S where x : Nat\n", "Service", nil)
	if err != nil || !reflect.DeepEqual(got.Declarations, []string{"two", "A.three"}) || !strings.HasPrefix(string(got.Export), `{"meta"`) {
		t.Errorf("%v %+v", err, got.Declarations)
	}
	for source, want := range map[string]string{"theorem x : 1 = 2 := rfl": "", "import Mathlib": "Mathlib", `#eval IO.FS.readFile "/etc/passwd"` + "\ntheorem t : True := trivial": ""} {
		got, err := toolchain.Elaborate(t.Context(), source, "Service", nil)
		if err != nil || got.Export != nil || len(ofSeverity(got.Messages, commands.SeverityError)) == 0 || !strings.Contains(got.Messages[0].Message, want) {
			t.Errorf("%s: %v %+v", source, err, got)
		}
	}
}

// FuzzMessages: whatever a toolchain prints, what is handed on is bounded text.
func FuzzMessages(f *testing.F) {
	f.Add([]byte(`{"severity":"error","pos":{"line":3,"column":2},"endPos":null,"data":"x"}` + "\nnoise\n"))
	f.Add([]byte("{\"severity\":\"warning\",\"pos\":{\"line\":-1,\"column\":2},\"data\":\"\xff\"}"))
	f.Fuzz(func(t *testing.T, printed []byte) {
		list := messages(printed)
		if len(list) > maxMessages {
			t.Fatalf("%d messages", len(list))
		}
		for _, m := range list {
			if len(m.Message) > maxMessageBytes+4 || m.Severity == "" {
				t.Fatalf("%+v", m)
			}
		}
	})
}
