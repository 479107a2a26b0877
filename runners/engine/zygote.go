package engine

import (
	"bytes"
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"reckon/internal/private"
)

//go:embed python/zygote.py
var zygoteSource []byte

// Program is what a zygote runs: a Python source that defines handle(request: dict) -> dict and, if it likes,
// warm() (once, before any fork), reseed() (in every child) and info() -> {"name","revision"}.
// A reply {"failed": reason, "detail": text} arrives as a FailedError.
type Program struct {
	Name     string   // for messages
	Python   string   // the interpreter of its environment, see Python
	Source   []byte   // the program
	ReadOnly []string // folders a worker may still read; none is best
	Sandbox  Sandbox
	Idle     int // workers kept forked and waiting; each is used once
	Limits   Limits
}

// anywhere makes the program's paths good from any working folder: the zygote starts in one of its own.
func (p Program) anywhere() (Program, error) {
	var err error
	p.ReadOnly = slices.Clone(p.ReadOnly)
	if p.Python, err = filepath.Abs(p.Python); err != nil {
		return p, err
	}
	for i := range p.ReadOnly {
		if p.ReadOnly[i], err = filepath.Abs(p.ReadOnly[i]); err != nil {
			return p, err
		}
	}
	return p, nil
}

// Limits bound each worker of a Program. Zero means the default.
type Limits struct {
	MemoryBytes  int64 `json:"memory_bytes"`  // beyond what the warmed program maps; default 1 GiB
	CPUSeconds   int64 `json:"cpu_seconds"`   // over a worker's life, behind the budgets; default 4 h
	OpenFiles    int   `json:"open_files"`    // default 64
	RequestBytes int   `json:"request_bytes"` // one line to a worker; default 8 MiB
	ReplyBytes   int   `json:"reply_bytes"`   // one line from a worker; default 16 MiB
}

func (l Limits) orDefaults() Limits {
	if l.MemoryBytes == 0 {
		l.MemoryBytes = 1 << 30
	}
	if l.CPUSeconds == 0 {
		l.CPUSeconds = 4 * 3600
	}
	if l.OpenFiles == 0 {
		l.OpenFiles = 64
	}
	if l.RequestBytes == 0 {
		l.RequestBytes = 8 << 20
	}
	if l.ReplyBytes == 0 {
		l.ReplyBytes = 16 << 20
	}
	return l
}

const (
	startTimeout = 60 * time.Second // import and warm-up, on a slow and busy machine
	spawnTimeout = 10 * time.Second
)

// Zygote is a running program that forks workers. Should its process die it is started again by the next Spawn.
type Zygote struct {
	program Program
	idle    chan *Worker

	mu      sync.Mutex
	process *zygoteProcess
	closed  bool
	filling sync.WaitGroup
}

// StartZygote starts the program and proves its boundaries from inside a worker.
func StartZygote(ctx context.Context, program Program) (*Zygote, error) {
	if program.Sandbox != SandboxOff && !sandboxSupported {
		_, err := seccompHex(false)
		return nil, err
	}
	program, err := program.anywhere()
	if err != nil {
		return nil, err
	}
	program.Limits = program.Limits.orDefaults()
	z := &Zygote{program: program, idle: make(chan *Worker, program.Idle)}
	if _, err := z.running(ctx); err != nil {
		return nil, err
	}
	for range program.Idle {
		z.fill()
	}
	return z, nil
}

// writeProgram lays out the private folder a zygote starts from: sources, configuration, an empty working folder.
func writeProgram(program Program, namespaced bool) (string, error) {
	filter, readOnly := "", []string{}
	if program.Sandbox != SandboxOff {
		var err error
		if filter, err = seccompHex(len(program.ReadOnly) > 0); err != nil {
			return "", err
		}
		readOnly = append(readOnly, program.ReadOnly...)
	}
	folder, err := private.Temporary("reckon-engine-")
	if err != nil {
		return "", err
	}
	config, err := json.Marshal(map[string]any{
		"program": filepath.Join(folder, "program.py"), "sandbox": program.Sandbox != SandboxOff, "namespaced": namespaced,
		"seccomp": filter, "own_process": ownProcess, "read_only": readOnly, "limits": program.Limits,
	})
	for name, content := range map[string][]byte{"zygote.py": zygoteSource, "program.py": program.Source, "config.json": config} {
		err = errors.Join(err, os.WriteFile(filepath.Join(folder, name), content, 0o400))
	}
	if err = errors.Join(err, os.Mkdir(filepath.Join(folder, "empty"), 0o500)); err != nil {
		_ = os.RemoveAll(folder)
		return "", err
	}
	return folder, nil
}

