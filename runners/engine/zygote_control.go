package engine

import (
	"bytes"
	"encoding/json"

	"golang.org/x/sys/unix"
)

// controlOp is what a line from the zygote reports.
type controlOp string

const (
	opReady   controlOp = "ready"   // the program is imported and warm
	opSpawned controlOp = "spawned" // a worker was forked, or could not be: PID is 0
	opExit    controlOp = "exit"    // a worker ended
)

// controlMessage is one line from the zygote.
type controlMessage struct {
	Op          controlOp         `json:"op"`
	PID         int               `json:"pid"`
	Handle      bool              `json:"handle"` // a process descriptor came along
	Error       string            `json:"error"`
	Code        int               `json:"code"`
	Signal      int               `json:"signal"`
	LandlockABI int               `json:"landlock_abi"`
	NoFiles     bool              `json:"no_files"` // the file system is one empty folder
	Info        map[string]string `json:"info"`
}

// listen reads the control socket until the zygote is gone, then tells everyone who waits on it.
func (p *zygoteProcess) listen() {
	p.readControl()
	_ = p.control.Close()
	_ = p.command.Process.Kill()
	_ = p.command.Wait()
	p.mu.Lock()
	defer p.mu.Unlock()
	close(p.exited)
	for _, waiter := range p.waiting {
		close(waiter)
	}
	for _, worker := range p.workers {
		worker.recordLoss()
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
			p.handleMessage(message, handle)
		}
		if len(pending) > maxLine {
			return
		}
	}
}

func (p *zygoteProcess) handleMessage(message controlMessage, handle int) {
	switch message.Op {
	case opReady:
		p.ready <- message
	case opSpawned:
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
	case opExit:
		p.mu.Lock()
		worker := p.workers[message.PID]
		delete(p.workers, message.PID)
		p.mu.Unlock()
		if worker != nil {
			worker.recordExit(message)
		}
	}
}
