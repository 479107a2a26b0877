package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
	"runtime/debug"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"reckon/domain/lean/check"
	"reckon/domain/lean/export"
	"reckon/domain/lean/kernel"
	"reckon/runners/proof"
)

// leanCmd judges Lean proofs.
type leanCmd struct {
	Check     leanCheckCmd     `cmd:"" help:"Check a lean4export file and judge the named declarations."`
	Recheck   leanRecheckCmd   `cmd:"" help:"Check the export of a certificate again and compare."`
	Child     leanChildCmd     `cmd:"" hidden:"" help:"Answer the requests of a server on standard input."`
	Jail      leanJailCmd      `cmd:"" hidden:"" help:"Become a program of the operator's, walled in."`
	Reference leanReferenceCmd `cmd:"" help:"Tables of core definitions that files are compared with."`
}

type leanCheckCmd struct {
	File             string        `arg:"" help:"Export (NDJSON, format 3.1); - reads standard input."`
	Declarations     []string      `help:"Names to judge, as exported, separated by commas, but for those within «»." placeholder:"A,B" sep:"none" xor:"names" required:""`
	DeclarationsFile string        `help:"File of names to judge, one per line; - reads standard input." placeholder:"F" xor:"names" required:""`
	All              bool          `help:"Judge every declaration of the file." xor:"names" required:""`
	JSON             bool          `help:"Print the report as JSON." name:"json"`
	Timeout          time.Duration `help:"Give up after this long, ${default} unless said; the result is then inconclusive." default:"1h" placeholder:"D"`
	MemoryMiB        int64         `help:"Most memory to use in MiB, ${default} unless said; beyond it the result is inconclusive." name:"memory-mib" default:"4096" placeholder:"N"`
	MaxBytes         int64         `help:"Largest file to read in bytes, ${default} unless said." default:"1073741824" placeholder:"N"`
	SecondKernel     string        `help:"A further kernel to ask about a file that would be verified: nanoda, or a program that takes the file's path and answers by its exit status (0 accepts, 2 has no opinion, any other refuses)." placeholder:"PATH"`
	OneKernel        bool          `help:"Ask the first kernel alone: verified then means that one kernel accepts the file."`
	Threads          int           `help:"Threads; default: one per processor." placeholder:"N"`
	Quiet            bool          `help:"No progress on standard error." short:"q"`
}

// leanStackBytes is the stack a goroutine may use here; the kernel counts its recursion and stays below it.
const leanStackBytes = 1 << 30

// leanGCPercent lets the heap grow between collections: a check keeps most of what it makes, and the memory limit
// brings collections back when room gets short.
const leanGCPercent = 400

// Run prints the report. It exits 1 when the verdict is rejected or unsupported, and 2 when the check did not finish or
// the file cannot be read as an export.
func (c *leanCheckCmd) Run() error {
	ctx, stop := untilSignal()
	defer stop()
	report, err := c.check(ctx)
	if err != nil {
		fmt.Fprintln(os.Stderr, "reckon lean check:", err)
		return exitStatus(2)
	}
	if c.JSON {
		err = encodeLine(os.Stdout, report)
	} else {
		err = printLeanReport(os.Stdout, report, c.All)
	}
	if err != nil {
		return err
	}
	return exitStatusOf(report)
}

func exitStatusOf(r *check.Report) error {
	switch {
	case r.Verdict == check.Inconclusive || r.Unreadable:
		return exitStatus(2)
	case r.Verdict != check.Verified:
		return exitStatus(1)
	}
	return nil
}

func (c *leanCheckCmd) check(ctx context.Context) (*check.Report, error) {
	names, err := c.declarationNames()
	if err != nil {
		return nil, err
	}
	in, size := io.Reader(os.Stdin), int64(0)
	if c.File != "-" {
		file, err := os.Open(c.File)
		if err != nil {
			return nil, err
		}
		defer func() { _ = file.Close() }()
		if info, err := file.Stat(); err == nil {
			size = info.Size()
		}
		in = file
	}
	debug.SetMaxStack(leanStackBytes)
	debug.SetGCPercent(leanGCPercent)
	ctx, cancel := context.WithTimeout(ctx, c.Timeout)
	defer cancel()
	progress := newLeanProgress(os.Stderr, c.Quiet, size)
	defer progress.clearBar()
	start := time.Now()
	program, err := c.program(ctx)
	if err != nil {
		return nil, err
	}
	report, err := proof.Within(ctx, c.MemoryMiB<<20, progress.reading(in), check.Options{
		Declarations: names,
		All:          c.All,
		FileName:     c.File,
		Limits:       export.Limits{Bytes: c.MaxBytes},
		Kernel:       kernel.Options{Workers: c.Threads, Progress: progress.checking},
		OneKernel:    c.OneKernel,
	}, check.Run)
	if report != nil {
		report.ElapsedMS = time.Since(start).Milliseconds()
	}
	if err == nil && program != nil {
		again, err := os.Open(c.File)
		if err != nil {
			return nil, err
		}
		defer func() { _ = again.Close() }()
		if err := program.AddAnswer(ctx, report, again, c.File, c.Timeout); err != nil {
			return nil, err
		}
	}
	return report, err
}

