// Command reckon is the whole service in one binary: the server, the event store
// it embeds, and the tools of those who operate or audit it.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"runtime/debug"
	"slices"
	"strings"
	"syscall"

	"github.com/alecthomas/kong"

	"reckon/internal/config"
	"reckon/internal/private"
)

type commandLine struct {
	Serve       serveCmd       `cmd:"" help:"Run the service with everything embedded."`
	Try         tryCmd         `cmd:"" help:"Evaluate one expression: show the answer, its check, and verify its receipt."`
	Verify      verifyCmd      `cmd:"" help:"Verify a receipt, a certificate or a checkpoint offline, by keys that you hold."`
	Node        nodeCommands   `cmd:"" help:"Run the event store alone, for processes of the same user and for users with passwords; verify, copy and restore a log."`
	Migrate     migrateCmd     `cmd:"" help:"Copy a log to another server, compare both, and hand the installation over to it."`
	Account     accountCmd     `cmd:"" help:"Create accounts and tokens; change plans."`
	Keys        keysCmd        `cmd:"" help:"List and rotate the keys that seal receipts."`
	Projections projectionsCmd `cmd:"" help:"Show and steer the read models."`
	Parked      parkedCmd      `cmd:"" help:"Show and retry events that were set aside."`
	Tail        tailCmd        `cmd:"" help:"Print events as they are appended."`
	Show        showCmd        `cmd:"" help:"Print a stream's events, and the state that commands decide on."`
	Trace       traceCmd       `cmd:"" help:"Print what one request led to, as a tree of causes."`
	Operate     operateCmd     `cmd:"" help:"Serve pages on this machine to look at the log, the read models and parked events."`
	Bursts      burstsCmd      `cmd:"" help:"Derive an account's bursts of activity from the log, as it was at any position."`
	Audit       auditCommands  `cmd:"" help:"Derive again from the log what an installation must say, and report what differs."`
	Witness     witnessCmd     `cmd:"" help:"Cosign the checkpoints of transparency logs that others run."`
	Blobs       blobsCmd       `cmd:"" help:"Remove large bytes that no event names."`
	Engine      engineCmd      `cmd:"" help:"Install and test the evaluation engine."`
	Reference   referenceCmd   `cmd:"" help:"Check and build the function reference."`
	Qsim        qsimCmd        `cmd:"" help:"Simulate a quantum circuit."`
	QsimChild   qsimChildCmd   `cmd:"" hidden:"" help:"Simulate a circuit of a server on standard input."`
	Lean        leanCmd        `cmd:"" help:"Check Lean 4 proof exports."`
	Licences    licencesCmd    `cmd:"" help:"Print the notices and licences of all that this binary contains."`
	Version     versionCmd     `cmd:"" help:"Print the revision of this binary."`

	PrintVersion kong.VersionFlag `name:"version" help:"Print the revision of this binary."`
}

func main() {
	os.Exit(run(os.Args[1:]))
}

// run returns the exit status: 0 fine, 1 found something wrong, 2 could not run.
func run(args []string) int {
	private.RestrictUmask()
	if status, ran := runAtOnce(args); ran {
		return status
	}
	var line commandLine
	options := append(config.Options(os.Getenv),
		kong.Name("reckon"),
		kong.Vars{"version": buildRevision()},
		kong.Description("A computation service whose answers can be checked."),
		kong.UsageOnError(),
		kong.Help(printHelp),
		kong.Exit(func(status int) { os.Exit(status) }),
	)
	parser, err := kong.New(&line, options...)
	if err != nil {
		fmt.Fprintln(os.Stderr, "reckon:", err)
		return 2
	}
	command, err := parser.Parse(args)
	if err != nil {
		fmt.Fprintf(os.Stderr, "reckon: %v\n", err)
		if len(args) > 0 && args[0] == "try" && strings.Contains(err.Error(), "unknown flag") {
			fmt.Fprintln(os.Stderr, "An expression that begins with - comes after --: reckon try -- '-x^2'.")
		}
		if meant := otherWords[slices.Concat(args, []string{""})[0]]; meant != "" {
			fmt.Fprintf(os.Stderr, "Did you mean `reckon %s`?\n", meant)
		}
		fmt.Fprintf(os.Stderr, "Try `%s --help`.\n", commandOf(err, args))
		return 2
	}
	return statusOf(command.Run())
}

