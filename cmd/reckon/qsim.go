package main

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"crypto/rand"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"reckon/domain/circuit"
	"reckon/internal/offheap"
	"reckon/internal/progress"
	"reckon/runners/qsim"
)

// qsimCmd simulates a circuit from a file, for people who try things at a terminal.
type qsimCmd struct {
	File        string  `arg:"" help:"Circuit as JSON (the qsim job's object) or OpenQASM 2 or 3; - reads standard input."`
	Shots       *int    `help:"Number of samples; default: the circuit's, or 1024." placeholder:"N"`
	Seed        *uint64 `help:"Seed of the samples; default: the circuit's, or a fresh one, which is printed." placeholder:"N"`
	Precision   *string `help:"double or single; default: the circuit's, or double." enum:"double,single" placeholder:"P"`
	Engine      *string `help:"statevector, stabilizer, density, sparse or mps; default: the circuit's method, or chosen by the circuit." enum:"statevector,stabilizer,density,sparse,mps" placeholder:"E"`
	Observables string  `help:"Pauli sums as a JSON array, such as [{\"ZZ\":1,\"XI\":0.5}]; default: the circuit's." placeholder:"JSON"`
	Marginals   string  `help:"Lists of qubits whose exact probabilities are wanted, such as [[0,1],[5]]; default: the circuit's." placeholder:"JSON"`
	Memory      bool    `help:"List the key of each shot in the JSON result."`
	NPY         string  `help:"Write the state vector before the final measurements to this file, in NumPy's format." name:"npy" type:"path" placeholder:"FILE" xor:"picture"`
	Noise       string  `help:"Noise as a JSON object, such as {\"channels\":[{\"channel\":\"depolarizing\",\"p\":0.01}]}; default: the circuit's." placeholder:"JSON"`
	Threads     int     `help:"Threads; default: one per processor." placeholder:"N"`
	MemoryMiB   int64   `help:"Most memory to use; larger circuits are refused." name:"memory-mib" default:"8192" placeholder:"N"`
	Rows        int     `help:"Most rows of the histogram." default:"32" placeholder:"N"`
	JSON        bool    `help:"Print the result as JSON." name:"json"`
	Draw        *string `help:"Draw the circuit instead of simulating it: text or svg." enum:"text,svg" placeholder:"F" xor:"picture"`
}

// qsimChildCmd is the process in which a server has a circuit simulated that takes long.
type qsimChildCmd struct{}

// Run serves one request.
func (qsimChildCmd) Run() error { return qsim.Serve(os.Stdin, os.Stdout) }

// drawnWidth is where a drawing in text goes on below, in characters.
const drawnWidth = 120

// Run prints the result. It exits 1 for a circuit that is refused, 2 for a file that cannot be read.
func (c *qsimCmd) Run() error {
	ctx, stop := untilSignal()
	defer stop()
	if c.Draw != nil {
		picture, err := c.draw(os.Stdin)
		if err != nil {
			return refused(err)
		}
		fmt.Print(picture)
		return nil
	}
	display := progress.New(os.Stderr, slog.Default())
	result, err := c.simulate(ctx, os.Stdin, showProgress(display))
	display.Close()
	if err != nil {
		return refused(err)
	}
	if c.JSON {
		out := bufio.NewWriter(os.Stdout)
		if err := result.WriteJSON(out, "  "); err != nil {
			return err
		}
		_ = out.WriteByte('\n') // Flush says what went wrong
		return out.Flush()
	}
	return printResult(os.Stdout, result, c.Rows)
}

// refused prints why there is no result and tells whose fault it is.
func refused(err error) error {
	if errors.Is(err, context.Canceled) {
		err = errors.New("interrupted; there is no result")
	}
	fmt.Fprintln(os.Stderr, "reckon qsim:", err)
	if _, refused := errors.AsType[*circuit.Refusal](err); refused {
		return exitStatus(1)
	}
	return exitStatus(2)
}

func (c *qsimCmd) draw(stdin io.Reader) (string, error) {
	parsed, _, err := c.read(stdin)
	if err != nil {
		return "", err
	}
	if *c.Draw == "svg" {
		return parsed.DrawSVG()
	}
	return parsed.DrawText(drawnWidth)
}

// read parses the file, under the limits of a machine of one's own.
func (c *qsimCmd) read(stdin io.Reader) (circuit.Circuit, circuit.Limits, error) {
	limits := circuit.DefaultLimits()
	limits.Qubits, limits.CliffordQubits = circuit.MaxQubits, circuit.MaxCliffordQubits
	source, err := c.readSource(stdin, limits.Bytes)
	if err != nil {
		return circuit.Circuit{}, limits, err
	}
	source = bytes.TrimPrefix(source, []byte("\ufeff")) // a byte-order mark says nothing in UTF-8
	parse := circuit.ParseOpenQASM
	if bytes.HasPrefix(bytes.TrimSpace(source), []byte("{")) {
		parse = circuit.Parse
	}
	parsed, err := parse(source, limits)
	return parsed, limits, err
}

