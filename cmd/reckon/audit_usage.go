package main

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"text/tabwriter"
	"time"

	"reckon/domain"
	"reckon/domain/audit"
	"reckon/eventstore"
	"reckon/projections/auditor"
)

type auditUsageCmd struct {
	auditSource
	Account string `help:"Id of the account; that of an address is in what reckon tail --once --type account.registered --account ADDRESS shows." required:"" placeholder:"ID"`
	From    string `help:"First UTC day." placeholder:"YYYY-MM-DD"`
	To      string `help:"UTC day before which it ends." placeholder:"YYYY-MM-DD"`
	CSV     bool   `help:"Print CSV (RFC 4180) with a header." name:"csv" xor:"form"`
	JSON    bool   `help:"Print JSON." name:"json" xor:"form"`
}

// Run prints a line for each day on which anything was used, and their sum.
func (c *auditUsageCmd) Run() error {
	for _, day := range []string{c.From, c.To} {
		if _, err := time.Parse(time.DateOnly, day); day != "" && err != nil {
			return fmt.Errorf("%q is no day: say YYYY-MM-DD", day)
		}
	}
	if c.From != "" && c.To != "" && c.From >= c.To {
		return fmt.Errorf("no day is from %s on and before %s", c.From, c.To)
	}
	ctx, stop := untilSignal()
	defer stop()
	source, closeSource, err := c.open(ctx, nil)
	if err != nil {
		return err
	}
	defer closeSource()
	usage := audit.NewUsage(c.Account, c.From, c.To)
	if err := auditor.ReadUsage(ctx, source, audit.Reader{Catalogue: domain.Catalogue(), Unmarshal: eventstore.Unmarshal}, usage); err != nil {
		return err
	}
	if !usage.Known() {
		return fmt.Errorf("the log has no account %q: give an account's id; that of an address is in what `reckon tail --once --type account.registered --account ADDRESS` shows of the installation", c.Account)
	}
	days, total := usage.Days(), usage.Total()
	switch {
	case c.JSON:
		return printJSON(struct {
			Account string           `json:"account"`
			Days    []audit.UsageDay `json:"days"`
			Total   audit.UsageDay   `json:"total"`
		}{c.Account, days, total})
	case c.CSV:
		return printUsageCSV(os.Stdout, days)
	}
	return printUsage(os.Stdout, append(days, total))
}

// usageColumns are the names of what is counted, as in JSON.
var usageColumns = []string{"day", "evaluations", "engine_ms", "checks", "check_ms", "slots", "refunds", "jobs", "uploads", "upload_bytes", "log_bytes", "blob_bytes"}

func usageFields(d audit.UsageDay) []string {
	fields := []string{d.Day}
	for _, n := range []int64{d.Evaluations, d.EngineMS, d.Checks, d.CheckMS, d.Slots, d.Refunds, d.Jobs, d.Uploads, d.UploadBytes, d.LogBytes, d.BlobBytes} {
		fields = append(fields, strconv.FormatInt(n, 10))
	}
	return fields
}

func printUsageCSV(out io.Writer, days []audit.UsageDay) error {
	w := csv.NewWriter(out)
	err := w.Write(usageColumns)
	for _, d := range days {
		err = errors.Join(err, w.Write(usageFields(d)))
	}
	w.Flush()
	return errors.Join(err, w.Error())
}

func printUsage(out io.Writer, days []audit.UsageDay) error {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', tabwriter.AlignRight)
	row := func(fields []string) {
		for _, f := range fields {
			_, _ = fmt.Fprint(w, f, "\t") // Flush tells
		}
		_, _ = fmt.Fprintln(w)
	}
	row(usageColumns)
	for _, d := range days {
		row(usageFields(d))
	}
	return w.Flush()
}
