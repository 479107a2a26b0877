package qsim

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"syscall"
)

const (
	// childOperations is from where on a circuit is simulated in a process of its own: some hundredths of a second of one core.
	childOperations = 1 << 26
	// childNice is the priority of that process, so that whoever asks the server anything is served first.
	childNice = 10
	// mostNice is the lowest priority there is.
	mostNice = 19
	// stateDescriptor is where a child writes its state vector.
	stateDescriptor = 3
)

// header begins the answer of a child; the texts follow it.
type header struct {
	Refused     string `json:"refused,omitempty"`
	OutputBytes int64  `json:"output_bytes"`
	ResultBytes int64  `json:"result_bytes"`
}

// Serve simulates the circuit that it reads from in: it is all a child process does. It writes the state vector to a descriptor of its own,
// reads from in what became of that, and writes the answer to out. When in ends it ends the process, whatever it is computing.
func Serve(in io.Reader, out io.Writer) error {
	if err := lowerPriority(); err != nil {
		return fmt.Errorf("lower the priority: %w", err)
	}
	// Of all processes this one is to go when the machine's memory does.
	_ = os.WriteFile("/proc/self/oom_score_adj", []byte("1000"), 0) // not everywhere, and a courtesy only
	reader := json.NewDecoder(in)
	var asked simulation
	if err := reader.Decode(&asked); err != nil {
		return err
	}
	file := &childState{pipe: os.NewFile(stateDescriptor, "state vector"), told: make(chan kept, 1)}
	go func() {
		for {
			var k kept
			if reader.Decode(&k) != nil {
				os.Exit(2) // the server ended, or wants no answer
			}
			file.told <- k
		}
	}()
	a, err := asked.run(context.Background(), file)
	if err != nil {
		return err
	}
	_ = file.pipe.Close() // where no state was written, its reader waits for this
	buffered := bufio.NewWriter(out)
	if err := json.NewEncoder(buffered).Encode(header{a.Refused, int64(len(a.Output)), int64(len(a.Result))}); err != nil {
		return err
	}
	for _, text := range []string{a.Output, a.Result} {
		if _, err := buffered.WriteString(text); err != nil {
			return err
		}
	}
	return buffered.Flush()
}

// lowerPriority makes this process nicer than the one that started it.
func lowerPriority() error {
	inverted, err := syscall.Getpriority(syscall.PRIO_PROCESS, 0) // the system call gives 20 less the niceness, so that it is never negative
	if err != nil {
		return err
	}
	// The group is this process alone: Linux sets the priority of all its threads, and of a process only that of one.
	return syscall.Setpriority(syscall.PRIO_PGRP, 0, min(20-inverted+childNice, mostNice))
}

// childState hands the state vector to the server.
type childState struct {
	pipe *os.File
	told chan kept
}

func (c *childState) Write(data []byte) (int, error) { return c.pipe.Write(data) }

func (c *childState) keep() (kept, error) {
	if err := c.pipe.Close(); err != nil {
		return kept{}, err
	}
	return <-c.told, nil
}

// runInChild simulates in a process of its own, which ends with the context.
func (s simulation) runInChild(ctx context.Context, command []string, file stateFile) (answer, error) {
	child := exec.CommandContext(ctx, command[0], command[1:]...)
	child.Env = []string{} // never this process's
	child.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	in, err := child.StdinPipe()
	if err != nil {
		return answer{}, err
	}
	out, err := child.StdoutPipe()
	if err != nil {
		return answer{}, err
	}
	states, written, err := os.Pipe()
	if err != nil {
		return answer{}, err
	}
	defer func() { _ = states.Close() }()
	child.ExtraFiles = []*os.File{written}
	err = child.Start()
	_ = written.Close() // the child's now
	if err != nil {
		return answer{}, fmt.Errorf("start a process for the circuit: %w", err)
	}
	a, err := s.exchange(in, states, out, file)
	if err != nil {
		_ = child.Process.Kill()
	}
	_ = in.Close()
	if ended := child.Wait(); err != nil {
		err = fmt.Errorf("the process that simulated the circuit ended before it had an answer: %w", errors.Join(ended, err))
	}
	if ctx.Err() != nil {
		return answer{}, ctx.Err()
	}
	return a, err
}

// exchange sends the simulation, takes its state vector, says what became of that, and reads the answer.
func (s simulation) exchange(in io.Writer, states, out io.Reader, file stateFile) (answer, error) {
	writer := json.NewEncoder(in)
	if err := writer.Encode(s); err != nil {
		return answer{}, err
	}
	written, err := io.Copy(struct{ io.Writer }{file}, states)
	if err != nil {
		return answer{}, err
	}
	if written > 0 {
		k, err := file.keep()
		if err == nil {
			err = writer.Encode(k)
		}
		if err != nil {
			return answer{}, err
		}
	}
	reader := bufio.NewReader(out)
	line, err := reader.ReadBytes('\n')
	if err != nil {
		return answer{}, err
	}
	var h header
	if err := json.Unmarshal(line, &h); err != nil {
		return answer{}, err
	}
	a := answer{Refused: h.Refused}
	if a.Output, err = readText(reader, h.OutputBytes); err != nil {
		return answer{}, err
	}
	a.Result, err = readText(reader, h.ResultBytes)
	return a, err
}

// readText reads a text of so many bytes into memory of the right size.
func readText(in io.Reader, bytes int64) (string, error) {
	var text strings.Builder
	text.Grow(int(bytes))
	_, err := io.CopyN(&text, in, bytes)
	return text.String(), err
}
