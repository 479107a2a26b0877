package eventlog

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"
)

// killedLog returns the folder of a log as a killed process leaves it, with what was
// written in tables or still in the write-ahead log.
func killedLog(t *testing.T, inTables bool) string {
	t.Helper()
	dir := t.TempDir()
	l, err := Open(Options{Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = l.Close() }()
	for i := range 50 {
		mustAppend(t, l, "s", Any(), event(fmt.Sprint(i)), Proposed{ID: event("").ID, Type: "padding", Data: make([]byte, 2000)})
	}
	if inTables {
		if err := l.db.Flush(); err != nil {
			t.Fatal(err)
		}
	}
	killed := t.TempDir()
	if err := os.CopyFS(killed, os.DirFS(dir)); err != nil {
		t.Fatal(err)
	}
	return killed
}

// largest finds the largest file of the kind, which holds the events.
func largest(t *testing.T, dir, pattern string) (file string, size int64) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "log", pattern))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range files {
		info, err := os.Stat(name)
		if err != nil {
			t.Fatal(err)
		}
		if info.Size() > size {
			file, size = name, info.Size()
		}
	}
	if size == 0 {
		t.Fatalf("no file %s in %s", pattern, dir)
	}
	return file, size
}

func flipByte(t *testing.T, file string, at int64) {
	t.Helper()
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	b[at] ^= 0xff
	if err := os.WriteFile(file, b, 0o600); err != nil {
		t.Fatal(err)
	}
}

func TestKilledLogOpens(t *testing.T) {
	for _, inTables := range []bool{false, true} {
		l, err := Open(Options{Dir: killedLog(t, inTables)})
		if err != nil {
			t.Fatal(err)
		}
		if report := verify(t, l); report.Records != 101 {
			t.Errorf("%d records", report.Records)
		}
		if err := l.Close(); err != nil {
			t.Error(err)
		}
	}
}

func TestDamagedFilesAreReported(t *testing.T) {
	for _, c := range []struct {
		name     string
		inTables bool
		damage   func(t *testing.T, dir string)
	}{
		{"table", true, func(t *testing.T, dir string) {
			file, size := largest(t, dir, "*.sst")
			flipByte(t, file, size/4)
		}},
		{"write-ahead log, first byte", false, func(t *testing.T, dir string) {
			file, _ := largest(t, dir, "*.log")
			flipByte(t, file, 0)
		}},
		{"write-ahead log, in the middle", false, func(t *testing.T, dir string) {
			file, size := largest(t, dir, "*.log")
			flipByte(t, file, size/2)
		}},
		{"write-ahead log, last append", false, func(t *testing.T, dir string) {
			file, size := largest(t, dir, "*.log")
			flipByte(t, file, size-500)
		}},
		{"write-ahead log, cut off", false, func(t *testing.T, dir string) {
			file, size := largest(t, dir, "*.log")
			if err := os.Truncate(file, size-1000); err != nil {
				t.Fatal(err)
			}
		}},
		{"write-ahead log, gone", false, func(t *testing.T, dir string) {
			file, _ := largest(t, dir, "*.log")
			if err := os.Remove(file); err != nil {
				t.Fatal(err)
			}
		}},
		{"storage, gone", true, func(t *testing.T, dir string) {
			if err := os.RemoveAll(filepath.Join(dir, "log")); err != nil {
				t.Fatal(err)
			}
		}},
		{"storage of another log", true, func(t *testing.T, dir string) {
			if err := errors.Join(os.RemoveAll(filepath.Join(dir, "log")), os.CopyFS(filepath.Join(dir, "log"), os.DirFS(filepath.Join(killedLog(t, true), "log")))); err != nil {
				t.Fatal(err)
			}
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := killedLog(t, c.inTables)
			c.damage(t, dir)
			before := contents(t, dir)
			l, err := Open(Options{Dir: dir})
			opened := err == nil
			if opened {
				_, err = l.Verify(context.Background())
				defer func() { _ = l.Close() }()
			}
			var damage *CorruptError
			if !errors.As(err, &damage) || damage.Dir != dir {
				t.Fatalf("got %v", err)
			}
			if after := contents(t, dir); !opened && !c.inTables && fmt.Sprint(after) != fmt.Sprint(before) {
				t.Errorf("the refused log was changed: %v became %v", before, after)
			}
		})
	}
}

// contents is the hash of every file that holds events.
func contents(t *testing.T, dir string) map[string][32]byte {
	t.Helper()
	hashes := map[string][32]byte{}
	for _, pattern := range []string{"*.log", "*.sst", "MANIFEST*"} {
		files, err := filepath.Glob(filepath.Join(dir, "log", pattern))
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range files {
			b, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			hashes[filepath.Base(file)] = sha256.Sum256(b)
		}
	}
	return hashes
}

func TestHeadFileTornByPowerFailureIsIgnored(t *testing.T) {
	dir := killedLog(t, false)
	if err := os.WriteFile(filepath.Join(dir, headFileName), make([]byte, headFileBytes), 0o600); err != nil {
		t.Fatal(err)
	}
	l, err := Open(Options{Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = l.Close() }()
	if report := verify(t, l); report.Records != 101 {
		t.Errorf("%d records", report.Records)
	}
}
