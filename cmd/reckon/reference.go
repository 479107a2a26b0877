package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"reckon/domain/reference"
	"reckon/internal/config"
	"reckon/internal/private"
	"reckon/internal/progress"
	"reckon/runners/engine"
	running "reckon/runners/reference"
)

// referenceCmd keeps the function reference true.
type referenceCmd struct {
	Build referenceBuildCmd `cmd:"" help:"Run every example on the engine, probe every name it lists, and write what follows: built.json."`
	Check referenceCheckCmd `cmd:"" help:"Run the examples of files of the reference on the engine and show what is not as they say."`

	Search referenceSearchCmd `cmd:"" help:"Search the reference as this binary has it."`
	Show   referenceShowCmd   `cmd:"" help:"Show an entry of the reference as this binary has it."`
}

// referenceBudget is what one example may take: more than the least plan gives, so that a busy machine makes nothing wrong.
const referenceBudget = 20 * time.Second

// referenceEngine is the engine that examples run on.
type referenceEngine struct {
	engineFolder
	Sandbox config.Sandbox `help:"How workers are walled in." enum:"required,off" default:"required" name:"engine-sandbox" env:"RECKON_ENGINE_SANDBOX"`
}

// with calls work with a bench that is started before and ended after it. The engine is installed where it is missing.
func (r referenceEngine) with(work func(ctx context.Context, bench *running.Bench) error) error {
	ctx, stop := untilSignal()
	defer stop()
	if err := private.MakeFolder(r.Data, slog.Default()); err != nil {
		return err
	}
	if err := installEngine(ctx, engine.Core, r.path(), slog.Default()); err != nil {
		return err
	}
	sandbox := engine.SandboxRequired
	if r.Sandbox == config.SandboxOff {
		sandbox = engine.SandboxOff
	}
	self, err := os.Executable()
	if err != nil {
		return err
	}
	bench, err := running.Start(ctx, r.path(), sandbox, referenceBudget, []string{self, "lean", "child"})
	if err != nil {
		return err
	}
	return errors.Join(work(ctx, bench), bench.Close(context.WithoutCancel(ctx)))
}

type referenceCheckCmd struct {
	referenceEngine
	Files []string `arg:"" help:"Files of the source, as in domain/reference/data." type:"existingfile"`
	All   bool     `help:"Show also the examples that are right."`
}