// statusOf prints why a command failed and gives its exit status.
func statusOf(err error) int {
	var status exitStatus
	switch {
	case err == nil:
		return 0
	case errors.As(err, &status):
		return int(status)
	case errors.Is(err, context.Canceled): // by untilSignal alone: no part is away
		err = errors.New("interrupted")
	}
	fmt.Fprintln(os.Stderr, "reckon:", err)
	return 2
}

// runAtOnce runs what starts often and takes no flag, without the model of all commands, which takes longer than the rest of a start.
func runAtOnce(args []string) (status int, ran bool) {
	if len(args) != 1 {
		return 0, false
	}
	switch args[0] {
	case "--version", "version":
		return statusOf(versionCmd{}.Run()), true
	case "qsim-child":
		return statusOf(qsimChildCmd{}.Run()), true
	}
	return 0, false
}

// otherWords are what other programs call our commands.
var otherWords = map[string]string{
	"eval": "try", "evaluate": "try", "calc": "try", "calculate": "try", "compute": "try", "run": "serve", "server": "serve", "start": "serve", "check": "verify",
	"backup": "node backup", "restore": "node restore", "help": "--help",
}

// commandOf is the command, as it was typed, that a usage error is of.
func commandOf(err error, args []string) string {
	if usage, ok := errors.AsType[*kong.ParseError](err); ok && usage.Context != nil {
		if selected := usage.Context.Selected(); selected != nil {
			if parent := selected.Parent; parent != nil && parent.DefaultCmd == selected && !slices.Contains(args, selected.Name) {
				return parent.FullPath()
			}
			return selected.FullPath()
		}
	}
	return "reckon"
}

// printHelp prints the help of a command. Of one that stands for another when no word follows it, these are the words that may follow, and the help
// of the other.
func printHelp(options kong.HelpOptions, ctx *kong.Context) error {
	selected := ctx.Selected()
	if selected == nil || selected.DefaultCmd == nil {
		return kong.DefaultHelpPrinter(options, ctx)
	}
	said := fmt.Sprintf("`%s` without a further word is `%s`, below. Others:\n", selected.FullPath(), selected.DefaultCmd.FullPath())
	for _, child := range selected.Children {
		if child != selected.DefaultCmd && !child.Hidden {
			said += fmt.Sprintf("  %s  %s\n", child.FullPath(), child.Help)
		}
	}
	if _, err := fmt.Fprintln(ctx.Stdout, said); err != nil {
		return err
	}
	ctx.Path = append(ctx.Path, &kong.Path{Parent: selected, Command: selected.DefaultCmd})
	return kong.DefaultHelpPrinter(options, ctx)
}

type versionCmd struct{}

// Run prints the revision.
func (versionCmd) Run() error {
	fmt.Println(buildRevision())
	return nil
}

// revision is the revision that a build states: -ldflags "-X main.revision=…", as make build and the image do.
var revision string

// unstamped is the revision of a binary whose build stated none and had no repository to ask, as with go run.
const unstamped = "dev"

// buildRevision is the revision this binary was built from, as events, certificates and /healthz give it.
func buildRevision() string {
	if revision != "" {
		return revision
	}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return unstamped
	}
	revision, modified := "", ""
	for _, s := range info.Settings {
		switch {
		case s.Key == "vcs.revision":
			revision = s.Value
		case s.Key == "vcs.modified" && s.Value == "true":
			modified = "+changes"
		}
	}
	if revision == "" {
		return unstamped
	}
	return revision[:min(12, len(revision))] + modified
}

// untilSignal returns a context that SIGINT and SIGTERM end. After the returned function a
// signal ends the process at once.
func untilSignal() (context.Context, context.CancelFunc) {
	return signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
}
