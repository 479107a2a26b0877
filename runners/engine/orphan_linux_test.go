package engine_test

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"reckon/runners/engine"
	"reckon/runners/engine/enginetest"
	"reckon/test/wait"
)

// TestMain lets the test binary be the process that a test kills.
func TestMain(m *testing.M) {
	if folder := os.Getenv("RECKON_TEST_INSTALL"); folder != "" {
		installUntilKilled(folder, os.Getenv("RECKON_TEST_PINS"))
	}
	if environment := os.Getenv("RECKON_TEST_SERVER"); environment != "" {
		serveUntilKilled(environment)
	}
	os.Exit(m.Run())
}

func serveUntilKilled(environment string) {
	options := engine.Options{Environment: environment, Concurrency: 8}
	if os.Getenv("RECKON_TEST_SANDBOX") == "off" {
		options.Sandbox = engine.SandboxOff
	}
	e, err := engine.Start(context.Background(), options)
	if err != nil {
		fmt.Println(err)
		os.Exit(2)
	}
	for i := range 3 {
		for _, session := range []string{"", fmt.Sprintf("a/%d", i)} {
			go func() {
				_, _ = e.Evaluate(context.Background(), engine.Request{Code: "While[True]", Session: session, Budget: time.Hour, QueueWait: time.Hour})
			}()
		}
	}
	fmt.Println("ready")
	select {}
}

// kill -9 of the server leaves no process behind, neither busy nor idle, with namespaces and without.
func TestNoWorkerOutlivesTheServer(t *testing.T) {
	t.Parallel()
	environment := enginetest.Environment(t)
	for _, sandbox := range []string{"required", "off"} {
		t.Run(sandbox, func(t *testing.T) {
			folder := t.TempDir()
			server := exec.Command(os.Args[0])
			server.Env = append(os.Environ(), "RECKON_TEST_SERVER="+environment, "RECKON_TEST_SANDBOX="+sandbox, "TMPDIR="+folder)
			output, err := server.StdoutPipe()
			if err != nil {
				t.Fatal(err)
			}
			if err := server.Start(); err != nil {
				t.Fatal(err)
			}
			defer func() { _ = server.Wait() }()
			defer func() { _ = server.Process.Kill() }()
			if line, err := bufio.NewReader(output).ReadString('\n'); strings.TrimSpace(line) != "ready" {
				t.Fatalf("%q, %v", line, err)
			}
			const busy = 1 + 6 // the zygote and those that evaluate; idle ones come on top
			wait.Until(t, "busy workers", func() bool { return len(processes(t, folder)) >= busy })
			if err := server.Process.Kill(); err != nil {
				t.Fatal(err)
			}
			wait.Until(t, "an end of all workers", func() bool { return len(processes(t, folder)) == 0 })
		})
	}
}