func (c *qsimCmd) simulate(ctx context.Context, stdin io.Reader, report func(fraction float64)) (circuit.SweepResult, error) {
	const mostMiB = 1 << 40 // bytes fit 63 bits
	switch {
	case c.MemoryMiB < 1 || c.MemoryMiB > mostMiB:
		return circuit.SweepResult{}, fmt.Errorf("--memory-mib must be between 1 and %d, not %d", int64(mostMiB), c.MemoryMiB)
	case c.Threads < 0:
		return circuit.SweepResult{}, fmt.Errorf("--threads must be at least 0, not %d", c.Threads)
	case c.Rows < 0:
		return circuit.SweepResult{}, fmt.Errorf("--rows must be at least 0, not %d", c.Rows)
	}
	parsed, limits, err := c.read(stdin)
	if err == nil && c.Shots != nil {
		parsed, err = parsed.WithShots(*c.Shots, limits)
	}
	if err == nil && c.Seed != nil {
		parsed, err = parsed.WithSeed(*c.Seed)
	}
	if err == nil && c.Precision != nil {
		parsed, err = parsed.WithPrecision(circuit.Precision(*c.Precision))
	}
	for _, option := range []struct {
		flag, text string
		apply      func(text []byte) (circuit.Circuit, error)
	}{
		{"--noise", c.Noise, func(text []byte) (circuit.Circuit, error) { return parsed.WithNoise(text, limits) }},
		{"--observables", c.Observables, func(text []byte) (circuit.Circuit, error) { return parsed.WithObservables(text) }},
		{"--marginals", c.Marginals, func(text []byte) (circuit.Circuit, error) { return parsed.WithMarginals(text) }},
	} {
		if err == nil && option.text != "" {
			if parsed, err = option.apply([]byte(option.text)); err != nil {
				err = fmt.Errorf("%s: %w", option.flag, err)
			}
		}
	}
	if err == nil && c.NPY != "" {
		parsed, err = parsed.WithNPY(limits)
	}
	if err == nil && c.Memory {
		parsed, err = parsed.WithMemory()
	}
	if err != nil {
		return circuit.SweepResult{}, err
	}
	options := circuit.Options{
		Seed: freshSeed(), Threads: c.Threads, MemoryLimitBytes: c.MemoryMiB << 20, Allocate: offheap.Allocate, Progress: report,
	}
	if c.Engine != nil {
		options.Engine = circuit.Engine(*c.Engine)
	}
	if c.NPY == "" {
		return circuit.RunSweep(ctx, parsed, options)
	}
	return writingNPY(ctx, parsed, options, c.NPY)
}

// writingNPY leaves a whole file of the state vector, or none.
func writingNPY(ctx context.Context, parsed circuit.Circuit, options circuit.Options, path string) (result circuit.SweepResult, err error) {
	file, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+"-*")
	if err != nil {
		if wrong, ok := errors.AsType[*fs.PathError](err); ok { // of a name that nobody has given
			err = wrong.Err
		}
		return result, fmt.Errorf("--npy %s: %w", path, err)
	}
	defer func() {
		if err != nil {
			_ = os.Remove(file.Name())
		}
	}()
	options.NPY = file
	result, err = circuit.RunSweep(ctx, parsed, options)
	if err = cmp.Or(err, file.Close()); err != nil {
		return result, err
	}
	return result, os.Rename(file.Name(), path)
}

// showProgress shows how far a simulation is; those that end soon show nothing.
func showProgress(display *progress.Display) func(fraction float64) {
	begun := time.Now()
	return func(fraction float64) {
		display.Show(func() []progress.Task {
			left := time.Duration(float64(time.Since(begun)) * (1/fraction - 1))
			return []progress.Task{{Name: "simulating", Done: fraction, Left: left}}
		})
	}
}

// readSource returns at most one byte more than allowed, so that the parser can refuse what is too long.
func (c *qsimCmd) readSource(stdin io.Reader, most int) ([]byte, error) {
	if c.File != "-" {
		file, err := os.Open(c.File)
		if err != nil {
			return nil, err
		}
		defer func() { _ = file.Close() }()
		stdin = file
	}
	return io.ReadAll(io.LimitReader(stdin, int64(most)+1))
}

func freshSeed() uint64 {
	var b [8]byte
	_, _ = rand.Read(b[:]) // never fails (crypto/rand documents it)
	return binary.LittleEndian.Uint64(b[:]) & circuit.MaxSeed
}