// Close ends the zygote and every worker.
func (z *Zygote) Close() error {
	z.mu.Lock()
	z.closed = true
	process := z.process
	z.mu.Unlock()
	if process != nil {
		process.end()
	}
	z.filling.Wait()
	return nil
}

// Info is what the program says of itself.
func (z *Zygote) Info() map[string]string {
	z.mu.Lock()
	defer z.mu.Unlock()
	return z.process.info
}

// Boundaries tells what is in force around the workers.
func (z *Zygote) Boundaries() []Boundary {
	z.mu.Lock()
	defer z.mu.Unlock()
	return slices.Clone(z.process.boundaries)
}

// Call runs one request in a fresh worker and ends it. The context's deadline is the budget.
func (z *Zygote) Call(ctx context.Context, request, reply any) error {
	worker, err := z.Spawn(ctx)
	if err != nil {
		return err
	}
	defer worker.Kill()
	return worker.Call(ctx, request, reply)
}

// Spawn gives a fresh worker: an idle one where there is one, else a new fork.
func (z *Zygote) Spawn(ctx context.Context) (*Worker, error) {
	for {
		select {
		case worker := <-z.idle:
			z.fill()
			if worker.Alive() {
				return worker, nil
			}
			worker.Kill() // it went with an earlier zygote
			continue
		default:
		}
		process, err := z.running(ctx)
		if err != nil {
			return nil, err
		}
		worker, err := process.spawn(ctx)
		if errors.Is(err, errSpawn) && !process.alive() {
			continue // it died just now: running starts another or says why it cannot
		}
		return worker, err
	}
}

// fill forks one idle worker in the background.
func (z *Zygote) fill() {
	z.mu.Lock()
	defer z.mu.Unlock()
	if z.closed {
		return
	}
	z.filling.Go(func() {
		ctx, cancel := context.WithTimeout(context.Background(), startTimeout)
		defer cancel()
		process, err := z.running(ctx)
		if err != nil {
			return // the next Spawn meets the same error and reports it
		}
		worker, err := process.spawn(ctx)
		if err != nil {
			return
		}
		select {
		case z.idle <- worker:
		default:
			worker.Kill()
		}
	})
}

// running answers the live zygote process, starting one where there is none.
func (z *Zygote) running(ctx context.Context) (*zygoteProcess, error) {
	z.mu.Lock()
	defer z.mu.Unlock()
	if z.closed {
		return nil, ErrClosed
	}
	if z.process != nil && z.process.alive() {
		return z.process, nil
	}
	ctx, cancel := context.WithTimeout(ctx, startTimeout)
	defer cancel()
	walled := z.program.Sandbox != SandboxOff
	process, err := startProcess(ctx, z.program, walled)
	if err != nil && walled { // a kernel or container that refuses namespaces: the workers' own filter still holds
		var second error
		if process, second = startProcess(ctx, z.program, false); second != nil {
			return nil, fmt.Errorf("start %s: %w", z.program.Name, errors.Join(err, second))
		}
	} else if err != nil {
		return nil, fmt.Errorf("start %s: %w", z.program.Name, err)
	}
	z.process = process
	return process, nil
}

// zygoteProcess is one life of a zygote.
type zygoteProcess struct {
	command    *exec.Cmd
	control    *net.UnixConn
	limits     Limits
	namespaced bool
	info       map[string]string
	boundaries []Boundary
	errors     *tail
	// addressSpace is the RLIMIT_AS of workers in bytes: what the warmed program maps and the memory a worker may add; 0 for none.
	addressSpace int64
	ended        chan struct{} // closed when the process is gone
	ready        chan controlMessage

	mu      sync.Mutex
	waiting []chan *Worker // spawns asked for and not yet answered, oldest first
	workers map[int]*Worker
}

