package engine_test

import (
	_ "embed"
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"reckon/runners/engine"
	"reckon/runners/engine/enginetest"
	"reckon/test/wait"
)

//go:embed testdata/attempts.py
var attemptsSource []byte

type attempt struct {
	Name   string `json:"attempt"`
	Number int    `json:"pid"`
}

type attempted struct {
	Answer string   `json:"answer"`
	Names  []string `json:"names"`
}

// attempts starts the program of testdata/attempts.py.
func attempts(t *testing.T, change func(*engine.Program)) *engine.Zygote {
	t.Helper()
	program := engine.Program{Name: "attempts", Python: engine.Python(enginetest.Environment(t)), Source: attemptsSource}
	if change != nil {
		change(&program)
	}
	zygote, err := engine.StartZygote(t.Context(), program)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := zygote.Close(); err != nil {
			t.Error(err)
		}
	})
	return zygote
}

func try(t *testing.T, zygote *engine.Zygote, name string, number int) (attempted, error) {
	t.Helper()
	var reply attempted
	err := zygote.Call(t.Context(), wait.Longest, attempt{Name: name, Number: number}, &reply)
	return reply, err
}

// Every attempt of a hostile library inside a worker is refused by the kernel, and the worker lives on to say so.
func TestKernelRefusesWhatAWorkerTries(t *testing.T) {
	t.Parallel()
	zygote := attempts(t, nil)
	all, err := try(t, zygote, "names", 0)
	if err != nil || len(all.Names) < 40 {
		t.Fatalf("%v, %d attempts", err, len(all.Names))
	}
	for _, name := range all.Names {
		reply, err := try(t, zygote, name, os.Getpid())
		if err != nil || reply.Answer != "EPERM" {
			t.Errorf("%s: %+v, %v", name, reply.Answer, err)
		}
	}
}

func TestBoundariesNameWhatEnforcesThem(t *testing.T) {
	t.Parallel()
	for _, boundary := range attempts(t, nil).Boundaries() {
		t.Logf("%+v", boundary)
		if !boundary.InForce || len(boundary.By) == 0 {
			t.Errorf("%+v", boundary)
		}
	}
}

func TestWorkerHasAnEmptySurrounding(t *testing.T) {
	t.Setenv("RECKON_SECRET", "of the server")
	zygote := attempts(t, nil)
	if reply, err := try(t, zygote, "environment", 0); err != nil || reply.Answer != "[]" {
		t.Errorf("environment: %+v, %v", reply, err)
	}
	reply, err := try(t, zygote, "descriptors", 0)
	if numbers := strings.Split(reply.Answer, ","); err != nil || len(numbers) != 4 { // 0, 1, 2: /dev/null; its own socket
		t.Errorf("descriptors: %+v, %v", reply, err)
	}
}

func TestChildrenDrawDifferentRandomNumbers(t *testing.T) {
	t.Parallel()
	zygote := attempts(t, nil) // its warm() draws once
	seen := map[string]bool{}
	for range 5 {
		reply, err := try(t, zygote, "random", 0)
		if err != nil || seen[reply.Answer] {
			t.Errorf("%q again: %v", reply.Answer, err)
		}
		seen[reply.Answer] = true
	}
}

// A program that asks for it reads its own folders, and only reads, and only those.
func TestReadOnlyFolders(t *testing.T) {
	environment := enginetest.Environment(t)
	library, err := filepath.EvalSymlinks(engine.Python(environment))
	if err != nil {
		t.Fatal(err)
	}
	zygote := attempts(t, func(p *engine.Program) {
		p.ReadOnly = []string{environment, filepath.Dir(filepath.Dir(library))}
	})
	if reply, err := try(t, zygote, "import", 0); err != nil || reply.Answer != "1/2" {
		t.Errorf("a late import: %+v, %v", reply, err)
	}
	for _, name := range []string{"open /etc/passwd", "open /proc/self/environ", "write a file", "delete a file", "list a folder", "tcp socket", "fork", "execve", "kill server"} {
		reply, err := try(t, zygote, name, os.Getpid())
		if err != nil || reply.Answer != "EPERM" && reply.Answer != "EACCES" {
			t.Errorf("%s: %+v, %v", name, reply, err)
		}
	}
}

func TestSandboxOffMustBeAskedForAndIsReported(t *testing.T) {
	t.Parallel()
	zygote := attempts(t, func(p *engine.Program) { p.Sandbox = engine.SandboxOff })
	for _, boundary := range zygote.Boundaries() {
		if boundary.InForce != (boundary.Name == "resources") {
			t.Errorf("%+v", boundary)
		}
	}
	if reply, err := try(t, zygote, "list a folder", 0); err != nil || reply.Answer != "allowed" {
		t.Errorf("%+v, %v", reply, err)
	}
}