// printResult shows a histogram, one for each point of a sweep.
func printResult(w io.Writer, r circuit.SweepResult, rows int) error {
	if len(r.Points) == 0 {
		return printHistogram(w, r.Result, rows)
	}
	for i, p := range r.Points {
		var title strings.Builder
		fmt.Fprintf(&title, "point %d:", i)
		for _, name := range slices.Sorted(maps.Keys(p.Parameters)) {
			fmt.Fprintf(&title, " %s = %g", name, p.Parameters[name])
		}
		if _, err := fmt.Fprintf(w, "%s\n\n", title.String()); err != nil {
			return err
		}
		if err := printHistogram(w, p.Result, rows); err != nil {
			return err
		}
		if _, err := fmt.Fprintln(w); err != nil {
			return err
		}
	}
	plural := "s"
	if len(r.Points) == 1 {
		plural = ""
	}
	_, err := fmt.Fprintf(w, "%d point%s, %d shots, seed %d\n", len(r.Points), plural, r.Shots, r.Seed)
	if err != nil {
		return err
	}
	return printWarnings(w, r.Warnings)
}

// printHistogram lists the most frequent keys with bars in proportion to the most frequent one.
func printHistogram(w io.Writer, r circuit.Result, rows int) error {
	const width = 40
	keys := slices.SortedFunc(maps.Keys(r.Counts), func(a, b string) int {
		return cmp.Or(cmp.Compare(r.Counts[b], r.Counts[a]), cmp.Compare(a, b))
	})
	var out strings.Builder
	shown := keys[:min(max(rows, 0), len(keys))]
	for _, key := range shown {
		n := r.Counts[key]
		eighths := n * width * 8 / r.Counts[keys[0]]
		bar := strings.Repeat("█", eighths/8)
		if rest := eighths % 8; rest > 0 {
			bar += string(rune('█' + 8 - rest)) // U+2588 is the full block, the next seven are ever thinner
		}
		fmt.Fprintf(&out, "%s %8d %6.2f%% %s\n", shortenKey(key), n, 100*float64(n)/float64(r.Shots), bar)
	}
	if rest := len(keys) - len(shown); rest > 0 {
		fmt.Fprintf(&out, "… and %d more outcomes\n", rest)
	}
	for i, e := range r.Expectations {
		exact := "not exact: " + r.Omitted["expectations.value"]
		if e.Value != nil {
			exact = fmt.Sprintf("exactly %.12g", *e.Value)
		}
		fmt.Fprintf(&out, "\nobservable %d: %.6g ± %.2g by shots, %s", i, e.Sampled, e.StandardError, exact)
	}
	if len(r.Expectations) > 0 {
		out.WriteByte('\n')
	}
	for _, m := range r.Marginals {
		writeMarginal(&out, m, r.Omitted["marginals.probabilities"], rows)
	}
	fmt.Fprintf(&out, "\n%d shots, seed %d, depth %d, engine %s; qubit 0, or bit 0 of a program, is rightmost\n", r.Shots, r.Seed, r.Depth, r.Engine)
	if r.EngineReason != "" {
		fmt.Fprintf(&out, "%s: %s\n", r.Engine, r.EngineReason)
	}
	if r.Truncation != nil {
		fmt.Fprintf(&out, "bonds up to %d; what was discarded changes no probability by more than %.2g\n", r.Truncation.Bond, r.Truncation.ErrorBound)
	}
	if r.Trajectories > 0 {
		fmt.Fprintf(&out, "noise by %d trajectories, one per shot\n", r.Trajectories)
	}
	if _, err := io.WriteString(w, out.String()); err != nil {
		return err
	}
	return printWarnings(w, r.Warnings)
}

func printWarnings(w io.Writer, list []string) error {
	for _, warning := range list {
		if _, err := fmt.Fprintln(w, "warning:", warning); err != nil {
			return err
		}
	}
	return nil
}

// writeMarginal lists the most likely keys of some qubits.
func writeMarginal(out *strings.Builder, m circuit.Marginal, omitted string, rows int) {
	fmt.Fprintf(out, "\nqubits %v, the first rightmost:", m.Qubits)
	if m.Probabilities == nil {
		fmt.Fprintf(out, " not exact: %s\n", omitted)
		return
	}
	keys := slices.SortedFunc(maps.Keys(m.Probabilities), func(a, b string) int {
		return cmp.Or(cmp.Compare(m.Probabilities[b], m.Probabilities[a]), cmp.Compare(a, b))
	})
	for _, key := range keys[:min(rows, len(keys))] {
		fmt.Fprintf(out, "\n%s exactly %.12g", key, m.Probabilities[key])
	}
	if rest := len(keys) - rows; rest > 0 {
		fmt.Fprintf(out, "\n… and %d more outcomes", rest)
	}
	out.WriteByte('\n')
}

// shortenKey keeps long keys on one line: both ends and the number of qubits between.
func shortenKey(key string) string {
	const most, end = 64, 24
	if len(key) <= most {
		return key
	}
	return fmt.Sprintf("%s…%d…%s", key[:end], len(key)-2*end, key[len(key)-end:])
}
