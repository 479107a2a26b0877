package main

import (
	"cmp"
	"context"
	"encoding/csv"
	"fmt"
	"io"
	"log/slog"
	"os"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"
	"unicode"
	"unicode/utf8"

	"reckon/commands"
	"reckon/domain/account"
	"reckon/domain/burst"
	"reckon/domain/event"
	"reckon/eventstore"
	"reckon/internal/identity"
	"reckon/internal/progress"
	"reckon/internal/view"
)

// burstsCmd derives an account's bursts from the log as it was at a position, for analysts.
type burstsCmd struct {
	installation
	Account string `help:"Address or id of the account." required:"" placeholder:"EMAIL"`
	At      *int64 `help:"Position in the log: what came later is left out. The end, unless it is given." placeholder:"POSITION"`
	JSON    bool   `help:"Print the bursts with their timelines as JSON." name:"json" xor:"form"`
	CSV     bool   `help:"Print the activities as CSV, each with its burst." name:"csv" xor:"form"`
	SVG     string `help:"Draw the bursts into a new file." name:"svg" placeholder:"FILE" xor:"form"`
}

// Run reads the log up to the position and derives the bursts from scratch.
func (c *burstsCmd) Run() error {
	return c.forAccount(c.Account, func(ctx context.Context, store *eventstore.Store, _ *identity.Store, _ account.Plans, in commands.Intent) error {
		at, err := c.position(ctx, store)
		if err != nil {
			return err
		}
		activities, err := replayActivities(ctx, store, in.Account, at)
		if err != nil {
			return err
		}
		bursts := burst.Derive(activities)
		switch {
		case c.JSON:
			return printJSON(newBurstReport(in.Account, at, bursts))
		case c.CSV:
			return writeActivities(os.Stdout, bursts)
		case c.SVG != "":
			return c.draw(at, bursts)
		}
		if len(bursts) == 0 {
			fmt.Fprintf(os.Stderr, "no activity of %s up to position %d of the log\n", c.Account, at)
		}
		return printBursts(bursts)
	})
}

// position is where to stop: as given, or the end of the log.
func (c *burstsCmd) position(ctx context.Context, store *eventstore.Store) (int64, error) {
	head, err := store.Head(ctx)
	if err != nil {
		return 0, err
	}
	end := int64(head.Commit)
	switch {
	case c.At == nil:
		return end, nil
	case *c.At < 0 || *c.At > end:
		return 0, fmt.Errorf("--at %d: the log has the positions 0 to %d", *c.At, end)
	}
	return *c.At, nil
}

// replayActivities are an account's activities in the log up to a position.
func replayActivities(ctx context.Context, store *eventstore.Store, accountID string, at int64) ([]burst.Activity, error) {
	display := progress.New(os.Stderr, slog.Default())
	defer display.Close()
	begun, events, reader := time.Now(), 0, burst.NewReader(accountID)
	for r, err := range store.ReadAll(ctx, event.Position{}, burst.EventNames()...) {
		switch {
		case err != nil:
			return nil, err
		case int64(r.Position.Commit) > at:
			return reader.Activities(), nil
		case r.Event != nil:
			reader.Add(r)
		}
		if events++; events%256 != 0 {
			continue
		}
		display.Show(func() []progress.Task {
			passed, done := time.Since(begun), min(1, float64(r.Position.Commit)/float64(max(1, at)))
			task := progress.Task{Name: "reading the log", Done: done, Rate: float64(events) / passed.Seconds(), Unit: "events", Left: -1}
			if done > 0 {
				task.Left = time.Duration(float64(passed) * (1/done - 1))
			}
			return []progress.Task{task}
		})
	}
	return reader.Activities(), ctx.Err()
}

// burstReport is what --json prints.
type burstReport struct {
	Account    string        `json:"account"`
	At         int64         `json:"at"` // position of the log
	GapSeconds int           `json:"gap_seconds"`
	Bursts     []burstOfFile `json:"bursts"` // by their first activity
}

// burstOfFile is a burst as GET /api/bursts/{id} shows it, and of which agent it is.
type burstOfFile struct {
	AgentID string `json:"agent_id"` // of the account, credential, source and client name
	view.BurstSummary
	Events []activityOfFile `json:"events"`
}