// controlMessage is one line from the zygote.
type controlMessage struct {
	Op          string            `json:"op"`
	PID         int               `json:"pid"`
	Handle      bool              `json:"handle"` // a process descriptor came along
	Error       string            `json:"error"`
	Code        int               `json:"code"`
	Signal      int               `json:"signal"`
	LandlockABI int               `json:"landlock_abi"`
	NoFiles     bool              `json:"no_files"` // the file system is one empty folder
	Info        map[string]string `json:"info"`
}

func startProcess(ctx context.Context, program Program, namespaced bool) (*zygoteProcess, error) {
	folder, err := writeProgram(program, namespaced)
	if err != nil {
		return nil, err
	}
	defer func() { _ = os.RemoveAll(folder) }() // all of it is read by the time the zygote is ready
	ours, theirs, err := socketPair()
	if err != nil {
		return nil, err
	}
	command := exec.Command(program.Python, "-I", "-B", "-X", "utf8", filepath.Join(folder, "zygote.py"), filepath.Join(folder, "config.json"))
	command.Dir = filepath.Join(folder, "empty")
	command.Env = []string{}
	command.ExtraFiles = []*os.File{theirs}
	if namespaced {
		namespaces(command)
	}
	p := &zygoteProcess{
		command: command, control: ours, limits: program.Limits, namespaced: namespaced, errors: &tail{},
		ended: make(chan struct{}), ready: make(chan controlMessage, 1), workers: map[int]*Worker{},
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
		err = p.prove(ctx, program, message)
	case <-p.ended:
		err = fmt.Errorf("the zygote ended while starting: %s", p.errors)
	case <-ctx.Done():
		err = ctx.Err()
	}
	if err != nil {
		p.end()
		return nil, err
	}
	return p, nil
}

func (p *zygoteProcess) alive() bool {
	select {
	case <-p.ended:
		return false
	default:
		return true
	}
}

// end kills the zygote; the kernel takes the workers with it.
func (p *zygoteProcess) end() {
	_ = p.control.Close()
	_ = p.command.Process.Kill()
	<-p.ended
}

// listen reads the control socket until the zygote is gone, then tells everyone who waits on it.
func (p *zygoteProcess) listen() {
	p.readControl()
	_ = p.control.Close()
	_ = p.command.Process.Kill()
	_ = p.command.Wait()
	p.mu.Lock()
	defer p.mu.Unlock()
	close(p.ended)
	for _, waiter := range p.waiting {
		close(waiter)
	}
	for _, worker := range p.workers {
		worker.ended(controlMessage{Signal: int(unix.SIGKILL)})
	}
	p.waiting, p.workers = nil, nil
}

func (p *zygoteProcess) readControl() {
	const maxLine = 64 << 10
	var pending []byte
	var handles []int
	defer func() {
		for _, handle := range handles {
			_ = unix.Close(handle)
		}
	}()
	data, ancillary := make([]byte, 16<<10), make([]byte, unix.CmsgSpace(4*64))
	for {
		n, oob, _, _, err := p.control.ReadMsgUnix(data, ancillary)
		if err != nil || n == 0 {
			return
		}
		handles = append(handles, receivedHandles(ancillary[:oob])...)
		pending = append(pending, data[:n]...)
		for {
			line, rest, found := bytes.Cut(pending, []byte("\n"))
			if !found {
				break
			}
			pending = rest
			var message controlMessage
			if json.Unmarshal(line, &message) != nil {
				return
			}
			handle := -1
			if message.Handle && len(handles) > 0 {
				handle, handles = handles[0], handles[1:]
			}
			p.told(message, handle)
		}
		if len(pending) > maxLine {
			return
		}
	}
}

func (p *zygoteProcess) told(message controlMessage, handle int) {
	switch message.Op {
	case "ready":
		p.ready <- message
	case "spawned":
		p.mu.Lock()
		defer p.mu.Unlock()
		if len(p.waiting) == 0 {
			return
		}
		waiter := p.waiting[0]
		p.waiting = p.waiting[1:]
		if message.PID == 0 {
			close(waiter)
			return
		}
		worker := &Worker{process: p, pid: message.PID, handle: handle, done: make(chan struct{})}
		p.workers[message.PID] = worker
		waiter <- worker
	case "exit":
		p.mu.Lock()
		worker := p.workers[message.PID]
		delete(p.workers, message.PID)
		p.mu.Unlock()
		if worker != nil {
			worker.ended(message)
		}
	}
}

