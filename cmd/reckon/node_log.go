package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"

	"reckon/eventstore/node/eventlog"
)

// nodeCommands runs the event store, and works on the folder of its log.
type nodeCommands struct {
	Run     nodeCmd        `cmd:"" default:"withargs" help:"Run the event store alone; what reckon node does without another word."`
	Users   nodeUsersCmd   `cmd:"" help:"Manage the users who reach a node with --secure."`
	Verify  nodeVerifyCmd  `cmd:"" help:"Read every record of a log, beside a running node or of a copy, and name the first that is damaged."`
	Reindex nodeReindexCmd `cmd:"" help:"Build the index of a log again from its segments, and verify all of it; no node may have the log."`
	Backup  nodeBackupCmd  `cmd:"" help:"Copy a log, beside a running node or not, and verify the copy."`
	Restore nodeRestoreCmd `cmd:"" help:"Copy a backup to a folder that is empty or absent, and verify the copy."`
	Export  nodeExportCmd  `cmd:"" help:"Write the events of a log or a server as lines of JSON."`
	Import  nodeImportCmd  `cmd:"" help:"Make a log of an export, or append it to a server."`
	Stats   nodeStatsCmd   `cmd:"" help:"Count the events, streams and bytes of a log or a server."`

	Scavenge nodeScavengeCmd `cmd:"" help:"Take the payloads of truncated, expired and deleted events out of the files of a log, in its folder or by the node that runs on it. They are gone for good; positions, revisions and the hash chain stay."`
}

// nodeFolder is the flag of every command on a node or its log.
type nodeFolder struct {
	Data string `help:"Folder that holds the event log, and the socket of the node that runs on it." default:"reckon-data/eventstore" env:"RECKON_NODE_DATA" placeholder:"DIR"`
}

// log is the folder of a log that is there: the one that was named, or eventstore in a data folder that was named.
func (n nodeFolder) log() string { return logFolderIn(n.Data) }

// logFolderIn is the folder of the log in a data folder, or the folder itself.
func logFolderIn(data string) string {
	if inside := filepath.Join(data, "eventstore"); isFolder(inside) {
		return inside
	}
	return data
}

// nodeVerifyCmd verifies the files of a log.
type nodeVerifyCmd struct {
	nodeFolder
	Anchor string `help:"File with the output of an earlier verification: the log must have the same record at that position." type:"path" placeholder:"FILE"`
}

// Run prints the report as JSON; exit status 1 when something is wrong with the log.
func (c *nodeVerifyCmd) Run() error {
	anchor, err := readAnchor(c.Anchor)
	if err != nil {
		return err
	}
	ctx, stop := untilSignal()
	defer stop()
	report, err := eventlog.VerifyFolder(ctx, c.log(), anchor)
	reported := reportLog("verify", report, err)
	sayFurther(ctx, c.log(), err)
	return reported
}

// sayFurther names what is damaged behind the first place, when that is what a verification has failed over.
func sayFurther(ctx context.Context, dir string, err error) {
	var first *eventlog.CorruptError
	if !errors.As(err, &first) || first.Position == 0 {
		return
	}
	places, lost := 0, uint64(0)
	_, err = eventlog.SalvageFolder(ctx, dir, first.Position, func(eventlog.FolderStart) error { return nil }, func(*eventlog.Linked) error { return nil }, func(g eventlog.Gap) error {
		if g.First == 0 && g.File == first.File {
			return nil
		}
		places, lost = places+1, lost+g.Records()
		if places <= maxNamedGaps {
			fmt.Fprintln(os.Stderr, "reckon node verify: damaged or missing, too:", gapInWords(g))
		}
		return nil
	})
	switch {
	case err != nil:
		fmt.Fprintln(os.Stderr, "reckon node verify: what lies behind it was not read:", err)
	case places == 0:
		fmt.Fprintln(os.Stderr, "reckon node verify: no other record behind it is damaged")
	default:
		fmt.Fprintf(os.Stderr, "reckon node verify: behind it %d records in %d places are damaged or missing\n", lost, places)
	}
}

