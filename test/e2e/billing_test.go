package e2e

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"reckon/test/binary"
	"reckon/test/wait"
)

// billingReport is what `reckon account billing --json` prints, and the commands that change it.
type billingReport struct {
	Subscription *struct {
		Plan        string `json:"plan"`
		AmountMinor int64  `json:"amount_minor"`
	} `json:"subscription"`
	Invoices []struct {
		Number string `json:"number"`
		Status string `json:"status"`
	} `json:"invoices"`
}

// operate runs a command of an operator; stderr is what it says when it ends with 2.
func (s *Server) operate(arguments ...string) (stdout, stderr string) {
	s.t.Helper()
	command := exec.Command(binary.Reckon(s.t), append(arguments, "--data", s.Data)...)
	var out, errs bytes.Buffer
	command.Stdout, command.Stderr = &out, &errs
	if err := command.Run(); err != nil && command.ProcessState.ExitCode() != 2 {
		s.t.Fatalf("reckon %v: %v\n%s", arguments, err, errs.String())
	}
	return out.String(), errs.String()
}

// TestFromAQuoteToAPaidInvoice: a quote of the catalogue verifies with the script that verifies receipts, an operator's command honours
// it unless it was changed, and the account has the plan, the invoice and its payment; closing it ends the subscription.
func TestFromAQuoteToAPaidInvoice(t *testing.T) {
	t.Parallel()
	server := Start(t, DataFolder(t))
	const email = "buyer@example.com"
	account := server.NewAccount(email)
	var catalogue struct {
		Plans []struct {
			Plan   string
			Prices []struct{ Quote json.RawMessage }
		}
	}
	if err := account.JSON("GET", "/billing/plans", nil, &catalogue); err != nil {
		t.Fatal(err)
	}
	folder := t.TempDir()
	keysFile, quoteFile := filepath.Join(folder, "keys.json"), filepath.Join(folder, "quote.json")
	save(t, account, "/.well-known/service-keys.json", keysFile)
	quotes := 0
	for _, plan := range catalogue.Plans {
		for _, price := range plan.Prices {
			quotes++
			write(t, quoteFile, price.Quote)
			verifyOffline(t, quoteFile, keysFile)
		}
	}
	if quotes != 4 {
		t.Fatalf("%d quotes", quotes)
	}
	ofPro := catalogue.Plans[1].Prices[0].Quote
	cheaper := filepath.Join(folder, "cheaper.json")
	write(t, cheaper, bytes.ReplaceAll(ofPro, []byte("1200"), []byte("1000")))
	write(t, quoteFile, ofPro)
	var indented bytes.Buffer // as jq writes it: only what it says is signed
	if err := json.Indent(&indented, ofPro, "", "  "); err != nil {
		t.Fatal(err)
	}
	write(t, quoteFile, indented.Bytes())
	for name, c := range map[string]struct{ quote, plan, period, want string }{
		"changed":         {cheaper, "pro", "month", "not sealed by this service"},
		"another plan":    {quoteFile, "team", "month", "for something else"},
		"another period":  {quoteFile, "pro", "year", "for something else"},
		"the keys":        {keysFile, "pro", "month", "no quote"},
		"a missing file":  {quoteFile + "x", "pro", "month", "no such file"},
		"a folder":        {folder, "pro", "month", "is a directory"},
		"an unknown plan": {quoteFile, "gold", "month", "no such plan"},
	} {
		if _, stderr := server.operate("account", "subscribe", email, c.plan, "--period", c.period, "--quote", c.quote); !strings.Contains(stderr, c.want) {
			t.Errorf("%s: %s", name, stderr)
		}
	}
	var report billingReport
	bill := func(arguments ...string) {
		t.Helper()
		report = billingReport{}
		stdout, stderr := server.operate(append(arguments, "--json")...)
		if err := json.Unmarshal([]byte(stdout), &report); err != nil {
			t.Fatalf("%v\n%s%s", err, stdout, stderr)
		}
	}
	for range 2 { // it is one subscription
		bill("account", "subscribe", email, "pro", "--quote", quoteFile)
		if report.Subscription == nil || report.Subscription.AmountMinor != 1200 || len(report.Invoices) != 1 {
			t.Fatalf("%+v", report)
		}
	}
	// The server decides on the log: it has the plan with the next request.
	response, err := account.Do("POST", "/api/evaluate", map[string]string{"expression": "1+1"}, nil)
	if err != nil {
		t.Fatal(err)
	}
	_ = response.Body.Close()
	if got := response.Header.Get("X-RateLimit-Limit"); got != "120" {
		t.Errorf("the plan allows %s a minute", got)
	}
	if _, stderr := server.operate("account", "plan", email, "team"); !strings.Contains(stderr, "subscription") {
		t.Errorf("an operator gives another plan: %s", stderr)
	}
	number := report.Invoices[0].Number
	for range 2 {
		server.operate("account", "pay", email, number, "--reference", "bank 7")
	}
	if _, stderr := server.operate("account", "void", email, number); !strings.Contains(stderr, "paid") {
		t.Errorf("a paid invoice is void: %s", stderr)
	}
	server.operate("account", "invoice", email, "--amount-minor", "500", "--currency", "usd", "--description", "a book", "--reference", "book 1")
	bill("account", "billing", email)
	if len(report.Invoices) != 2 || report.Invoices[0].Status != "paid" || report.Invoices[1].Status != "open" {
		t.Fatalf("%+v", report)
	}
	server.operate("account", "void", email, report.Invoices[1].Number, "--note", "out of print")
	wait.Until(t, "the read model has what was decided", func() bool { // the read model follows
		var subscription *struct{ Plan, Status string }
		var invoices struct {
			Invoices []struct{ Number, Status string }
		}
		if err := account.JSON("GET", "/billing/subscription", nil, &subscription); err != nil {
			t.Fatal(err)
		}
		if err := account.JSON("GET", "/billing/invoices", nil, &invoices); err != nil {
			t.Fatal(err)
		}
		return subscription != nil && subscription.Plan == "pro" && subscription.Status == "active" && len(invoices.Invoices) == 2 &&
			invoices.Invoices[0].Status == "voided" && invoices.Invoices[1].Status == "paid" && invoices.Invoices[1].Number == number
	})
	bill("account", "unsubscribe", email)
	server.operate("account", "close", email)
	wait.Until(t, "the subscription has ended", func() bool { // a reaction ends it
		bill("account", "billing", account.ID)
		return report.Subscription == nil
	})
	server.mustBeClean("--keys", keysFile)
}

func write(t *testing.T, file string, content []byte) {
	t.Helper()
	if err := os.WriteFile(file, content, 0o600); err != nil {
		t.Fatal(err)
	}
}