// The escapes of the design page, through the language.
func TestLanguageCannotEscape(t *testing.T) {
	e := enginetest.Start(t, engine.Options{})
	folder := t.TempDir()
	secret, out := filepath.Join(folder, "secret.txt"), filepath.Join(folder, "out.txt")
	if err := os.WriteFile(secret, []byte("4567890123456789"), 0o644); err != nil {
		t.Fatal(err)
	}
	t.Setenv("RECKON_SECRET", "4567890123456789")
	for _, template := range []string{
		`Run["cat SECRET > OUT"]`,
		`Run["cp SECRET OUT"]`,
		`Symbol["Run"]["cp SECRET OUT"]`,
		`ToExpression["R"<>"un"]["cp SECRET OUT"]`,
		`r=Run; r["cp SECRET OUT"]`,
		`\:0052un["cp SECRET OUT"]`,
		`\.52un["cp SECRET OUT"]`,
		"Ru\\\nn[\"cp SECRET OUT\"]",
		`Map[Run,{"cp SECRET OUT"}]`,
		`ToString[FullForm[Hold[Evaluate[Run["cp SECRET OUT"]]]]]`,
		`RunProcess[{"cp","SECRET","OUT"}]`,
		`StartProcess[{"cp","SECRET","OUT"}]`,
		`Import["SECRET"]`, `Import["SECRET","Text"]`, `Import["!cat SECRET","Text"]`,
		`ReadString["SECRET"]`, `ReadList["SECRET"]`, `ReadLine["SECRET"]`, `BinaryReadList["SECRET"]`,
		`OpenRead["SECRET"]`, `Read[OpenRead["SECRET"],String]`, `FilePrint["SECRET"]`, `FindList["SECRET","4"]`,
		`Get["SECRET"]`, `<<"SECRET"`, `Get["!cat SECRET"]`, `ReadString["!cat SECRET"]`, `Read[OpenRead["!cat SECRET"]]`, `Needs["x` + "`" + `","SECRET"]`,
		`Export["OUT","x","Text"]`, `Export["OUT",Plot[x,{x,0,1}]]`, `Put[1,"OUT"]`, `1>>"OUT"`, `1>>>"OUT"`, `PutAppend[1,"OUT"]`,
		`WriteString["OUT","x"]`, `Write[OpenWrite["OUT"],1]`, `s=OpenWrite["OUT"];WriteString[s,"x"];Close[s]`, `OpenAppend["OUT"]`, `Save["OUT",x]`, `DumpSave["OUT"]`,
		`CreateFile["OUT"]`, `CreateDirectory["OUT"]`, `CopyFile["SECRET","OUT"]`, `RenameFile["SECRET","OUT"]`,
		`DeleteFile["SECRET"]`, `DeleteDirectory["FOLDER",DeleteContents->True]`,
		`FileNames["*","FOLDER"]`, `FileExistsQ["SECRET"]`, `FileByteCount["SECRET"]`, `FileHash["SECRET"]`, `FileDate["SECRET"]`, `SetDirectory["FOLDER"];FileNames[]`,
		`Environment["RECKON_SECRET"]`, `GetEnvironment["RECKON_SECRET"]`, `GetEnvironment[]`, `$CommandLine`, `$ScriptCommandLine`, `$HomeDirectory`, `$UserName`, `$MachineName`,
		`URLRead["http://127.0.0.1:PORT/"]`, `URLFetch["http://127.0.0.1:PORT/"]`, `URLExecute["http://127.0.0.1:PORT/"]`, `Import["http://127.0.0.1:PORT/"]`,
		`URLDownload["http://127.0.0.1:PORT/","OUT"]`, `SocketConnect["127.0.0.1:PORT"]`, `WebExecute["http://127.0.0.1:PORT/"]`,
	} {
		code := strings.NewReplacer("SECRET", secret, "OUT", out, "FOLDER", folder, "PORT", strconv.Itoa(listenOnce(t))).Replace(template)
		outcome, err := e.Evaluate(t.Context(), engine.Request{Code: code, Budget: 10 * time.Second, QueueWait: time.Minute})
		seen := outcome.Result + outcome.Stdout + strings.Join(outcome.Messages, "")
		var failed *engine.FailedError
		if errors.As(err, &failed) {
			seen += failed.Detail
		} else if err != nil {
			t.Errorf("%s: %v", template, err)
		}
		if strings.Contains(seen, "4567890123456789") || outcome.Result == "16" {
			t.Errorf("%s read what it must not: %s", template, seen)
		}
		if _, err := os.Stat(out); err == nil {
			t.Fatalf("%s wrote a file", template)
		}
		if _, err := os.Stat(secret); err != nil {
			t.Fatalf("%s removed a file", template)
		}
	}
	if connections.Load() > 0 {
		t.Errorf("%d connections from the sandbox", connections.Load())
	}
}

// Without the sandbox the same words do reach the system: what the test above tries is real.
func TestTheEscapesAreReal(t *testing.T) {
	t.Parallel()
	e := enginetest.Start(t, engine.Options{Sandbox: engine.SandboxOff})
	out := filepath.Join(t.TempDir(), "out")
	for _, code := range []string{`Run["touch OUT"]`, `ToExpression["R"<>"un"]["touch OUT"]`, `r=Run; r["touch OUT"]`, `Export["OUT","x","Text"]`, `Put[1,"OUT"]`} {
		if _, err := e.Evaluate(t.Context(), engine.Request{Code: strings.ReplaceAll(code, "OUT", out), Budget: 10 * time.Second, QueueWait: time.Minute}); err != nil {
			t.Errorf("%s: %v", code, err)
		}
		if err := os.Remove(out); err != nil {
			t.Errorf("%s did nothing: %v", code, err)
		}
	}
}