// activityOfFile is an activity as the timeline shows it, and what an analyst checks it by.
type activityOfFile struct {
	Event    string `json:"event"` // stream and revision
	Position int64  `json:"position"`
	view.BurstEvent
	Failed bool `json:"failed"`
}

func newBurstReport(accountID string, at int64, bursts []burst.Timeline) burstReport {
	report := burstReport{Account: accountID, At: at, GapSeconds: burst.GapMS / 1000, Bursts: make([]burstOfFile, len(bursts))}
	for i, b := range bursts {
		report.Bursts[i] = burstOfFile{AgentID: b.AgentID, BurstSummary: view.BurstSummaryOf(b.Burst), Events: activitiesOfFile(b)}
	}
	return report
}

func activitiesOfFile(b burst.Timeline) []activityOfFile {
	rows, previous := make([]activityOfFile, len(b.Activities)), b.First.AtMS
	for i, a := range b.Activities {
		rows[i] = activityOfFile{Event: a.Key, Position: a.Position, BurstEvent: view.BurstEventOf(a, b.First.AtMS, previous), Failed: a.Failed}
		previous = a.AtMS
	}
	return rows
}

func timestamp(ms int64) string { return event.Timestamp(time.UnixMilli(ms)) }

// writeActivities writes a line for each activity: bursts in order, and their activities in order.
func writeActivities(to io.Writer, bursts []burst.Timeline) error {
	out := csv.NewWriter(to)
	header := []string{"burst_id", "agent_id", "agent", "source", "event", "position", "at", "type", "run_id", "job_id", "certificate_id", "label", "status", "duration_ms", "verdict", "failed"}
	if err := out.Write(header); err != nil {
		return err
	}
	for _, b := range bursts {
		id := b.ID()
		for _, a := range b.Activities {
			runID, duration := "", ""
			if a.RunID != 0 {
				runID = strconv.FormatInt(a.RunID, 10)
			}
			if a.HasDuration() {
				duration = strconv.FormatInt(a.DurationMS, 10)
			}
			err := out.Write([]string{id, b.AgentID, b.Client, string(b.Source), a.Key, strconv.FormatInt(a.Position, 10), timestamp(a.AtMS), string(a.Type), runID, a.JobID, a.CertificateID,
				a.Label, string(a.Status), duration, string(a.Verdict), strconv.FormatBool(a.Failed)})
			if err != nil {
				return err
			}
		}
	}
	out.Flush()
	return out.Error()
}

// draw writes the drawing into a file that does not exist yet.
func (c *burstsCmd) draw(at int64, bursts []burst.Timeline) error {
	file, err := os.OpenFile(c.SVG, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = io.WriteString(file, burst.DrawSVG(fmt.Sprintf("Bursts of %s at position %d of the log", c.Account, at), bursts))
	return cmp.Or(err, file.Close())
}

func printBursts(bursts []burst.Timeline) error {
	table := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "BURST\tAGENT\tSOURCE\tSTARTED\tDURATION\tEVALUATIONS\tJOBS\tCHECKS\tFAILURES\tVERIFIED\tREFUTED")
	for _, b := range bursts {
		fmt.Fprintf(table, "%s\t%s\t%s\t%s\t%v\t%d\t%d\t%d\t%d\t%d\t%d\n", b.ID(), cmp.Or(shownClient(b.Client), "-"), b.Source, timestamp(b.First.AtMS), time.Duration(b.DurationMS())*time.Millisecond,
			b.Evaluations, b.Jobs, b.Checks, b.Failures, b.Verified, b.Refuted)
	}
	return table.Flush()
}

// mostShown is how many characters of a client's name the table shows.
const mostShown = 40

// shownClient is what the table shows of a name, which a client gives itself: not more than fits, and nothing that a terminal would obey.
func shownClient(name string) string {
	shown := []rune(strings.Map(func(r rune) rune {
		if unicode.IsPrint(r) {
			return r
		}
		return utf8.RuneError
	}, name))
	if len(shown) > mostShown {
		return string(shown[:mostShown-1]) + "…"
	}
	return string(shown)
}
