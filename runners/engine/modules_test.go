package engine_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"reckon/runners/engine"
	"reckon/runners/engine/enginetest"
	"reckon/test/wait"
)

// environmentOfTest is the interpreter of an environment that has no packages, in a folder of the test's own.
func environmentOfTest(t *testing.T) (python string) {
	t.Helper()
	folder := filepath.Join(t.TempDir(), "engine")
	if err := os.Mkdir(folder, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(filepath.Join(enginetest.Environment(t), "bin"), filepath.Join(folder, "bin")); err != nil {
		t.Fatal(err)
	}
	return engine.Python(folder)
}

// kept lists the byte codes beside a test's environment.
func kept(t *testing.T, python string) []string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(filepath.Dir(filepath.Dir(python))+".code", "*"))
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// answering is a program that answers what its module says.
func answering(python, answer string) engine.Program {
	return engine.Program{
		Name: "modules", Python: python, Source: []byte("from parts.inner import answer\n\ndef handle(request):\n    return {'answer': answer()}\n"),
		Modules: map[string]string{"parts.__init__": "", "parts.inner": fmt.Sprintf("def answer():\n    return %q\n", answer)},
	}
}

func wantAnswer(t *testing.T, program engine.Program, want string) {
	t.Helper()
	zygote, err := engine.StartZygote(t.Context(), program)
	if err != nil {
		t.Fatal(err)
	}
	var reply struct{ Answer string }
	if err := zygote.Call(t.Context(), wait.Longest, map[string]string{}, &reply); err != nil || reply.Answer != want {
		t.Errorf("got %q, %v, want %q", reply.Answer, err, want)
	}
	if err := zygote.Close(); err != nil {
		t.Error(err)
	}
}

// TestByteCodeOfModulesIsKept: the second start reads what the first has compiled; what was changed there, or is of another Python, is not run.
func TestByteCodeOfModulesIsKept(t *testing.T) {
	t.Parallel()
	python := environmentOfTest(t)
	program := answering(python, "one")
	wantAnswer(t, program, "one")
	files := kept(t, python)
	if len(files) != 1 {
		t.Fatalf("kept: %v", files)
	}
	first, err := os.ReadFile(files[0])
	if err != nil {
		t.Fatal(err)
	}
	// Where the file is read its content decides: the byte code of other sources answers for them.
	wantAnswer(t, answering(python, "two"), "two")
	for _, file := range kept(t, python) {
		if file == files[0] {
			continue
		}
		second, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(files[0], second, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	wantAnswer(t, program, "two")

	for name, content := range map[string][]byte{
		"changed": append(bytes.Clone(first[:len(first)-1]), first[len(first)-1]^1), "cut": first[:len(first)/2], "empty": {},
	} {
		if err := os.WriteFile(files[0], content, 0o600); err != nil {
			t.Fatal(err)
		}
		wantAnswer(t, program, "one")
		if again, err := os.ReadFile(files[0]); err != nil || !bytes.Equal(again, first) {
			t.Errorf("%s: it was not made anew: %v", name, err)
		}
	}
	foreign := engine.Sealed([]byte("\x00\x00\r\nof another Python"))
	if err := os.WriteFile(files[0], foreign, 0o600); err != nil {
		t.Fatal(err)
	}
	wantAnswer(t, program, "one")
}

// TestByteCodeThatOthersCouldChangeIsNotRun: the program runs from its sources then, and where nothing can be kept.
func TestByteCodeThatOthersCouldChangeIsNotRun(t *testing.T) {
	t.Parallel()
	python := environmentOfTest(t)
	wantAnswer(t, answering(python, "one"), "one")
	files := kept(t, python)
	if err := os.Chmod(filepath.Dir(files[0]), 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(files[0], engine.Sealed([]byte("not byte code")), 0o600); err != nil {
		t.Fatal(err)
	}
	wantAnswer(t, answering(python, "one"), "one")
	if content, err := os.ReadFile(files[0]); err != nil || !bytes.Equal(content, engine.Sealed([]byte("not byte code"))) {
		t.Errorf("something was kept in a folder that others can write to: %v", err)
	}

	python = environmentOfTest(t)
	if err := os.WriteFile(filepath.Dir(filepath.Dir(python))+".code", nil, 0o600); err != nil { // no folder can be made there
		t.Fatal(err)
	}
	wantAnswer(t, answering(python, "one"), "one")
}

// TestOldByteCodeIsRemoved: of the byte codes of earlier versions the last few are kept.
func TestOldByteCodeIsRemoved(t *testing.T) {
	t.Parallel()
	python := environmentOfTest(t)
	for i := range engine.KeptCode + 3 {
		modules := fmt.Appendf(nil, `{"m":"x = %d"}`, i)
		if _, err := engine.ByteCode(t.Context(), python, modules); err != nil {
			t.Fatal(err)
		}
		if now, want := len(kept(t, python)), min(i+1, engine.KeptCode); now != want {
			t.Fatalf("%d are kept after %d, want %d", now, i+1, want)
		}
	}
}
