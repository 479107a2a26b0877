package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"strings"
	"time"

	"reckon/internal/config"
	"reckon/internal/private"
	"reckon/internal/progress"
	"reckon/runners/engine"
)

// engineCmd looks after the evaluation engine's private Python environment.
type engineCmd struct {
	Install engineInstallCmd `cmd:"" help:"Make the engine's private Python environment, unless it is there."`
	Status  engineStatusCmd  `cmd:"" help:"Show whether the environment is ready."`
	Test    engineTestCmd    `cmd:"" help:"Start the engine, evaluate in it and show the boundaries around its workers."`
}

// engineFolder is where an installation keeps the environment.
type engineFolder struct {
	Data   string `help:"Folder of the installation." default:"reckon-data" env:"RECKON_DATA" placeholder:"DIR"`
	Engine string `help:"Folder of the environment, which the processes of a machine may share; default: engine in the data folder." env:"RECKON_ENGINE" placeholder:"DIR"`
}

func (f engineFolder) path() string { return config.EngineFolder(f.Engine, f.Data) }

// check refuses a data folder or an environment that another user could change.
func (f engineFolder) check() error {
	if f.Engine == "" {
		if err := checkData(f.Data); err != nil {
			return err
		}
	}
	return checkEngine(f.path())
}

// checkEngine refuses an environment that another user could change: its programs run as this one. A missing one is no error.
func checkEngine(folder string) error {
	if err := private.CheckPrograms(folder); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

type engineInstallCmd struct{ engineFolder }

// Run installs, showing how far that is on standard error.
func (c *engineInstallCmd) Run() error {
	ctx, stop := untilSignal()
	defer stop()
	if c.Engine == "" {
		if err := private.MakeFolder(c.Data, slog.Default()); err != nil {
			return err
		}
	}
	if err := installEngine(ctx, c.path(), slog.Default()); err != nil {
		fmt.Fprintln(os.Stderr, "reckon engine install:", err)
		return exitStatus(2)
	}
	fmt.Println("ready", c.path())
	return nil
}

type engineStatusCmd struct {
	engineFolder
	JSON bool `help:"Print JSON." name:"json"`
}

// Run exits 1 where the environment is not ready.
func (c *engineStatusCmd) Run() error {
	if err := c.check(); err != nil {
		return err
	}
	status := engine.Status(c.path())
	if c.JSON {
		if err := printJSON(status); err != nil {
			return err
		}
	} else {
		state := "not installed: run `reckon engine install`"
		switch {
		case status.Ready:
			state = "ready"
		case status.Damage != "":
			state = "damaged (" + status.Damage + "): `reckon engine install` makes it anew"
		}
		fmt.Printf("%s\n  folder    %s\n  packages  %s\n", state, status.Folder, strings.Join(status.Packages, " "))
	}
	if !status.Ready {
		return exitStatus(1)
	}
	return nil
}

type engineTestCmd struct {
	engineFolder
	Sandbox config.Sandbox `help:"How workers are walled in." enum:"required,off" default:"required" name:"engine-sandbox" env:"RECKON_ENGINE_SANDBOX"`
	JSON    bool           `help:"Print JSON." name:"json"`
}

// engineReport is what `reckon engine test` found.
type engineReport struct {
	Engine     string            `json:"engine"`
	Revision   string            `json:"revision"`
	Boundaries []engine.Boundary `json:"boundaries"`
	Answers    []engineAnswer    `json:"answers"`
	OK         bool              `json:"ok"`
}

type engineAnswer struct {
	Expression string  `json:"expression"`
	Expected   string  `json:"expected"`
	Result     string  `json:"result"`
	MS         float64 `json:"ms"`
}

// Run exits 1 where an answer is wrong and 2 where the engine does not start.
func (c *engineTestCmd) Run() error {
	ctx, stop := untilSignal()
	defer stop()
	if err := c.check(); err != nil {
		return err
	}
	if status := engine.Status(c.path()); !status.Ready {
		return (&engineStatusCmd{engineFolder: c.engineFolder, JSON: c.JSON}).Run()
	}
	options := engine.Options{Environment: c.path()}
	if c.Sandbox == config.SandboxOff {
		options.Sandbox = engine.SandboxOff
	}
	e, err := engine.Start(ctx, options)
	if err != nil {
		fmt.Fprintln(os.Stderr, "reckon engine test:", err)
		return exitStatus(2)
	}
	report, err := testEngine(ctx, e)
	if err = errors.Join(err, e.Close(ctx)); err != nil {
		return err
	}
	if c.JSON {
		err = printJSON(report)
	} else {
		report.print()
	}
	if err == nil && !report.OK {
		return exitStatus(1)
	}
	return err
}

func testEngine(ctx context.Context, e *engine.Engine) (engineReport, error) {
	const budget = 10 * time.Second
	report := engineReport{Boundaries: e.Boundaries(), OK: true}
	report.Engine, report.Revision = e.Info()
	for _, probe := range [][2]string{{"1+1", "2"}, {"Integrate[2 x, x]", "x^2"}, {"Solve[x^2 == 4, x]", "{{x -> -2}, {x -> 2}}"}} {
		outcome, err := e.Evaluate(ctx, engine.Request{Code: probe[0], Budget: budget, QueueWait: budget})
		if err != nil {
			return report, fmt.Errorf("evaluate %s: %w", probe[0], err)
		}
		report.Answers = append(report.Answers, engineAnswer{
			Expression: probe[0], Expected: probe[1], Result: outcome.Result, MS: float64(outcome.Elapsed.Microseconds()) / 1000,
		})
		report.OK = report.OK && outcome.Result == probe[1]
	}
	return report, nil
}

func (r engineReport) print() {
	fmt.Printf("%s %s\n", r.Engine, r.Revision)
	for _, answer := range r.Answers {
		fmt.Printf("  %-20s %s  (%.1f ms)\n", answer.Expression, answer.Result, answer.MS)
		if answer.Result != answer.Expected {
			fmt.Printf("  %-20s expected %s\n", "", answer.Expected)
		}
	}
	for _, boundary := range r.Boundaries {
		state := "NOT IN FORCE"
		if boundary.InForce {
			state = "by " + strings.Join(boundary.By, ", ")
		}
		fmt.Printf("  %-20s %s\n", boundary.Name, state)
	}
}

func printJSON(value any) error {
	encoder := json.NewEncoder(os.Stdout)
	encoder.SetIndent("", "  ")
	encoder.SetEscapeHTML(false)
	return encoder.Encode(value)
}

// installEngine makes the engine's environment unless it is there, and shows how far that is.
func installEngine(ctx context.Context, folder string, logger *slog.Logger) error {
	if err := checkEngine(folder); err != nil {
		return err
	}
	display := progress.New(os.Stderr, logger)
	defer display.Close()
	return engine.Install(ctx, folder, func(r engine.Report) {
		if r.Notice != "" {
			display.Close() // the line is not to stand below the bar
			logger.Info(r.Notice)
			return
		}
		display.Show(func() []progress.Task {
			return []progress.Task{{
				Name: "engine", Done: float64(r.Bytes) / float64(r.AllBytes), Left: -1,
				Extra: fmt.Sprintf("%d of %d MB, %.0f s: %s", r.Bytes/1_000_000, r.AllBytes/1_000_000, r.Elapsed.Seconds(), r.Doing),
			}}
		})
	})
}
