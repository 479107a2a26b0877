package e2e

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"

	"reckon/test/binary"
	"reckon/test/locked"
	"reckon/test/need"
	"reckon/test/wait"
)

// TestNoFolderIsLostWithThePower: of each folder that the first start of a server, of a node and of a witness makes, the folder above is synced afterwards,
// before the process is ready: else the folder is gone after a power failure, with everything in it that was synced and acknowledged.
func TestNoFolderIsLostWithThePower(t *testing.T) {
	t.Parallel()
	strace := need.Program(t, "strace", "strace")
	for name, start := range map[string]func(root string) []string{
		"serve": func(root string) []string {
			return []string{"serve", "--init", "--data", filepath.Join(root, "a", "b", "data"), "--keys", filepath.Join(root, "c", "keys"), "--blobs", "file://" + filepath.Join(root, "d", "blobs"),
				"--engine", filepath.Join(DataFolder(t), "engine"), "--listen", "127.0.0.1:0"}
		},
		"node": func(root string) []string {
			return []string{"node", "--init", "--data", filepath.Join(root, "a", "b", "log")}
		},
		"witness": func(root string) []string {
			return []string{"witness", "--init", "--folder", filepath.Join(root, "a", "b", "witness"), "--name", "witness.example/1", "--log", "example.com/foo+530d903a+AekyeRrm56hApGFkyQR4ZCbV54Id2LKaANYcrnKv3U2k", "--listen", "127.0.0.1:0"}
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			root := t.TempDir()
			if err := os.Chmod(root, 0o700); err != nil {
				t.Fatal(err)
			}
			calls := filepath.Join(t.TempDir(), "calls")
			command := exec.Command(strace, append([]string{"-f", "-y", "-qq", "-e", "trace=mkdir,mkdirat,fsync", "-o", calls, binary.Reckon(t)}, start(root)...)...)
			command.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
			var out, errs locked.Buffer
			command.Stdout, command.Stderr = &out, &errs
			if err := command.Start(); err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _, _ = syscall.Kill(-command.Process.Pid, syscall.SIGKILL), command.Wait() }) // a killed strace leaves its process running
			wait.Until(t, "the process is ready", func() bool { return strings.Contains(out.String(), "\n") })
			traced, err := os.ReadFile(calls)
			if err != nil {
				t.Fatal(err)
			}
			made := 0
			for folder, synced := range foldersMade(traced) {
				if !strings.HasPrefix(folder, root+"/") || filepath.Base(folder) == ".new" { // a socket is made in it, and nothing lasts
					continue
				}
				if made++; !synced {
					t.Errorf("%s was made, and %s was not synced after it", folder, filepath.Dir(folder))
				}
			}
			if made < 3 {
				t.Errorf("only %d folders were made:\n%s\n%s", made, traced, errs.String())
			}
		})
	}
}

var (
	mkdirCall = regexp.MustCompile(`mkdir(?:at)?\((?:AT_FDCWD(?:<[^>]*>)?, )?"([^"]+)", \d+\) = 0`)
	fsyncCall = regexp.MustCompile(`fsync\(\d+<([^>]+)>\)? .*= 0|fsync\(\d+<([^>]+)>\) += 0|fsync\(\d+<([^>]+)> <unfinished`)
)

// foldersMade are the folders that were made, each with whether the folder above it was synced afterwards.
func foldersMade(traced []byte) map[string]bool {
	made := map[string]bool{}
	for line := range bytes.Lines(traced) {
		if call := mkdirCall.FindSubmatch(line); call != nil {
			made[string(call[1])] = false
		}
		if call := fsyncCall.FindSubmatch(line); call != nil {
			above := string(bytes.Join(call[1:], nil))
			for folder := range made {
				made[folder] = made[folder] || filepath.Dir(folder) == above
			}
		}
	}
	return made
}
