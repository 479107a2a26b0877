// Package pgtest gives tests a PostgreSQL database of their own.
//
// The server is the one RECKON_TEST_POSTGRES names, else a private one started
// from binaries on this machine (which syncs nothing unless RECKON_TEST_POSTGRES_FSYNC is on), else one in Docker; a test is skipped only
// where there is none of them. A private server lives as long as the test
// process and leaves nothing behind, even when that is killed.
package pgtest

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"reckon/test/need"
	"reckon/test/wait"

	"github.com/google/uuid"
	_ "github.com/jackc/pgx/v5/stdlib" // the driver "pgx"
	"github.com/ory/dockertest/v3"
)

const startTimeout = 60 * time.Second

// Database is the address of a fresh database, dropped when the test ends.
func Database(t testing.TB) string {
	t.Helper()
	running, err := server()
	base := running.address
	if err != nil {
		need.Skip(t, fmt.Sprintf("PostgreSQL (%v)", err), "apt-get install postgresql, or RECKON_TEST_POSTGRES=postgres://… make test")
	}
	name := "t" + strings.ReplaceAll(uuid.NewString(), "-", "")
	execute(t, base, "CREATE DATABASE "+name)
	t.Cleanup(func() { execute(t, base, "DROP DATABASE "+name+" WITH (FORCE)") })
	address, err := url.Parse(base)
	if err != nil {
		t.Fatal(err)
	}
	address.Path = "/" + name
	return address.String()
}

func execute(t testing.TB, address, statement string) {
	t.Helper()
	db, err := sql.Open("pgx", address)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if _, err := db.ExecContext(context.Background(), statement); err != nil {
		t.Fatal(err)
	}
}

// cluster is a running server; alive, when it is ours, keeps it running, and folder is where it lies.
type cluster struct {
	address string
	alive   io.WriteCloser
	folder  string
}

// server is the one server of this test process.
var server = sync.OnceValues(func() (cluster, error) {
	if address := os.Getenv("RECKON_TEST_POSTGRES"); address != "" {
		return cluster{address: address}, nil
	}
	ours, err := private()
	if err == nil {
		return ours, nil
	}
	address, dockerErr := docker()
	if dockerErr != nil {
		return cluster{}, errors.Join(err, dockerErr)
	}
	return cluster{address: address}, nil
})

// keeper starts a server and, when its standard input closes because the test
// process has gone, stops it and removes its folder. It takes more connections than the processes of a test open together: those of a
// process that was killed stay until the server has noticed.
const keeper = `"$1/postgres" -D "$2/data" -k "$2" -c listen_addresses= -c fsync="${RECKON_TEST_POSTGRES_FSYNC:-off}" -c full_page_writes=off -c max_connections=400 >"$2/log" 2>&1 &
server=$!
cat >/dev/null
kill -QUIT $server
kill -CONT $server
wait $server
rm -rf "$2"`

func private() (cluster, error) {
	binaries, err := findBinaries()
	if err != nil {
		return cluster{}, err
	}
	folder, err := os.MkdirTemp("", "reckon-pg-")
	if err != nil {
		return cluster{}, err
	}
	owner, err := unprivileged(folder)
	if err != nil {
		return cluster{}, err
	}
	initdb := exec.Command(filepath.Join(binaries, "initdb"), "-D", filepath.Join(folder, "data"), "-U", "reckon", "-A", "trust", "-E", "UTF8", "--locale=C.UTF-8", "-N")
	initdb.SysProcAttr, initdb.Dir = owner, folder
	if output, err := initdb.CombinedOutput(); err != nil {
		_ = os.RemoveAll(folder) // the failure above says more
		return cluster{}, fmt.Errorf("initdb: %w: %s", err, output)
	}
	keep := exec.Command("/bin/sh", "-c", keeper, "sh", binaries, folder)
	keep.SysProcAttr, keep.Dir = owner, folder
	alive, err := keep.StdinPipe() // closes with this process
	if err != nil {
		return cluster{}, err
	}
	if err := keep.Start(); err != nil {
		return cluster{}, err
	}
	address := "postgres://reckon@/postgres?host=" + url.QueryEscape(folder)
	return cluster{address: address, alive: alive, folder: folder}, waitFor(address)
}

func findBinaries() (string, error) {
	found, err := filepath.Glob("/usr/lib/postgresql/*/bin/initdb")
	if err != nil {
		return "", err
	}
	if out, err := exec.Command("pg_config", "--bindir").Output(); err == nil {
		found = append(found, filepath.Join(strings.TrimSpace(string(out)), "initdb"))
	}
	for _, initdb := range slices.Backward(found) {
		if _, err := os.Stat(initdb); err == nil {
			return filepath.Dir(initdb), nil
		}
	}
	return "", errors.New("no initdb on this machine")
}

// unprivileged is who the server runs as: it refuses to run as root.
func unprivileged(folder string) (*syscall.SysProcAttr, error) {
	if os.Geteuid() != 0 {
		return nil, nil
	}
	for _, name := range []string{"postgres", "nobody"} {
		found, err := user.Lookup(name)
		if err != nil {
			continue
		}
		uid, uidErr := strconv.ParseUint(found.Uid, 10, 32)
		gid, gidErr := strconv.ParseUint(found.Gid, 10, 32)
		if err := errors.Join(uidErr, gidErr, os.Chown(folder, int(uid), int(gid))); err != nil {
			return nil, err
		}
		return &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}}, nil
	}
	return nil, errors.New("running as root and there is no user to run PostgreSQL as")
}

func docker() (string, error) {
	pool, err := dockertest.NewPool("")
	if err != nil {
		return "", err
	}
	if err := pool.Client.Ping(); err != nil {
		return "", fmt.Errorf("docker: %w", err)
	}
	container, err := pool.Run("postgres", "15-alpine", []string{"POSTGRES_HOST_AUTH_METHOD=trust"})
	if err != nil {
		return "", err
	}
	if err := container.Expire(3600); err != nil {
		return "", err
	}
	address := "postgres://postgres@" + container.GetHostPort("5432/tcp") + "/postgres?sslmode=disable"
	return address, waitFor(address)
}

func waitFor(address string) error {
	db, err := sql.Open("pgx", address)
	if err != nil {
		return err
	}
	defer db.Close()
	for deadline := time.Now().Add(startTimeout); ; wait.Pace(20 * time.Millisecond) {
		if err = db.Ping(); err == nil || time.Now().After(deadline) {
			return err
		}
	}
}