// program is the further kernel that is to be asked; nil without one.
func (c *leanCheckCmd) program(ctx context.Context) (*proof.Program, error) {
	if c.SecondKernel == "" {
		return nil, nil
	}
	if c.File == "-" {
		return nil, errors.New("--second-kernel reads the file too: name it, standard input can be read once only")
	}
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	return proof.NewProgram(ctx, proof.ProgramConfig{Path: c.SecondKernel, Jail: []string{self, "lean", "jail"}, MemoryBytes: c.MemoryMiB << 20})
}

// separated yields the names of lists that are separated by commas; within «» a comma is a part of the name.
func separated(lists []string) iter.Seq[string] {
	return func(yield func(string) bool) {
		for _, list := range lists {
			quoted := false
			for name := range strings.FieldsFuncSeq(list, func(r rune) bool {
				quoted = r == '«' || quoted && r != '»'
				return r == ',' && !quoted
			}) {
				if !yield(strings.TrimSpace(name)) {
					return
				}
			}
		}
	}
}

func (c *leanCheckCmd) declarationNames() ([]string, error) {
	if c.DeclarationsFile == "" {
		return slices.Collect(separated(c.Declarations)), nil
	}
	in := io.Reader(os.Stdin)
	if c.DeclarationsFile != "-" {
		file, err := os.Open(c.DeclarationsFile)
		if err != nil {
			return nil, err
		}
		defer func() { _ = file.Close() }()
		in = file
	}
	var names []string
	lines := bufio.NewScanner(in)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		if name := strings.TrimSpace(lines.Text()); name != "" {
			names = append(names, name)
		}
	}
	if err := lines.Err(); err != nil {
		return nil, err
	}
	if len(names) == 0 {
		return nil, errors.New("the declarations file has no names")
	}
	return names, nil
}

// printLeanReport writes the report for people.
func printLeanReport(w io.Writer, r *check.Report, brief bool) error {
	var out strings.Builder
	if r.Unreadable {
		fmt.Fprintf(&out, "%s: the file is no export that can be read, and no kernel has judged it\n", r.Verdict)
	} else {
		fmt.Fprintf(&out, "%s (kernel: %s), %d declarations checked in %d ms\n", r.Verdict, r.Kernel, r.DeclarationsChecked, r.ElapsedMS)
	}
	if f := r.Refusal; f != nil {
		place := f.File
		if f.Line > 0 {
			place += fmt.Sprintf(":%d", f.Line)
		}
		fmt.Fprintf(&out, "%s: %s: %s: %s\n", place, f.Declaration, f.Class, f.Message)
	}
	if r.Unreadable {
		_, err := io.WriteString(w, out.String())
		return err
	}
	if !brief {
		for _, d := range r.Declarations {
			statement := "(too long to be printed)"
			if d.Statement != nil {
				statement = *d.Statement
			}
			fmt.Fprintf(&out, "%s %s : %s\n  axioms: %s\n", d.Kind, d.Name, statement, listOrNone(d.Axioms))
		}
	}
	for _, k := range r.Kernels {
		fmt.Fprintf(&out, "kernel %s: %s\n", k.Name, answerText(string(k.Answer), k.Reason))
	}
	fmt.Fprintf(&out, "axioms used: %s\n", listOrNone(r.AxiomsUsed))
	if c := r.Conformance; c != nil {
		fmt.Fprintf(&out, "conformance (Lean %s): %d matched, %d differing, %d outside (%s)\n", *c.ReferenceLeanVersion, c.Matched, len(c.Differing),
			c.Outside.Count, listOrNone(c.Outside.Namespaces))
	}
	if own := r.OwnDefinitions; own != nil && own.Count > 0 {
		shown := ""
		if own.Omitted > 0 {
			shown = fmt.Sprintf(", nearest %d shown", len(own.Definitions))
		}
		fmt.Fprintf(&out, "own definitions the statements rest on: %d%s, sha256 of all %s\n", own.Count, shown, own.SHA256)
		if !brief {
			for _, d := range own.Definitions {
				fmt.Fprintf(&out, "  %s\n", strings.ReplaceAll(d.Text, "\n", "\n  "))
			}
			if own.Omitted > 0 {
				fmt.Fprintf(&out, "  and %d more\n", own.Omitted)
			}
		}
	}
	_, err := io.WriteString(w, out.String())
	return err
}