// readAnchor reads an anchor from a file; nil without one.
func readAnchor(path string) (*eventlog.Anchor, error) {
	const maxAnchorBytes = 64 << 10
	if path == "" {
		return nil, nil
	}
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if info.Size() > maxAnchorBytes {
		return nil, fmt.Errorf("%s is no anchor: it has %d bytes; give the output of `reckon node verify`", path, info.Size())
	}
	b, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	var anchor eventlog.Anchor
	if err := json.Unmarshal(b, &anchor); err != nil || anchor.Link == "" {
		return nil, errors.Join(fmt.Errorf("%s is no anchor: give the output of `reckon node verify`", path), err)
	}
	return &anchor, nil
}

// nodeReindexCmd builds the index again.
type nodeReindexCmd struct {
	nodeFolder
	AcceptEnd bool `help:"Take the end of the segments as the end of the log, and make the file HEAD anew: records that may be missing there are given up."`
}

// Run prints the report of the verification afterwards.
func (c *nodeReindexCmd) Run() error {
	ctx, stop := untilSignal()
	defer stop()
	report, err := eventlog.Reindex(ctx, eventlog.Options{Dir: c.log(), Logger: slog.Default()}, c.AcceptEnd)
	return reportLog("reindex", report, err)
}

// nodeBackupCmd copies a log.
type nodeBackupCmd struct {
	nodeFolder
	Target string `arg:"" help:"Folder of the copy, empty or absent." type:"path"`
}

// Run prints the report of the copy.
func (c *nodeBackupCmd) Run() error {
	ctx, stop := untilSignal()
	defer stop()
	report, err := eventlog.CopyFolder(ctx, c.log(), c.Target)
	return reportLog("backup", report, err)
}

// nodeRestoreCmd copies a backup to its place.
type nodeRestoreCmd struct {
	nodeFolder
	Source string `arg:"" help:"Folder of the backup." type:"path"`
}

// Run prints the report of the copy.
func (c *nodeRestoreCmd) Run() error {
	ctx, stop := untilSignal()
	defer stop()
	report, err := eventlog.CopyFolder(ctx, logFolderIn(c.Source), c.Data)
	return reportLog("restore", report, err)
}

// sayHowFar says up to which position a log is right by which a command has failed, when it failed over damage.
func sayHowFar(ctx context.Context, command, dir string, err error) {
	var damage *eventlog.CorruptError
	if !errors.As(err, &damage) {
		return
	}
	report, err := eventlog.VerifyFolder(ctx, dir, nil)
	if errors.As(err, &damage) { // else it was interrupted, or the disk gives the bytes again
		sayRight(command, report)
	}
}

func sayRight(command string, report eventlog.Report) {
	if report.Records == 0 {
		fmt.Fprintf(os.Stderr, "reckon node %s: no record before it could be verified\n", command)
	} else {
		fmt.Fprintf(os.Stderr, "reckon node %s: all up to position %d is right\n", command, report.Records)
	}
}

// reportLog prints what is right, which is an anchor too, or what is wrong.
func reportLog(command string, report eventlog.Report, err error) error {
	if err == nil {
		if report.Unfinished > 0 {
			fmt.Fprintf(os.Stderr, "reckon node %s: %d bytes lie behind the newest record: a write that was acknowledged to nobody, which the next start removes, or one that a running node is at\n", command, report.Unfinished)
		}
		return printJSON(report)
	}
	fmt.Fprintf(os.Stderr, "reckon node %s: %v\n", command, err)
	var damage *eventlog.CorruptError
	var index *eventlog.IndexError
	var other *eventlog.AnchorError
	switch {
	case errors.As(err, &damage), errors.As(err, &index):
		sayRight(command, report)
		return exitStatus(1)
	case errors.As(err, &other):
		return exitStatus(1)
	}
	return exitStatus(2)
}
