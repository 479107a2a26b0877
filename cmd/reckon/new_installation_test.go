package main

import (
	"bufio"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"reckon/internal/config"
)

// makers are the commands that make an installation, or a log, where there is none.
var makers = [][]string{
	{"serve", "--listen", "127.0.0.1:0"}, {"serve", "--listen", "127.0.0.1:0", "--eventstore", "unix:/nonexistent/node.sock"}, {"try", "1+1"}, {"node"},
	{"keys", "rotate"}, {"account", "create", "a@example.com", "--password-stdin"},
}

// TestAMistypedFolderIsNoNewInstallation: whatever names the folder, a command that would make something there says so and makes nothing.
func TestAMistypedFolderIsNoNewInstallation(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	file := filepath.Join(root, "reckon.toml")
	for _, state := range []string{"absent", "empty", "empty log"} {
		for i, command := range makers {
			folder := filepath.Join(root, fmt.Sprint(state, i))
			var made []string
			switch state {
			case "empty":
				made = []string{folder}
			case "empty log":
				made = []string{folder, filepath.Join(folder, "eventstore")}
			}
			for _, path := range made {
				if err := os.Mkdir(path, 0o700); err != nil {
					t.Fatal(err)
				}
			}
			variable := "RECKON_DATA="
			if command[0] == "node" {
				variable = "RECKON_NODE_DATA="
			}
			named := map[string]func() (environment, arguments []string){
				"flag":     func() ([]string, []string) { return nil, []string{"--data", folder} },
				"variable": func() ([]string, []string) { return []string{variable + folder, "RECKON_INIT=true"}, nil },
				"file": func() ([]string, []string) {
					if err := os.WriteFile(file, []byte(fmt.Sprintf("data = %q\n", folder)), 0o600); err != nil {
						t.Fatal(err)
					}
					return []string{"RECKON_CONFIG=" + file}, nil
				},
			}
			for by, of := range named {
				environment, arguments := of()
				status, _, stderr := reckon(t, "a long password\n", environment, append(slices.Clone(command), arguments...)...)
				if status != 2 || !strings.Contains(stderr, folder) || !strings.Contains(stderr, "--init") {
					t.Errorf("reckon %v, %s folder by %s: status %d\n%s", command, state, by, status, stderr)
				}
			}
			if left := tree(t, folder); !slices.Equal(left, made) {
				t.Errorf("reckon %v, %s folder: made %v", command, state, left)
			}
		}
	}
}

// tree is all that lies at a path, in the order of the names.
func tree(t *testing.T, path string) (found []string) {
	t.Helper()
	err := filepath.WalkDir(path, func(path string, _ fs.DirEntry, err error) error {
		if err == nil {
			found = append(found, path)
		}
		return err
	})
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		t.Fatal(err)
	}
	return found
}

// TestInit: --init makes what is missing, and changes nothing where it is not.
func TestInit(t *testing.T) {
	t.Parallel()
	for _, command := range [][]string{{"keys", "rotate"}, {"account", "create", "a@example.com", "--password-stdin"}} {
		data := filepath.Join(t.TempDir(), "data")
		if status, _, stderr := reckon(t, "a long password\n", nil, append(slices.Clone(command), "--init", "--data", data)...); status != 0 || !strings.Contains(stderr, "made a new installation in "+data) {
			t.Errorf("reckon %v: status %d\n%s", command, status, stderr)
		}
		if status, _, stderr := reckon(t, "", nil, "keys", "rotate", "--init", "--data", data); status != 0 || strings.Contains(stderr, "made") {
			t.Errorf("again, after %v: status %d\n%s", command, status, stderr)
		}
	}
	folder := filepath.Join(t.TempDir(), "log")
	for range 2 {
		_, _, stop := startedNode(t, nil, "--data", folder)
		stop()
	}
	command := reckonCommand(t, nil, "node", "--data", folder) // a log is there: nobody is asked
	ended := make(chan error, 1)
	out, err := command.StdoutPipe()
	if err == nil {
		err = command.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	if line, err := bufio.NewReader(out).ReadString('\n'); err != nil || !strings.HasPrefix(line, "ready") {
		t.Errorf("%q, %v", line, err)
	}
	go func() { ended <- command.Wait() }()
	if err := errors.Join(command.Process.Signal(syscall.SIGTERM), <-ended); err != nil {
		t.Error(err)
	}
}

// TestAnIdentityIsNotMadeASecondTime: where a server has run, and the file of identities that the settings name is missing, none is made
// in its place: a forgotten setting, or a lost file, would end in accounts that nobody can sign in to.
func TestAnIdentityIsNotMadeASecondTime(t *testing.T) {
	t.Parallel()
	data := filepath.Join(t.TempDir(), "data")
	complete, err := config.Installation{Data: data, Eventstore: "unix:" + filepath.Join(data, "node.sock"), Database: "postgres://reckon:secret@127.0.0.1:1/reckon"}.Complete()
	if err = errors.Join(err, os.Mkdir(data, 0o700)); err == nil {
		err = recordServed(complete)
	}
	if err != nil {
		t.Fatal(err)
	}
	forgotten := []string{"serve", "--listen", "127.0.0.1:0", "--data", data, "--eventstore", complete.Eventstore}
	status, _, stderr := reckon(t, "", nil, forgotten...)
	if status != 2 || !strings.Contains(stderr, "identity.db") || !strings.Contains(stderr, "postgres://") || strings.Contains(stderr, "secret") || exists(filepath.Join(data, "identity.db")) {
		t.Errorf("status %d\n%s", status, stderr)
	}
	if err := (newFlag{Init: true}).allowIdentity(config.Installation{Data: data, Identity: "sqlite:" + filepath.Join(data, "identity.db")}); err != nil {
		t.Errorf("where it is meant: %v", err)
	}
}

// TestTheUsualFolderIsMadeWithoutAWord: it is the one that the README's command takes, however it is written.
func TestTheUsualFolderIsMadeWithoutAWord(t *testing.T) {
	t.Parallel()
	for _, written := range [][]string{nil, {"--data", "reckon-data"}, {"--data", "./reckon-data/"}} {
		command := reckonCommand(t, nil, append([]string{"keys", "rotate"}, written...)...)
		if output, err := command.CombinedOutput(); err != nil || !exists(filepath.Join(command.Dir, "reckon-data", "eventstore")) {
			t.Errorf("%v: %v\n%s", written, err, output)
		}
	}
}

// TestAMistypedFolderIsNoNewWitness: a witness is made where --init says so only, and its key is not made again where it is gone.
func TestAMistypedFolderIsNoNewWitness(t *testing.T) {
	t.Parallel()
	folder := filepath.Join(t.TempDir(), "witness")
	arguments := []string{"witness", "--name", "witness.example/1", "--log", "reckon.example/transparency+530d903a+AekyeRrm56hApGFkyQR4ZCbV54Id2LKaANYcrnKv3U2k", "--listen", "127.0.0.1:0", "--folder", folder}
	status, _, stderr := reckon(t, "", []string{"RECKON_WITNESS_INIT=true", "RECKON_INIT=true"}, arguments...)
	if left := tree(t, folder); status != 2 || !strings.Contains(stderr, folder) || !strings.Contains(stderr, "--init") || len(left) > 0 {
		t.Errorf("status %d, made %v\n%s", status, left, stderr)
	}
}
