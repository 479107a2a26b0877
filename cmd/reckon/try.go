package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/alecthomas/kong"

	"reckon/eventstore/node/eventlog"
	"reckon/internal/config"
	"reckon/internal/private"
	"reckon/internal/telemetry"
	"reckon/runners/engine"
)

// tryCmd evaluates one expression over the API of the server that runs on the data folder, or of one that it starts for that.
type tryCmd struct {
	installation
	newFlag
	Expression string `arg:"" help:"What to evaluate, as one argument: quote it. - reads standard input; one that begins with - comes after --, as in reckon try -- -x."`
	Session    string `help:"Session of a running server to evaluate in: its variables stay." placeholder:"NAME" env:"-"`
	Plot       string `help:"File that a graphic (SVG) is written to." placeholder:"FILE" env:"-"`
	JSON       bool   `help:"Print what the service answered, and the receipt, as JSON." name:"json"`

	told map[string]bool // what was said on standard error, once
}

// maxTryBytes is the most that is read of standard input. The service refuses less than that.
const maxTryBytes = 4 << 20

// Run exits with 0 for an answer that nothing contradicts and whose receipt is right; with 1 where there is no answer, or it is
// refuted, or its receipt is wrong; with 2 where nothing could be evaluated.
func (c *tryCmd) Run() error {
	expression, err := c.readExpression(os.Stdin)
	if err != nil {
		return err
	}
	ctx, stop := untilSignal()
	defer stop()
	shown, good := false, false
	err = c.withService(ctx, stop, func(ctx context.Context, service *apiClient) error {
		tried, err := service.try(ctx, expression, c.Session)
		if err != nil {
			return err
		}
		shown, good = true, tried.good()
		return c.show(ctx, service, tried)
	})
	switch {
	case errors.Is(err, context.Canceled), err == nil && !shown:
		fmt.Fprintln(os.Stderr, "reckon try: given up")
		return exitStatus(2)
	case err != nil:
		return err
	case !good:
		return exitStatus(1)
	}
	return nil
}

// readExpression is the argument, or standard input where that is -.
func (c *tryCmd) readExpression(stdin io.Reader) (string, error) {
	if c.Expression != "-" {
		return c.Expression, nil
	}
	text, err := io.ReadAll(io.LimitReader(stdin, maxTryBytes))
	return strings.TrimRight(string(text), "\r\n"), err
}

// show prints what was tried, and writes the graphic where one was asked for.
func (c *tryCmd) show(ctx context.Context, service *apiClient, t *tried) error {
	if t.evaluation != nil && t.evaluation.PlotURL != nil && c.Plot != "" {
		plot, err := service.get(ctx, *t.evaluation.PlotURL)
		if err != nil {
			return err
		}
		if err := os.WriteFile(c.Plot, plot, 0o600); err != nil {
			return err
		}
	}
	if c.JSON {
		return printJSON(t.report())
	}
	return t.print(os.Stdout, c.Plot)
}

// How often it is looked whether a server that is starting or ending is there, and for how long.
const (
	serverLook = 100 * time.Millisecond
	serverWait = 2 * time.Minute
)

// withService calls ask with a client of the server that runs on the data folder, or of one that is started for it. Where a server is
// just starting or ending, it waits for that.
func (c *tryCmd) withService(ctx context.Context, stopSignals func(), ask func(context.Context, *apiClient) error) error {
	for deadline := time.Now().Add(serverWait); ; {
		err := c.withServiceNow(ctx, stopSignals, ask)
		if err == nil || ctx.Err() != nil || !comesOrGoes(err) || time.Now().After(deadline) {
			return err
		}
		c.tell("waiting for another process that has " + c.Data)
		select {
		case <-time.After(serverLook):
		case <-ctx.Done():
		}
	}
}

// comesOrGoes reports whether an error says that a server was starting or ending.
func comesOrGoes(err error) bool {
	if _, inUse := errors.AsType[*eventlog.FolderInUseError](err); inUse {
		return true
	}
	for _, lost := range []error{errServerEnds, syscall.ECONNREFUSED, syscall.ECONNRESET, syscall.EPIPE, io.EOF, io.ErrUnexpectedEOF} {
		if errors.Is(err, lost) {
			return true
		}
	}
	return false
}

