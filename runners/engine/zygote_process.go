package engine

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

// zygoteProcess is one life of a zygote.
type zygoteProcess struct {
	command    *exec.Cmd
	control    *net.UnixConn
	limits     Limits
	namespaced bool
	info       map[string]string
	boundaries []Boundary
	errors     *outputTail
	// addressSpace is the RLIMIT_AS of workers in bytes: what the warmed program maps and the memory a worker may add; 0 for none.
	addressSpace int64
	exited       chan struct{} // closed when the process is gone
	ready        chan controlMessage

	mu      sync.Mutex
	waiting []chan *Worker // spawns asked for and not yet answered, oldest first
	workers map[int]*Worker
}

func startProcess(ctx context.Context, program Program, namespaced bool) (*zygoteProcess, error) {
	folder, err := writeProgram(ctx, program, namespaced)
	if err != nil {
		return nil, err
	}
	defer func() { _ = os.RemoveAll(folder) }() // all of it is read by the time the zygote is ready
	ours, theirs, err := socketPair()
	if err != nil {
		return nil, err
	}
	// As isolated as by -I, which would ignore the one variable that is given: sets are gone through in the same order in every process.
	command := exec.Command(program.Python, "-s", "-P", "-B", "-X", "utf8", filepath.Join(folder, "zygote.py"), filepath.Join(folder, "config.json"))
	command.Dir = filepath.Join(folder, "empty")
	command.Env = []string{"PYTHONHASHSEED=0"}
	command.ExtraFiles = []*os.File{theirs}
	if namespaced {
		namespaces(command)
	}
	p := &zygoteProcess{
		command: command, control: ours, limits: program.Limits, namespaced: namespaced, errors: &outputTail{},
		exited: make(chan struct{}), ready: make(chan controlMessage, 1), workers: map[int]*Worker{},
	}
	command.Stderr = p.errors
	err = command.Start()
	_ = theirs.Close() // ours must be the only end left here, so that it ends when the zygote does
	if err != nil {
		_ = ours.Close()
		return nil, fmt.Errorf("start %s: %w", program.Python, err)
	}
	go p.listen()
	select {
	case message := <-p.ready:
		p.info = message.Info
		p.addressSpace = addressSpace(command.Process.Pid, program.Limits.MemoryBytes)
		err = p.proveBoundaries(ctx, program, message)
	case <-p.exited:
		err = fmt.Errorf("the zygote ended while starting: %s", p.errors)
	case <-ctx.Done():
		err = ctx.Err()
	}
	if err != nil {
		p.kill()
		return nil, err
	}
	return p, nil
}

func (p *zygoteProcess) alive() bool {
	select {
	case <-p.exited:
		return false
	default:
		return true
	}
}

// kill kills the zygote; the kernel takes the workers with it.
func (p *zygoteProcess) kill() {
	_ = p.control.Close()
	_ = p.command.Process.Kill()
	<-p.exited
}

// errZygoteGone is that a zygote has ended.
var errZygoteGone = errors.New("its parent has ended")

// spawn forks one worker and gives it one end of a new socket pair.
func (p *zygoteProcess) spawn(ctx context.Context) (*Worker, error) {
	ours, theirs, err := socketPair()
	if err != nil {
		return nil, &SpawnError{err}
	}
	waiter := make(chan *Worker, 1)
	p.mu.Lock()
	if !p.alive() {
		err = errZygoteGone
	} else if _, _, err = p.control.WriteMsgUnix(fmt.Appendf(nil, "{\"op\":\"spawn\",\"address_space\":%d}\n", p.addressSpace), unix.UnixRights(int(theirs.Fd())), nil); err == nil {
		p.waiting = append(p.waiting, waiter)
	}
	p.mu.Unlock()
	_ = theirs.Close()
	if err != nil {
		_ = ours.Close()
		if errors.Is(err, net.ErrClosed) || errors.Is(err, unix.EPIPE) || errors.Is(err, unix.ECONNRESET) {
			<-p.exited // it has been killed, and is not alive for the caller either; listen kills what is left of it
		}
		return nil, &SpawnError{err}
	}
	timer := time.NewTimer(spawnTimeout)
	defer timer.Stop()
	select {
	case worker := <-waiter:
		if worker == nil {
			_ = ours.Close()
			return nil, &SpawnError{errZygoteGone}
		}
		worker.connection = ours
		return worker, nil
	case <-ctx.Done():
		err = ctx.Err()
	case <-timer.C:
		err = &SpawnError{fmt.Errorf("no answer within %s", spawnTimeout)}
	}
	_ = ours.Close() // a worker that still comes reads the end of its socket and leaves
	return nil, err
}

// outputTail keeps the last 4 KiB that a process wrote.
type outputTail struct {
	mu   sync.Mutex
	text []byte
}

func (t *outputTail) Write(p []byte) (int, error) {
	const keep = 4 << 10
	t.mu.Lock()
	defer t.mu.Unlock()
	t.text = append(t.text, p...)
	if over := len(t.text) - keep; over > 0 {
		t.text = append([]byte{}, t.text[over:]...)
	}
	return len(p), nil
}

func (t *outputTail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return strings.TrimSpace(string(t.text))
}
