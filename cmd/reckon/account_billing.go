package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"math/big"
	"os"
	"slices"
	"strings"

	"golang.org/x/text/currency"

	"reckon/commands"
	"reckon/domain/account"
	"reckon/domain/billing"
	"reckon/domain/event"
	"reckon/domain/receipt"
	"reckon/eventstore"
	"reckon/internal/identity"
)

// subscriptionReport is an account's subscription and invoices for an operator.
type subscriptionReport struct {
	Subscription *subscriptionLine `json:"subscription"` // null: there is none
	Credit       []amount          `json:"credit"`       // deducted from the next invoices of a subscription
	Invoices     []invoiceLine     `json:"invoices"`     // oldest first
}

type subscriptionLine struct {
	Plan      string         `json:"plan"`
	Period    account.Period `json:"period"`
	StartedAt string         `json:"started_at"`
	PeriodEnd string         `json:"period_end"`
	Cancelled bool           `json:"cancelled"` // it ends with the period
	amount
}

type amount struct {
	AmountMinor int64  `json:"amount_minor"`
	Currency    string `json:"currency"`
}

type invoiceLine struct {
	InvoiceID string                `json:"invoice_id"`
	Number    string                `json:"number"`
	Status    billing.InvoiceStatus `json:"status"`
	DueAt     string                `json:"due_at"`
	Lines     []billing.Line        `json:"lines"`
	amount
}

func reportBilling(s billing.State) subscriptionReport {
	report := subscriptionReport{Credit: []amount{}, Invoices: []invoiceLine{}}
	if now := s.Subscription; now.Live {
		report.Subscription = &subscriptionLine{
			Plan: now.Plan, Period: now.Price.Period, StartedAt: event.Timestamp(now.StartedAt), PeriodEnd: event.Timestamp(now.PeriodEnd),
			Cancelled: now.Cancelled, amount: amount{now.Price.AmountMinor, now.Price.Currency},
		}
	}
	for _, credit := range s.Credits() {
		report.Credit = append(report.Credit, amount{credit.AmountMinor, credit.Currency})
	}
	for _, invoice := range s.Invoices() {
		report.Invoices = append(report.Invoices, reportInvoice(invoice))
	}
	return report
}

func reportInvoice(i billing.Invoice) invoiceLine {
	return invoiceLine{
		InvoiceID: i.InvoiceID, Number: i.Number, Status: i.Status, DueAt: i.Issued.DueAt, Lines: slices.Clone(i.Lines),
		amount: amount{i.AmountMinor, i.Currency},
	}
}

// print writes the report as JSON or as lines.
func (r subscriptionReport) print(asJSON bool) error {
	if asJSON {
		return printJSON(r)
	}
	if s := r.Subscription; s == nil {
		fmt.Println("no subscription")
	} else {
		then := "renews"
		if s.Cancelled {
			then = "ends"
		}
		fmt.Printf("%s for a %s, %s, since %s, %s %s\n", s.Plan, s.Period, s.amount, s.StartedAt, then, s.PeriodEnd)
	}
	for _, credit := range r.Credit {
		fmt.Println("credit", credit)
	}
	for _, invoice := range r.Invoices {
		fmt.Println(invoice)
	}
	return nil
}

// String is the amount in whole units of its currency (ISO 4217), 120.00 USD; in the smallest unit where the currency is not known.
func (a amount) String() string {
	unit, err := currency.ParseISO(a.Currency)
	if err != nil {
		return fmt.Sprintf("%d %s (smallest unit)", a.AmountMinor, a.Currency)
	}
	digits, _ := currency.Standard.Rounding(unit)
	return big.NewRat(a.AmountMinor, int64(math.Pow10(digits))).FloatString(digits) + " " + a.Currency
}

func (i invoiceLine) String() string {
	return fmt.Sprintf("invoice %s  %-6s  %s  due %s", i.Number, i.Status, i.amount, i.DueAt)
}

// printInvoice writes one invoice as JSON or as a line.
func printInvoice(i billing.Invoice, asJSON bool) error {
	if asJSON {
		return printJSON(reportInvoice(i))
	}
	fmt.Println(reportInvoice(i))
	return nil
}

type accountSubscribeCmd struct {
	installation
	Email  string `arg:"" help:"Address of the account, or its id."`
	Plan   string `arg:"" help:"Name of the plan."`
	Period string `help:"What is paid for at a time: month or year." enum:"month,year" default:"month" env:"-"`
	Quote  string `help:"A quote of GET /billing/plans, whose price is kept; - for standard input." placeholder:"FILE" env:"-"`
	JSON   bool   `help:"Print JSON." name:"json"`
}

// maxQuoteBytes is the most that is read of a file with a quote.
const maxQuoteBytes = 64 << 10

// Run begins the subscription, or changes the one there is.
func (c *accountSubscribeCmd) Run() error {
	to := commands.SubscribeTo{Plan: c.Plan, Period: account.Period(c.Period)}
	if c.Quote != "" {
		quote, err := readQuote(c.Quote)
		if err != nil {
			return err
		}
		to.Quote = quote
	}
	return c.forAccount(c.Email, func(ctx context.Context, store *eventstore.Store, _ *identity.Store, plans account.Plans, in commands.Intent) error {
		state, _, err := commands.Subscribe(ctx, store, plans, in, to)
		if err != nil {
			return err
		}
		return reportBilling(state).print(c.JSON)
	})
}