// answerText is what a kernel answers, as the two commands that ask kernels print it.
func answerText(answer string, reason *string) string {
	answer = strings.ReplaceAll(answer, "_", " ")
	if reason == nil {
		return answer
	}
	return answer + ": " + *reason
}

func listOrNone(items []string) string {
	if len(items) == 0 {
		return "none"
	}
	return strings.Join(items, ", ")
}

// leanProgress shows how far a check is: a bar on a terminal, now and then a line elsewhere.
type leanProgress struct {
	out      *os.File
	terminal bool
	quiet    bool
	size     int64
	read     atomic.Int64
	last     time.Time
	shown    bool
}

func newLeanProgress(out *os.File, quiet bool, size int64) *leanProgress {
	p := &leanProgress{out: out, quiet: quiet, size: size, last: time.Now()}
	if info, err := out.Stat(); err == nil {
		p.terminal = info.Mode()&os.ModeCharDevice != 0
	}
	return p
}

// reading counts the bytes read through it.
func (p *leanProgress) reading(r io.Reader) io.Reader { return &countingReader{r, p} }

type countingReader struct {
	io.Reader
	p *leanProgress
}

func (c *countingReader) Read(b []byte) (int, error) {
	n, err := c.Reader.Read(b)
	if done := c.p.read.Add(int64(n)); c.p.size > 0 {
		c.p.show("reading", done, c.p.size)
	}
	return n, err
}

func (p *leanProgress) checking(checked, total int) { p.show("checking", int64(checked), int64(total)) }

func (p *leanProgress) show(what string, done, total int64) {
	pause := 5 * time.Second
	if p.terminal {
		pause = 100 * time.Millisecond
	}
	if p.quiet || time.Since(p.last) < pause {
		return
	}
	p.last = time.Now()
	if !p.terminal {
		fmt.Fprintf(p.out, "%s %d of %d\n", what, done, total)
		return
	}
	const width = 40
	filled := int(done * width / max(total, 1))
	fmt.Fprintf(p.out, "\r%-8s [%s%s] %3d%%", what, strings.Repeat("=", filled), strings.Repeat(" ", width-filled), done*100/max(total, 1))
	p.shown = true
}

// clearBar wipes the bar.
func (p *leanProgress) clearBar() {
	if p.shown {
		fmt.Fprintf(p.out, "\r%s\r", strings.Repeat(" ", 60))
	}
}

type leanReferenceCmd struct {
	Build leanReferenceBuildCmd `cmd:"" help:"Print the table of an export's definitions."`
}

type leanReferenceBuildCmd struct {
	Exports []string `arg:"" name:"export" help:"Accepted exports. Several are merged for --basis and --pinned."`
	Basis   bool     `help:"Print the fingerprints of the logical constants only." xor:"table"`
	Pinned  bool     `help:"Print the fingerprints of the Nat operations the kernel computes with." xor:"table"`
}

// Run prints a table as JSON. Only exports the kernel accepts make tables.
func (c *leanReferenceBuildCmd) Run() error {
	basis, pinned := check.Basis{}, map[string][]string{}
	var reference check.Reference
	for _, name := range c.Exports {
		file, err := readAccepted(name)
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		reference = check.BuildReference(file)
		basis.Merge(check.BuildBasis(file))
		for operation, list := range kernel.Fingerprints(file.Store, file.Declarations, kernel.PinnedNames()) {
			pinned[operation] = append(pinned[operation], list...)
			slices.Sort(pinned[operation])
			pinned[operation] = slices.Compact(pinned[operation])
		}
	}
	out := json.NewEncoder(os.Stdout)
	out.SetIndent("", " ")
	switch {
	case c.Basis:
		return out.Encode(basis)
	case c.Pinned:
		return out.Encode(pinned)
	case len(c.Exports) > 1:
		return errors.New("the table of a version is built from one export")
	}
	return out.Encode(reference)
}

func readAccepted(name string) (*export.File, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }()
	file, err := export.Read(context.Background(), f, export.Limits{})
	if err != nil {
		return nil, err
	}
	if r := kernel.Check(context.Background(), file.Store, file.Declarations, kernel.Options{}); !r.Accepted() {
		return nil, errors.New("the kernel does not accept it")
	}
	return file, nil
}

// encodeLine writes v as one line of JSON, with < and > as they are.
func encodeLine(w io.Writer, v any) error {
	encoder := json.NewEncoder(w)
	encoder.SetEscapeHTML(false)
	return encoder.Encode(v)
}
