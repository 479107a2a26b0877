package proof

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime/debug"
	"time"

	"reckon/domain/lean/check"
	"reckon/domain/lean/export"
	"reckon/domain/lean/kernel"
)

// request is what a child is asked: this line of JSON, then Bytes bytes of export.
type request struct {
	Kernel       bool     `json:"kernel"` // false: inspect only
	Declarations []string `json:"declarations"`
	FileName     string   `json:"file_name"`
	Bytes        int64    `json:"bytes"`
	TimeoutMS    int64    `json:"timeout_ms"`
	MemoryBytes  int64    `json:"memory_bytes"`
	Workers      int      `json:"workers"`
}

const (
	// stackBytes is the stack a goroutine may use; the kernel counts its recursion and stays below it.
	stackBytes = 1 << 30
	// maxRequestLine bounds the first line of a request.
	maxRequestLine = 1 << 20
	// maxExportBytes bounds what follows it.
	maxExportBytes = 64 << 20
)

// ready is the first line of a child that has begun.
const ready = "ready\n"

// Serve answers requests from in on out, one at a time, once it has said that it is ready: it is all a child
// process does. When in ends it ends the process, whatever it is computing.
func Serve(in io.Reader, out io.Writer) {
	debug.SetMaxStack(stackBytes)
	if _, err := io.WriteString(out, ready); err != nil {
		os.Exit(2)
	}
	// Of all processes this one is to go when the machine's memory does.
	_ = os.WriteFile("/proc/self/oom_score_adj", []byte("1000"), 0) // not everywhere, and a courtesy only
	type work struct {
		request
		content []byte
	}
	works := make(chan work)
	go func() {
		reader := bufio.NewReaderSize(in, 64<<10)
		for {
			r, content, err := readRequest(reader)
			if err != nil {
				os.Exit(2) // the parent ended, or is no parent of ours
			}
			works <- work{r, content}
		}
	}()
	for w := range works {
		ctx, cancel := context.WithTimeout(context.Background(), time.Duration(w.TimeoutMS)*time.Millisecond)
		report := answer(ctx, w.request, w.content)
		cancel()
		if json.NewEncoder(out).Encode(report) != nil {
			os.Exit(2)
		}
	}
}

func readRequest(in *bufio.Reader) (r request, content []byte, err error) {
	var line []byte
	for {
		part, err := in.ReadSlice('\n')
		if line = append(line, part...); err == nil {
			break
		}
		if !errors.Is(err, bufio.ErrBufferFull) || len(line) > maxRequestLine {
			return r, nil, fmt.Errorf("request: %w", err)
		}
	}
	if err := json.Unmarshal(line, &r); err != nil {
		return r, nil, fmt.Errorf("request: %w", err)
	}
	if r.Bytes < 0 || r.Bytes > maxExportBytes {
		return r, nil, fmt.Errorf("request: %d bytes", r.Bytes)
	}
	content = make([]byte, r.Bytes)
	_, err = io.ReadFull(in, content)
	return r, content, err
}

// answer checks or inspects.
func answer(ctx context.Context, r request, content []byte) check.Report {
	begun := time.Now()
	options := check.Options{
		Declarations: r.Declarations, FileName: r.FileName, Limits: export.Limits{Bytes: r.Bytes + 1},
		Kernel: kernel.Options{Workers: r.Workers},
	}
	judge := check.Inspect
	if r.Kernel {
		judge = check.Run
	}
	report, err := Within(ctx, r.MemoryBytes, bytes.NewReader(content), options, judge)
	if err != nil { // of reading from memory
		return *check.Unfinished(err.Error())
	}
	report.ElapsedMS = time.Since(begun).Milliseconds()
	return *report
}