// readQuote reads the envelope of a quote from a file. Whether it is genuine is decided later.
func readQuote(path string) (*receipt.Envelope, error) {
	file := os.Stdin
	if path != "-" {
		var err error
		if file, err = os.Open(path); err != nil {
			return nil, err
		}
		defer func() { _ = file.Close() }()
	}
	content, err := io.ReadAll(io.LimitReader(file, maxQuoteBytes+1))
	switch {
	case err != nil:
		return nil, err
	case len(content) > maxQuoteBytes:
		return nil, fmt.Errorf("%s is larger than %d bytes: it is no quote", path, maxQuoteBytes)
	}
	var envelope receipt.Envelope
	if err := json.Unmarshal(content, &envelope); err != nil || len(envelope.Record) == 0 {
		return nil, fmt.Errorf("%s holds no quote: save the member `quote` of a price of GET /billing/plans", path)
	}
	return &envelope, nil
}

type accountUnsubscribeCmd struct {
	installation
	Email string `arg:"" help:"Address of the account, or its id."`
	JSON  bool   `help:"Print JSON." name:"json"`
}

// Run lets the subscription end with its period.
func (c *accountUnsubscribeCmd) Run() error {
	return c.forAccount(c.Email, func(ctx context.Context, store *eventstore.Store, _ *identity.Store, plans account.Plans, in commands.Intent) error {
		state, _, err := commands.CancelSubscription(ctx, store, plans, in)
		if err != nil {
			return err
		}
		return reportBilling(state).print(c.JSON)
	})
}

type accountBillingCmd struct {
	installation
	Email string `arg:"" help:"Address of the account, or its id."`
	JSON  bool   `help:"Print JSON." name:"json"`
}

// Run prints the subscription and the invoices.
func (c *accountBillingCmd) Run() error {
	return c.forAccount(c.Email, func(ctx context.Context, store *eventstore.Store, _ *identity.Store, _ account.Plans, in commands.Intent) error {
		state, err := commands.ReadBilling(ctx, store, in.Account)
		if err != nil {
			return err
		}
		return reportBilling(state).print(c.JSON)
	})
}

type accountInvoiceCmd struct {
	installation
	Email       string `arg:"" help:"Address of the account, or its id."`
	AmountMinor int64  `help:"Amount in the currency's smallest unit: cents for USD." required:"" env:"-"`
	Currency    string `help:"ISO 4217 code of the currency." required:"" env:"-" placeholder:"USD"`
	Description string `help:"What it is for: the line of the invoice." required:"" env:"-" placeholder:"TEXT"`
	Reference   string `help:"Your own name for it: the same is issued once." required:"" env:"-" placeholder:"TEXT"`
	JSON        bool   `help:"Print JSON." name:"json"`
}

// Run issues an invoice for something else than a subscription.
func (c *accountInvoiceCmd) Run() error {
	return c.forAccount(c.Email, func(ctx context.Context, store *eventstore.Store, _ *identity.Store, _ account.Plans, in commands.Intent) error {
		invoice, err := commands.IssueInvoice(ctx, store, in, billing.Issue{
			Reference: c.Reference, Description: c.Description, AmountMinor: c.AmountMinor, Currency: strings.ToUpper(c.Currency),
		})
		if err != nil {
			return err
		}
		return printInvoice(invoice, c.JSON)
	})
}

type accountPayCmd struct {
	installation
	Email     string `arg:"" help:"Address of the account, or its id."`
	Invoice   string `arg:"" help:"Number or id of the invoice."`
	Reference string `help:"The payment's own name, such as the bank's: it pays one invoice only." env:"-" placeholder:"TEXT"`
	JSON      bool   `help:"Print JSON." name:"json"`
}

// Run notes that the operator has the money of an invoice, all of it.
func (c *accountPayCmd) Run() error {
	return c.forAccount(c.Email, func(ctx context.Context, store *eventstore.Store, _ *identity.Store, plans account.Plans, in commands.Intent) error {
		state, err := commands.ReadBilling(ctx, store, in.Account)
		if err != nil {
			return err
		}
		asked, found := state.Invoice(c.Invoice)
		if !found {
			return billing.ErrNoSuchInvoice
		}
		paid, _, err := commands.PayInvoice(ctx, store, plans, in, billing.Pay{
			InvoiceID: asked.InvoiceID, AmountMinor: asked.AmountMinor, Currency: asked.Currency, Method: billing.PaidOperator, PaymentID: c.Reference,
		})
		if err != nil {
			return err
		}
		return printInvoice(paid, c.JSON)
	})
}

type accountVoidCmd struct {
	installation
	Email   string `arg:"" help:"Address of the account, or its id."`
	Invoice string `arg:"" help:"Number or id of the invoice."`
	Note    string `help:"Why, in your words." env:"-" placeholder:"TEXT"`
	JSON    bool   `help:"Print JSON." name:"json"`
}

// Run makes an open invoice void.
func (c *accountVoidCmd) Run() error {
	return c.forAccount(c.Email, func(ctx context.Context, store *eventstore.Store, _ *identity.Store, plans account.Plans, in commands.Intent) error {
		voided, _, err := commands.VoidInvoice(ctx, store, plans, in, billing.Void{InvoiceID: c.Invoice, Note: c.Note})
		if err != nil {
			return err
		}
		return printInvoice(voided, c.JSON)
	})
}