func (c *tryCmd) withServiceNow(ctx context.Context, stopSignals func(), ask func(context.Context, *apiClient) error) error {
	found, err := c.settings(ctx)
	if err != nil {
		return err
	}
	service, err := signInLocally(ctx, found.Data)
	switch {
	case err != nil:
		return err
	case service != nil:
		defer service.close()
		return ask(ctx, service)
	case c.Session != "":
		return fmt.Errorf("--session %s: no server runs on %s, and a session's variables end with the server; run `reckon serve` first", c.Session, found.Data)
	case found.Eventstore != config.EmbeddedLog:
		return fmt.Errorf("no server runs on %s, and its log is elsewhere; run `reckon serve` as the other servers of the installation are run, then try again", found.Data)
	}
	if err := c.allowServer(found.Installation); err != nil {
		return err
	}
	c.tell(fmt.Sprintf("no server runs on %s: starting one for this (`reckon serve` starts one that stays)", found.Data))
	return serveFor(ctx, stopSignals, found.Installation, func(ctx context.Context) error {
		service, err := signInLocally(ctx, found.Data)
		if err != nil {
			return err
		}
		defer service.close()
		return ask(ctx, service)
	})
}

// tell says something on standard error, unless it was said.
func (c *tryCmd) tell(what string) {
	if c.told == nil {
		c.told = map[string]bool{}
	}
	if !c.told[what] {
		fmt.Fprintln(os.Stderr, what)
	}
	c.told[what] = true
}

// serveFor runs a server on the folder until work has returned, and every other command that uses it has ended. It takes no jobs and
// answers on a free loopback port.
func serveFor(ctx context.Context, stopSignals func(), i config.Installation, work func(context.Context) error) error {
	c, err := serveSettings(i)
	if err != nil {
		return err
	}
	if err := private.MakeFolder(i.Data, slog.Default()); err != nil {
		return err
	}
	if err := installEngine(ctx, engine.Core, c.EngineFolder(), slog.Default()); err != nil {
		return err
	}
	logger, err := telemetry.NewLogger(os.Stderr, string(c.Log.Level), telemetry.Format(c.Log.Format))
	if err != nil {
		return err
	}
	s, err := assemble(ctx, c, logger)
	if err != nil {
		return err
	}
	return s.runParts(ctx, stopSignals, func(ctx context.Context) error {
		defer s.local.closeAndWait(ctx)
		return work(ctx)
	})
}

// serveSettings are the settings of `reckon serve` on an installation, from the same variables and file, but for where it listens and what it logs.
func serveSettings(i config.Installation) (config.Serve, error) {
	var line struct {
		Serve config.Serve `cmd:""`
	}
	parser, err := kong.New(&line, append(config.Options(os.Getenv), kong.Name("reckon"))...)
	if err != nil {
		return line.Serve, err
	}
	arguments := []string{"serve"}
	if i.Config != "" {
		arguments = append(arguments, "--config", string(i.Config))
	}
	if _, err := parser.Parse(arguments); err != nil {
		return line.Serve, err
	}
	s := line.Serve
	s.Installation = i
	s.Listen, s.PeerListen, s.PeerAddress, s.AdminListen = "127.0.0.1:0", "127.0.0.1:0", "", ""
	s.Roles = []config.Role{config.RoleAPI, config.RoleProject, config.RoleReact}
	if s.Log.Level == "info" {
		s.Log.Level = "warn"
	}
	return s, nil
}

// tryHint is a command that can be pasted in another terminal, in the working folder of this one.
func tryHint(data string) string {
	hint := commandName() + " try 'Integrate[x^2 Sin[x], x]'"
	if usual, err := filepath.Abs(usualData); err != nil || data != usual {
		hint += " --data " + shellQuoted(data)
	}
	return hint
}

// commandName is what a shell runs this program by.
func commandName() string {
	self, err := os.Executable()
	if err != nil {
		return "reckon"
	}
	if found, err := exec.LookPath("reckon"); err == nil {
		one, err1 := os.Stat(found)
		other, err2 := os.Stat(self)
		if err1 == nil && err2 == nil && os.SameFile(one, other) {
			return "reckon"
		}
	}
	if _, err := os.Stat("cmd/reckon/main.go"); err == nil && strings.Contains(self, "go-build") { // where `go run` puts it
		return "go run ./cmd/reckon"
	}
	return shellQuoted(self)
}

// shellQuoted is a word as a POSIX shell reads it whole.
func shellQuoted(word string) string {
	if strings.Trim(word, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789/._-+:@") == "" {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}
