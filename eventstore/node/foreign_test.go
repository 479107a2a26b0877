package node

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"runtime"
	"testing"

	"reckon/test/need"
)

// childSocket makes this test binary a client of that socket instead of a test.
const childSocket = "RECKON_TEST_NODE_SOCKET"

func runClient(path string) {
	c, err := net.Dial("unix", path)
	fmt.Println("connected", err)
	_, _ = io.Copy(io.Discard, os.Stdin)
	_ = c.Close()
	os.Exit(0)
}

// TestClientsOfOtherProcessesAreCounted: a process that hosts its log is told of everyone else
// who could read it, before they are served, and when they have gone, and of nothing else.
func TestClientsOfOtherProcessesAreCounted(t *testing.T) {
	t.Parallel()
	if runtime.GOOS != "linux" {
		need.Skip(t, "a system that tells whose a connection is", "make test, on Linux")
	}
	n, err := Open(Config{Dir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { stop(t, n) })
	counts := make(chan int, 10)
	n.OnForeignClients(func(connections int) { counts <- connections })
	if got := <-counts; got != 0 {
		t.Errorf("%d before anyone connected", got)
	}
	own, err := net.Dial("unix", n.listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = own.Close() }()

	client := exec.Command(os.Args[0])
	client.Env = append(os.Environ(), childSocket+"="+n.listener.Addr().String())
	stdin, err := client.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	stdout, err := client.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := client.Start(); err != nil {
		t.Fatal(err)
	}
	if line, _ := bufio.NewReader(stdout).ReadString('\n'); line != "connected <nil>\n" {
		t.Fatal(line)
	}
	if got := <-counts; got != 1 {
		t.Errorf("%d with one other process, and a connection of our own", got)
	}
	_ = stdin.Close()
	if got := <-counts; got != 0 {
		t.Errorf("%d after it has gone", got)
	}
	if err := client.Wait(); err != nil {
		t.Error(err)
	}
}