// Run exits 1 where an answer is not right, or a file has mistakes.
func (c *referenceCheckCmd) Run() error {
	about, err := reference.Current()
	if err != nil {
		return err
	}
	var entries []reference.Entry
	var wrong []error
	for _, file := range c.Files {
		text, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		read, errs := reference.Parse(filepath.Base(file), string(text))
		entries, wrong = append(entries, read...), append(wrong, errs...)
	}
	wrong = append(append(wrong, reference.LintNames(entries)...), reference.Lint(entries, about.Has)...)
	for _, err := range wrong {
		fmt.Println(err)
	}
	counts := map[reference.State]int{}
	trivial := 0
	err = c.with(func(ctx context.Context, bench *running.Bench) error {
		ran, err := runReference(ctx, bench, entries)
		if err != nil {
			return err
		}
		for i, e := range entries {
			for j, example := range e.Examples {
				judged := reference.Judge(example, ran[i][j])
				counts[judged.State]++
				if judged.Trivial {
					trivial++
				}
				if c.All || judged.State != reference.StateRight || judged.Trivial {
					printExample(e, example, ran[i][j], judged)
				}
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	fmt.Printf("%d entries: %d examples right (%d trivial), %d wrong, %d unproven, %d denied; %d mistakes in the files\n",
		len(entries), counts[reference.StateRight], trivial, counts[reference.StateWrong], counts[reference.StateUnproven], counts[reference.StateDenied], len(wrong))
	if len(wrong) > 0 || counts[reference.StateWrong]+counts[reference.StateUnproven]+trivial > 0 {
		return exitStatus(1)
	}
	return nil
}

func printExample(e reference.Entry, example reference.Example, ran reference.Ran, judged reference.Judgement) {
	fmt.Printf("%s: %s: %s\n  > %s\n", example.Place, e.Name, judged.State, example.Input)
	if judged.Trivial {
		fmt.Println("  the answer is the input, so that the example shows nothing")
	}
	fmt.Printf("  right   %s\n", example.Right.Text)
	if ran.Refused == "" {
		fmt.Printf("  answer  %s\n", reference.Shown(example, ran.Answer))
	}
	if judged.Difference != "" {
		fmt.Printf("  %s\n", judged.Difference)
	}
	for _, message := range ran.Answer.Messages {
		fmt.Printf("  %s\n", message)
	}
	if judged.Basis != "" {
		fmt.Printf("  by %s\n", judged.Basis)
	}
}

// runReference runs the examples of entries and shows how far that is.
func runReference(ctx context.Context, bench *running.Bench, entries []reference.Entry) ([][]reference.Ran, error) {
	all := 0
	for _, e := range entries {
		all += len(e.Examples)
	}
	display := progress.New(os.Stderr, slog.Default())
	defer display.Close()
	var done atomic.Int64
	return bench.RunAll(ctx, entries, func() {
		n := int(done.Add(1))
		display.Show(func() []progress.Task { return []progress.Task{countedTask("examples", n, all)} })
	})
}

func countedTask(name string, done, all int) progress.Task {
	return progress.Task{Name: name, Done: float64(done) / float64(max(1, all)), Left: -1, Extra: fmt.Sprintf("%d of %d", done, all)}
}

type referenceBuildCmd struct {
	referenceEngine
	Source string `help:"Folder of the source; built.json is written there." default:"domain/reference/data" type:"existingdir" placeholder:"DIR"`
}

// Run exits 1 where the source has mistakes: then nothing is written.
func (c *referenceBuildCmd) Run() error {
	entries, wrong := reference.LoadFrom(os.DirFS(c.Source), ".")
	wrong = append(wrong, reference.LintNames(entries)...)
	for _, err := range wrong {
		fmt.Println(filepath.Join(c.Source, err.Error()))
	}
	if len(wrong) > 0 {
		return exitStatus(1)
	}
	file := filepath.Join(c.Source, reference.BuiltFile)
	earlier, err := readBuilt(file)
	if err != nil {
		return err
	}
	var built reference.Built
	err = c.with(func(ctx context.Context, bench *running.Bench) (err error) {
		display := progress.New(os.Stderr, slog.Default())
		defer display.Close()
		names, err := bench.Names(ctx)
		if err != nil {
			return err
		}
		wrong = reference.Lint(entries, func(name string) bool { return slices.Contains(names, name) })
		if len(wrong) > 0 {
			return nil
		}
		built, err = bench.Build(ctx, entries, names, time.Now().UTC().Format(time.DateOnly), func(b running.Building) {
			display.Show(func() []progress.Task {
				return []progress.Task{countedTask("names", b.Names, b.AllNames), countedTask("examples", b.Examples, b.AllExamples)}
			})
		})
		return err
	})
	if err != nil {
		return err
	}
	for _, err := range wrong {
		fmt.Println(filepath.Join(c.Source, err.Error()))
	}
	if len(wrong) > 0 {
		return exitStatus(1)
	}
	built.Settle(earlier)
	text, err := built.Encode()
	if err != nil {
		return err
	}
	if err := os.WriteFile(file, text, 0o644); err != nil { //nolint:gosec // part of the source
		return err
	}
	for _, kind := range []reference.Kind{reference.Function, reference.Task} {
		counts := built.Count(kind)
		fmt.Printf("%-8s  %d supported, %d divergent, %d blocked, %d unsupported\n", kind,
			counts[reference.Supported], counts[reference.Divergent], counts[reference.Blocked], counts[reference.Unsupported])
	}
	fmt.Println("written:", file)
	return nil
}

// readBuilt reads an earlier build, if there is one.
func readBuilt(file string) (reference.Built, error) {
	text, err := os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		return reference.Built{}, nil
	}
	if err != nil {
		return reference.Built{}, err
	}
	return reference.Decode(text)
}

type referenceSearchCmd struct {
	Words  []string         `arg:"" help:"A name, the beginning of one, what another system calls it, or words."`
	Status reference.Status `help:"Only of this status." enum:",supported,divergent,blocked,unsupported" default:""`
	Limit  int              `help:"Most rows to show." default:"20"`
}

// Run exits 1 where nothing is found.
func (c *referenceSearchCmd) Run() error {
	about, err := reference.Current()
	if err != nil {
		return err
	}
	rows, total := about.Find(reference.Query{Text: strings.Join(c.Words, " "), Status: c.Status, Limit: c.Limit})
	for _, row := range rows {
		fmt.Printf("%-28s %-11s %s\n", row.Name, row.Status, about.Summary(row))
	}
	if total > len(rows) {
		fmt.Printf("%d more\n", total-len(rows))
	}
	if total == 0 {
		return exitStatus(1)
	}
	return nil
}

type referenceShowCmd struct {
	Name []string `arg:"" help:"Name of a symbol or a task."`
}

// Run exits 1 where there is no such entry.
func (c *referenceShowCmd) Run() error {
	about, err := reference.Current()
	if err != nil {
		return err
	}
	name := strings.Join(c.Name, " ")
	row, entry, ok := about.Lookup(name)
	if !ok {
		fmt.Fprintf(os.Stderr, "the reference has no %s; did you mean one of: %s\n", name, strings.Join(about.Suggest(name, 5), ", "))
		return exitStatus(1)
	}
	fmt.Printf("%s  %s\n%s\n", row.Name, row.Status, about.Summary(row))
	if why := row.Why(); why != "" {
		fmt.Println(why)
	}
	if entry == nil {
		return nil
	}
	for _, usage := range entry.Usage {
		fmt.Printf("  %-30s %s\n", usage.Form, usage.About)
	}
	for _, note := range entry.Notes {
		fmt.Println("  note:", note)
	}
	for i, ran := range row.Examples {
		fmt.Printf("> %s\n  %s\n", ran.Input, ran.Output)
		if ran.State == reference.StateRight {
			fmt.Printf("  right (%s): %s\n", entry.Examples[i].Right.Source, ran.Basis)
			continue
		}
		fmt.Printf("  %s. Right is %s (%s): %s\n", ran.State, entry.Examples[i].Right.Text, entry.Examples[i].Right.Source, ran.Difference)
	}
	return nil
}
