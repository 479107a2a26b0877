package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/signal"
	"path/filepath"
	"sync/atomic"
	"syscall"
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
	Check referenceCheckCmd `cmd:"" help:"Run the examples of files of the reference on the engine and show what is not as they say."`
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
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	if err := private.MakeFolder(r.Data, slog.Default()); err != nil {
		return err
	}
	if err := installEngine(ctx, r.path(), slog.Default()); err != nil {
		return err
	}
	sandbox := engine.SandboxRequired
	if r.Sandbox == config.SandboxOff {
		sandbox = engine.SandboxOff
	}
	bench, err := running.Start(ctx, r.path(), sandbox, referenceBudget)
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
	wrong = append(wrong, reference.Lint(entries, reference.InEngine)...)
	for _, err := range wrong {
		fmt.Println(err)
	}
	counts := map[reference.State]int{}
	trivial := 0
	err := c.with(func(ctx context.Context, bench *running.Bench) error {
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
		fmt.Printf("  answer  %s\n", ran.Answer.InputForm)
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
		n := done.Add(1)
		display.Show(func() []progress.Task {
			return []progress.Task{{Name: "examples", Done: float64(n) / float64(all), Left: -1, Extra: fmt.Sprintf("%d of %d", n, all)}}
		})
	})
}
