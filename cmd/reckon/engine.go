package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"slices"
	"strings"
	"time"

	"reckon/internal/config"
	"reckon/internal/private"
	"reckon/internal/progress"
	"reckon/runners/engine"
	"reckon/runners/portfolio"
)

// engineCmd looks after the private Python environments of the evaluation engines.
type engineCmd struct {
	Install engineInstallCmd `cmd:"" help:"Make the engines' private Python environments, unless they are there."`
	Status  engineStatusCmd  `cmd:"" help:"Show whether the environments are ready."`
	Test    engineTestCmd    `cmd:"" help:"Start the engines, evaluate in them and show the boundaries around their workers."`
}

// engineFolder is where an installation keeps the environment.
type engineFolder struct {
	Data   string `help:"Folder of the installation." default:"reckon-data" env:"RECKON_DATA" placeholder:"DIR"`
	Engine string `help:"Folder of the environment, which the processes of a machine may share; default: engine in the data folder. Those of other engines lie beside it." env:"RECKON_ENGINE" placeholder:"DIR"`

	Engines []string `help:"Engines beside the first, in the order in which they are asked: giac, fricas, mpmath; none for the first alone." default:"giac,mpmath" enum:"giac,fricas,mpmath,none" env:"RECKON_ENGINES"`
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
	if err := installEngine(ctx, engine.Core, c.path(), slog.Default()); err != nil {
		fmt.Fprintln(os.Stderr, "reckon engine install:", err)
		return exitStatus(2)
	}
	fmt.Println("ready", c.path())
	for _, second := range portfolio.Chosen(c.Engines) {
		folder := second.Folder(c.path())
		if err := installEngine(ctx, second.Packages, folder, slog.Default()); err != nil {
			fmt.Fprintln(os.Stderr, "reckon engine install:", err)
			return exitStatus(2)
		}
		fmt.Println("ready", folder)
	}
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
	status := enginesStatus{EnvironmentStatus: engine.Core.Status(c.path()), Others: map[string]engine.EnvironmentStatus{}}
	for _, second := range portfolio.Chosen(c.Engines) {
		status.Others[second.Name] = second.Packages.Status(second.Folder(c.path()))
	}
	if c.JSON {
		if err := printJSON(status); err != nil {
			return err
		}
	} else {
		printStatusOf("", status.EnvironmentStatus)
		for _, second := range portfolio.Chosen(c.Engines) {
			printStatusOf(second.Name+": ", status.Others[second.Name])
		}
	}
	if !status.Ready {
		return exitStatus(1)
	}
	return nil
}

// enginesStatus is what there is of the first engine's environment and of others'. Without others the first one works alone.
type enginesStatus struct {
	engine.EnvironmentStatus
	Others map[string]engine.EnvironmentStatus `json:"others"`
}

func printStatusOf(name string, status engine.EnvironmentStatus) {
	state := "not installed: run `reckon engine install`"
	if name != "" {
		state = "not installed, so that what the first engine cannot answer stays unanswered: run `reckon engine install`"
	}
	switch {
	case status.Ready:
		state = "ready"
	case status.Damage != "":
		state = "damaged (" + status.Damage + "): `reckon engine install` makes it anew"
	}
	fmt.Printf("%s%s\n  folder    %s\n  packages  %s\n", name, state, status.Folder, strings.Join(status.Packages, " "))
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
	Others     []engineReport    `json:"others,omitempty"` // the engines that are asked where it has no answer
	StartMS    int64             `json:"start_ms,omitempty"`
	Memory     int64             `json:"memory_bytes,omitempty"` // of its zygote
	Missing    string            `json:"missing,omitempty"`      // why it does not run
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
	if status := engine.Core.Status(c.path()); !status.Ready {
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
	if err == nil {
		report.Others, err = c.testOthers(ctx, options.Sandbox)
	}
	if err = errors.Join(err, e.Close(ctx)); err != nil {
		return err
	}
	if c.JSON {
		err = printJSON(report)
	} else {
		report.print()
	}
	if err == nil && (!report.OK || slices.ContainsFunc(report.Others, func(r engineReport) bool { return !r.OK && r.Missing == "" })) {
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

// testOthers starts each other engine and asks it what the first one cannot answer. One that is not installed is said to be missing.
func (c *engineTestCmd) testOthers(ctx context.Context, sandbox engine.Sandbox) (reports []engineReport, err error) {
	const budget = 10 * time.Second
	for _, second := range portfolio.Chosen(c.Engines) {
		report := engineReport{Engine: second.Name}
		folder := second.Folder(c.path())
		if !second.Packages.Status(folder).Ready {
			report.Missing = "not installed: what the first engine cannot answer stays unanswered; run `reckon engine install`"
			reports = append(reports, report)
			continue
		}
		begun := time.Now()
		started, err := second.Start(ctx, folder, sandbox)
		if err != nil {
			return nil, err
		}
		report.StartMS, report.Memory = time.Since(begun).Milliseconds(), started.MemoryBytes()
		report.Engine, report.Revision = started.Info()
		report.Boundaries = started.Boundaries()
		question, expected := started.Probe()
		asked := engineAnswer{Expression: question.Source(), Expected: expected}
		begun = time.Now()
		for answer, problem := range started.Answers(ctx, question, budget) {
			if err = problem; err == nil {
				asked.Result = answer.Source()
			}
			break
		}
		asked.MS = float64(time.Since(begun).Microseconds()) / 1000
		report.Answers, report.OK = []engineAnswer{asked}, asked.Result == asked.Expected
		reports = append(reports, report)
		if err = errors.Join(err, started.Close(ctx)); err != nil {
			return nil, err
		}
	}
	return reports, nil
}

func (r engineReport) print() {
	if r.Missing != "" {
		fmt.Printf("%s %s\n", r.Engine, r.Missing)
		return
	}
	fmt.Printf("%s %s\n", r.Engine, r.Revision)
	if r.Memory > 0 {
		fmt.Printf("  %-20s %d ms, %d MB at rest\n", "start", r.StartMS, r.Memory/1_000_000)
	}
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
	for _, other := range r.Others {
		other.print()
	}
}

func printJSON(value any) error {
	encoder := json.NewEncoder(os.Stdout)
	encoder.SetIndent("", "  ")
	encoder.SetEscapeHTML(false)
	return encoder.Encode(value)
}

// installEngine makes the environment of packages unless it is there, and shows how far that is.
func installEngine(ctx context.Context, packages engine.Packages, folder string, logger *slog.Logger) error {
	if err := checkEngine(folder); err != nil {
		return err
	}
	display := progress.New(os.Stderr, logger)
	defer display.Close()
	return packages.Install(ctx, folder, func(r engine.Report) {
		if r.Notice != "" {
			display.Close() // the line is not to stand below the bar
			logger.Info(r.Notice)
			return
		}
		display.Show(func() []progress.Task {
			return []progress.Task{{
				Name: packages.Name, Done: float64(r.Bytes) / float64(r.AllBytes), Left: -1,
				Extra: fmt.Sprintf("%d of %d MB, %.0f s: %s", r.Bytes/1_000_000, r.AllBytes/1_000_000, r.Elapsed.Seconds(), r.Doing),
			}}
		})
	})
}