var errSpawn = errors.New("the engine could not start a worker")

// spawn forks one worker and gives it one end of a new socket pair.
func (p *zygoteProcess) spawn(ctx context.Context) (*Worker, error) {
	ours, theirs, err := socketPair()
	if err != nil {
		return nil, fmt.Errorf("%w: %w", errSpawn, err)
	}
	waiter := make(chan *Worker, 1)
	p.mu.Lock()
	if !p.alive() {
		err = errSpawn
	} else if _, _, err = p.control.WriteMsgUnix(fmt.Appendf(nil, "{\"op\":\"spawn\",\"address_space\":%d}\n", p.addressSpace), unix.UnixRights(int(theirs.Fd())), nil); err == nil {
		p.waiting = append(p.waiting, waiter)
	}
	p.mu.Unlock()
	_ = theirs.Close()
	if err != nil {
		_ = ours.Close()
		return nil, fmt.Errorf("%w: %w", errSpawn, err)
	}
	timer := time.NewTimer(spawnTimeout)
	defer timer.Stop()
	select {
	case worker := <-waiter:
		if worker == nil {
			_ = ours.Close()
			return nil, errSpawn
		}
		worker.connection = ours
		return worker, nil
	case <-ctx.Done():
		err = ctx.Err()
	case <-timer.C:
		err = fmt.Errorf("%w within %s", errSpawn, spawnTimeout)
	}
	_ = ours.Close() // a worker that still comes reads the end of its socket and leaves
	return nil, err
}

// prove asks a worker what it can do and refuses a zygote whose workers can do too much.
func (p *zygoteProcess) prove(ctx context.Context, program Program, ready controlMessage) error {
	worker, err := p.spawn(ctx)
	if err != nil {
		return err
	}
	defer worker.Kill()
	if program.Sandbox == SandboxOff {
		for _, name := range []string{"filesystem", "network", "process"} {
			p.boundaries = append(p.boundaries, Boundary{Name: name, By: []string{}})
		}
		p.boundaries = append(p.boundaries, Boundary{Name: "resources", InForce: true, By: []string{"rlimits"}})
		return nil
	}
	var reply struct{ Probe map[string]string }
	if err := worker.Call(ctx, map[string]string{"op": "probe"}, &reply); err != nil {
		return fmt.Errorf("prove the workers' boundaries: %w", err)
	}
	walls := map[string][]string{
		"filesystem": {"open", "create", "list"},
		"network":    {"socket", "unix_socket"},
		"process":    {"fork", "exec", "signal_parent", "signal_all", "ptrace", "read_memory"},
	}
	var open []string
	for _, name := range []string{"filesystem", "network", "process"} {
		for _, attempt := range walls[name] {
			if answer := reply.Probe[attempt]; answer != "EPERM" && answer != "EACCES" {
				open = append(open, attempt+": "+answer)
			}
		}
		p.boundaries = append(p.boundaries, Boundary{Name: name, InForce: true, By: p.walls(name, ready)})
	}
	p.boundaries = append(p.boundaries, Boundary{Name: "resources", InForce: true, By: []string{"rlimits"}})
	if len(open) > 0 {
		return &UnsafeError{Open: open}
	}
	return nil
}

// walls lists what enforces a boundary, innermost first.
func (p *zygoteProcess) walls(name string, ready controlMessage) []string {
	by := []string{"seccomp"}
	landlockSince := map[string]int{"filesystem": 1, "network": 4, "process": 6}
	if ready.LandlockABI >= landlockSince[name] {
		by = append(by, "landlock")
	}
	namespace := map[string]string{"filesystem": "mount namespace", "network": "network namespace", "process": "pid namespace"}
	if p.namespaced && (name != "filesystem" || ready.NoFiles) {
		by = append(by, namespace[name])
	}
	return by
}

// tail keeps the end of what a zygote wrote to its standard error while it started.
type tail struct {
	mu   sync.Mutex
	text []byte
}

func (t *tail) Write(p []byte) (int, error) {
	const keep = 4 << 10
	t.mu.Lock()
	defer t.mu.Unlock()
	t.text = append(t.text, p...)
	if over := len(t.text) - keep; over > 0 {
		t.text = append([]byte{}, t.text[over:]...)
	}
	return len(p), nil
}

func (t *tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return strings.TrimSpace(string(t.text))
}
