package billing_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"reckon/domain/account"
	"reckon/domain/billing"
	"reckon/domain/decider/decidertest"
	"reckon/domain/event"
)

const anna = "0198a1b2-0000-7000-8000-00000000000a"

var (
	plans = account.DefaultPlans()
	jan31 = time.Date(2027, 1, 31, 12, 0, 0, 0, time.UTC)
	given = decidertest.Given[billing.Command, billing.State]
)

const day = 24 * time.Hour

func ts(t time.Time) string { return event.Timestamp(t) }

func priceOf(plan string, period account.Period) account.Price {
	of, _ := plans.Find(plan)
	price, _ := of.PriceOf(period)
	return price
}

func subscribe(plan string, period account.Period, now time.Time) billing.Subscribe {
	return billing.Subscribe{Account: anna, Plan: plan, Price: priceOf(plan, period), Plans: plans, Now: now}
}

func started(plan string, period account.Period, at time.Time) billing.Started {
	price := priceOf(plan, period)
	return billing.Started{
		Account: anna, Plan: plan, Period: period, AmountMinor: price.AmountMinor, Currency: "USD",
		StartedAt: ts(at), RenewsAt: ts(billing.Anniversary(at, period, 1)),
	}
}

func periodLine(plan string, period account.Period, from, to time.Time) billing.Line {
	return billing.Line{
		Kind: billing.LinePeriod, Description: fmt.Sprintf("%s, %s", plan, period), Plan: plan, Period: period, From: ts(from), To: ts(to),
		AmountMinor: priceOf(plan, period).AmountMinor,
	}
}

func issued(n int, at time.Time, lines ...billing.Line) billing.Issued {
	total := int64(0)
	for _, line := range lines {
		total += line.AmountMinor
	}
	return billing.Issued{
		Account: anna, InvoiceID: billing.InvoiceID(anna, n), Number: billing.InvoiceNumber(anna, n), Currency: "USD", AmountMinor: total, Lines: lines,
		IssuedAt: ts(at), DueAt: ts(at.Add(14 * day)), EndsSubscriptionAt: ts(at.Add(21 * day)),
	}
}

func paid(n int, amount int64, at time.Time) billing.Paid {
	return billing.Paid{Account: anna, InvoiceID: billing.InvoiceID(anna, n), AmountMinor: amount, Currency: "USD", Method: billing.PaidOperator, PaymentID: fmt.Sprint("bank ", n), PaidAt: ts(at)}
}

func pay(n int, amount int64, at time.Time) billing.Pay {
	return billing.Pay{Account: anna, InvoiceID: billing.InvoiceID(anna, n), AmountMinor: amount, Currency: "USD", Method: billing.PaidOperator, PaymentID: fmt.Sprint("bank ", n), Now: at}
}

func ended(plan string, reason billing.EndReason, at time.Time, credit int64) billing.Ended {
	return billing.Ended{Account: anna, Plan: plan, Reason: reason, EndedAt: ts(at), CreditMinor: credit, Currency: "USD", Restorable: reason == billing.EndUnpaid}
}

func advance(now time.Time) billing.Advance {
	return billing.Advance{Account: anna, Plans: plans, Now: now}
}

// monthOfPro is a subscription of 31 January and its first invoice.
func monthOfPro() []event.Event {
	return []event.Event{started("pro", account.Monthly, jan31), issued(1, jan31, periodLine("pro", account.Monthly, jan31, feb28))}
}

var (
	feb28 = time.Date(2027, 2, 28, 12, 0, 0, 0, time.UTC)
	mar31 = time.Date(2027, 3, 31, 12, 0, 0, 0, time.UTC)
)

func TestSubscribing(t *testing.T) {
	given(t, billing.Decider).When(subscribe("pro", account.Monthly, jan31.Add(400*time.Microsecond))).Then(monthOfPro()...)
	given(t, billing.Decider, monthOfPro()...).When(subscribe("pro", account.Monthly, jan31.Add(day))).ThenNothing()

	other := subscribe("pro", account.Monthly, jan31.Add(day))
	other.Price.AmountMinor = 1300
	given(t, billing.Decider, monthOfPro()...).When(other).ThenRefused(billing.ErrOtherPrice)
	other = subscribe("team", account.Monthly, jan31.Add(day))
	other.Price.Currency = "EUR"
	given(t, billing.Decider, monthOfPro()...).When(other).ThenRefused(billing.ErrOtherCurrency)
	other.Price.AmountMinor = 0
	given(t, billing.Decider).When(other).ThenRefused(billing.ErrInvalid)

	cancelled := append(monthOfPro(), billing.Cancelled{Account: anna, EndsAt: ts(feb28)})
	given(t, billing.Decider, cancelled...).When(subscribe("pro", account.Monthly, jan31.Add(day))).Then(billing.Resumed{Account: anna, RenewsAt: ts(feb28)})
	resumed := append(cancelled, billing.Resumed{Account: anna, RenewsAt: ts(feb28)})
	given(t, billing.Decider, resumed...).When(subscribe("pro", account.Monthly, jan31.Add(day))).ThenNothing()

	quoted := subscribe("pro", account.Monthly, jan31)
	quoted.QuoteID, quoted.Price.AmountMinor = "abc", 1100
	begun := started("pro", account.Monthly, jan31)
	begun.QuoteID, begun.AmountMinor = "abc", 1100
	line := periodLine("pro", account.Monthly, jan31, feb28)
	line.AmountMinor = 1100
	given(t, billing.Decider).When(quoted).Then(begun, issued(1, jan31, line))
}

func TestRenewing(t *testing.T) {
	withPaid := append(monthOfPro(), paid(1, 1200, jan31.Add(day)))
	given(t, billing.Decider).When(advance(feb28)).ThenNothing()
	given(t, billing.Decider, withPaid...).When(advance(feb28.Add(-time.Millisecond))).ThenNothing()
	late := feb28.Add(90 * time.Second) // periods follow the calendar, invoices the clock
	renewed := []event.Event{billing.Renewed{Account: anna, Plan: "pro", PeriodStart: ts(feb28), RenewsAt: ts(mar31)}, issued(2, late, periodLine("pro", account.Monthly, feb28, mar31))}
	given(t, billing.Decider, withPaid...).When(advance(late)).Then(renewed...)
	given(t, billing.Decider, append(withPaid, renewed...)...).When(advance(late)).ThenNothing()

	// Nobody looked for two months: both periods are renewed, in order.
	may := time.Date(2027, 4, 30, 12, 0, 0, 0, time.UTC)
	given(t, billing.Decider, withPaid...).When(advance(may.Add(-time.Hour))).Then(
		billing.Renewed{Account: anna, Plan: "pro", PeriodStart: ts(feb28), RenewsAt: ts(mar31)},
		issued(2, may.Add(-time.Hour), periodLine("pro", account.Monthly, feb28, mar31)),
		billing.Renewed{Account: anna, Plan: "pro", PeriodStart: ts(mar31), RenewsAt: ts(may)},
		issued(3, may.Add(-time.Hour), periodLine("pro", account.Monthly, mar31, may)),
	)

	withdrawn := advance(feb28)
	withdrawn.Plans = plans[:1]
	given(t, billing.Decider, withPaid...).When(withdrawn).Then(ended("pro", billing.EndWithdrawn, feb28, 0))
	notSold := slices.Clone(plans)
	notSold[1].Prices = nil
	stays := advance(late)
	stays.Plans = notSold
	given(t, billing.Decider, withPaid...).When(stays).Then(renewed...) // whoever has it keeps it
}

func TestEnding(t *testing.T) {
	graceEnd := jan31.Add(21 * day)
	given(t, billing.Decider, monthOfPro()...).When(advance(graceEnd.Add(-time.Millisecond))).ThenNothing()
	given(t, billing.Decider, monthOfPro()...).When(advance(graceEnd)).Then(ended("pro", billing.EndUnpaid, graceEnd, 0))
	unpaid := append(monthOfPro(), ended("pro", billing.EndUnpaid, graceEnd, 0))
	given(t, billing.Decider, unpaid...).When(advance(graceEnd.Add(400 * day))).ThenNothing()
	given(t, billing.Decider, unpaid...).When(subscribe("team", account.Monthly, graceEnd)).ThenRefused(billing.ErrUnpaid)

	// What is void does not end a subscription.
	void := append(monthOfPro(), billing.Voided{Account: anna, InvoiceID: billing.InvoiceID(anna, 1), Reason: billing.VoidOperator, VoidedAt: ts(jan31)})
	given(t, billing.Decider, void...).When(advance(graceEnd)).ThenNothing()

	given(t, billing.Decider).When(billing.Cancel{Account: anna, Plans: plans, Now: jan31}).ThenRefused(billing.ErrNoSubscription)
	given(t, billing.Decider, monthOfPro()...).When(billing.Cancel{Account: anna, Plans: plans, Now: jan31}).Then(billing.Cancelled{Account: anna, EndsAt: ts(feb28)})
	cancelled := append(monthOfPro(), paid(1, 1200, jan31), billing.Cancelled{Account: anna, EndsAt: ts(feb28)})
	given(t, billing.Decider, cancelled...).When(billing.Cancel{Account: anna, Plans: plans, Now: jan31}).ThenNothing()
	given(t, billing.Decider, cancelled...).When(advance(feb28)).Then(ended("pro", billing.EndCancelled, feb28, 0))

	given(t, billing.Decider).When(billing.Close{Account: anna, Now: jan31}).ThenNothing()
	given(t, billing.Decider, monthOfPro()...).When(billing.Close{Account: anna, Now: jan31}).Then(ended("pro", billing.EndClosed, jan31, 0))
}

// TestPayingLate: of February's 28 days the plan was in force for 21 when its invoice ended it.
func TestPayingLate(t *testing.T) {
	graceEnd := jan31.Add(21 * day)
	unpaid := append(monthOfPro(), ended("pro", billing.EndUnpaid, graceEnd, 0))
	settled := func(at time.Time, credit int64, renews string) billing.Settled {
		return billing.Settled{Account: anna, Plan: "pro", SettledAt: ts(at), RenewsAt: renews, CreditMinor: credit, Currency: "USD"}
	}
	// At once: the rest of the period is in force again, and the subscription renews as if it had not ended.
	atOnce := append(unpaid, paid(1, 1200, graceEnd), settled(graceEnd, 0, ts(feb28)))
	given(t, billing.Decider, unpaid...).When(pay(1, 1200, graceEnd)).Then(atOnce[3:]...)
	given(t, billing.Decider, atOnce...).When(pay(1, 1200, graceEnd)).ThenNothing()
	given(t, billing.Decider, atOnce...).When(advance(feb28)).Then(
		billing.Renewed{Account: anna, Plan: "pro", PeriodStart: ts(feb28), RenewsAt: ts(mar31)}, issued(2, feb28, periodLine("pro", account.Monthly, feb28, mar31)))
	// Three of the seven days later: those are credited.
	given(t, billing.Decider, unpaid...).When(pay(1, 1200, graceEnd.Add(3*day))).Then(paid(1, 1200, graceEnd.Add(3*day)), settled(graceEnd.Add(3*day), 300-171, ts(feb28)))
	// When the period is over: all seven are, and nothing is in force again; the next invoice asks for less.
	over := append(unpaid, paid(1, 1200, feb28), settled(feb28, 300, ""))
	given(t, billing.Decider, unpaid...).When(pay(1, 1200, feb28)).Then(over[3:]...)
	given(t, billing.Decider, over...).When(advance(mar31)).ThenNothing()
	given(t, billing.Decider, over...).When(subscribe("pro", account.Monthly, feb28)).Then(
		started("pro", account.Monthly, feb28), issued(2, feb28, periodLine("pro", account.Monthly, feb28, time.Date(2027, 3, 28, 12, 0, 0, 0, time.UTC)),
			billing.Line{Kind: billing.LineCredit, Description: "credit", AmountMinor: -300}))

	// What is void gives nothing back, and neither does what ended before this was so.
	void := billing.Voided{Account: anna, InvoiceID: billing.InvoiceID(anna, 1), Reason: billing.VoidOperator, VoidedAt: ts(graceEnd)}
	given(t, billing.Decider, unpaid...).When(billing.Void{Account: anna, InvoiceID: billing.InvoiceID(anna, 1), Now: graceEnd}).Then(void)
	given(t, billing.Decider, append(unpaid, void)...).When(subscribe("pro", account.Monthly, feb28)).Then(
		started("pro", account.Monthly, feb28), issued(2, feb28, periodLine("pro", account.Monthly, feb28, time.Date(2027, 3, 28, 12, 0, 0, 0, time.UTC))))
	before := ended("pro", billing.EndUnpaid, graceEnd, 0)
	before.Restorable = false
	given(t, billing.Decider, append(monthOfPro(), before)...).When(pay(1, 1200, graceEnd)).Then(paid(1, 1200, graceEnd))

	// A subscription that was cancelled ends with its period all the same.
	cancelled := append(monthOfPro(), billing.Cancelled{Account: anna, EndsAt: ts(feb28)}, ended("pro", billing.EndUnpaid, graceEnd, 0), paid(1, 1200, graceEnd), settled(graceEnd, 0, ts(feb28)))
	given(t, billing.Decider, cancelled...).When(advance(feb28)).Then(ended("pro", billing.EndCancelled, feb28, 0))
}

// TestChangingThePlan: in the middle of February's 28 days half of 1200 is unused.
func TestChangingThePlan(t *testing.T) {
	middle := jan31.Add(14 * day)
	next := billing.Anniversary(middle, account.Monthly, 1)
	withPaid := append(monthOfPro(), paid(1, 1200, jan31))
	credited := []event.Event{
		ended("pro", billing.EndReplaced, middle, 600), started("team", account.Monthly, middle),
		issued(2, middle, periodLine("team", account.Monthly, middle, next), billing.Line{Kind: billing.LineCredit, Description: "credit", AmountMinor: -600}),
	}
	given(t, billing.Decider, withPaid...).When(subscribe("team", account.Monthly, middle)).Then(credited...)

	// Not paid: the invoice becomes void, and the next asks for the used half, no later than the first did.
	usedLine := billing.Line{Kind: billing.LineUsed, Description: "pro, used part of a month", Plan: "pro", Period: account.Monthly, From: ts(jan31), To: ts(middle), AmountMinor: 600}
	replacing := issued(2, middle, usedLine, periodLine("team", account.Monthly, middle, next))
	replacing.DueAt, replacing.EndsSubscriptionAt = ts(jan31.Add(14*day)), ts(jan31.Add(21*day))
	voided := billing.Voided{Account: anna, InvoiceID: billing.InvoiceID(anna, 1), Reason: billing.VoidReplaced, VoidedAt: ts(middle)}
	unpaid := []event.Event{voided, ended("pro", billing.EndReplaced, middle, 0), started("team", account.Monthly, middle), replacing}
	given(t, billing.Decider, monthOfPro()...).When(subscribe("team", account.Monthly, middle)).Then(unpaid...)

	// And again at once: nothing of team was used, and what was used of pro is still asked for.
	again := issued(3, middle, usedLine, periodLine("pro", account.Yearly, middle, billing.Anniversary(middle, account.Yearly, 1)))
	again.DueAt, again.EndsSubscriptionAt = replacing.DueAt, replacing.EndsSubscriptionAt
	second := billing.Voided{Account: anna, InvoiceID: billing.InvoiceID(anna, 2), Reason: billing.VoidReplaced, VoidedAt: ts(middle)}
	given(t, billing.Decider, append(monthOfPro(), unpaid...)...).When(subscribe("pro", account.Yearly, middle)).
		Then(second, ended("team", billing.EndReplaced, middle, 0), started("pro", account.Yearly, middle), again)

	// Credit comes back from an invoice that becomes void: nothing was paid for team, and 600 of pro are still credited.
	quarter := middle.Add(7 * day)
	_, left := billing.Prorate(4900, middle, next, quarter)
	back := issued(3, quarter,
		billing.Line{Kind: billing.LineUsed, Description: "team, used part of a month", Plan: "team", Period: account.Monthly, From: ts(middle), To: ts(quarter), AmountMinor: 4900 - left},
		periodLine("pro", account.Monthly, quarter, billing.Anniversary(quarter, account.Monthly, 1)), billing.Line{Kind: billing.LineCredit, Description: "credit", AmountMinor: -600})
	back.DueAt, back.EndsSubscriptionAt = ts(middle.Add(14*day)), ts(middle.Add(21*day))
	given(t, billing.Decider, append(withPaid, credited...)...).When(subscribe("pro", account.Monthly, quarter)).
		Then(second2(quarter), ended("team", billing.EndReplaced, quarter, 0), started("pro", account.Monthly, quarter), back)

	// A period that was given away costs nothing and credits nothing.
	free := append(monthOfPro(), billing.Voided{Account: anna, InvoiceID: billing.InvoiceID(anna, 1), Reason: billing.VoidOperator, VoidedAt: ts(jan31)})
	given(t, billing.Decider, free...).When(subscribe("team", account.Monthly, middle)).
		Then(ended("pro", billing.EndReplaced, middle, 0), started("team", account.Monthly, middle), issued(2, middle, periodLine("team", account.Monthly, middle, next)))
}

func second2(at time.Time) billing.Voided {
	return billing.Voided{Account: anna, InvoiceID: billing.InvoiceID(anna, 2), Reason: billing.VoidReplaced, VoidedAt: ts(at)}
}

// TestCreditPaysWhatItCovers: from a year of team to months of pro nothing is to be paid for a while.
func TestCreditPaysWhatItCovers(t *testing.T) {
	next := billing.Anniversary(jan31, account.Yearly, 1)
	year := []event.Event{started("team", account.Yearly, jan31), issued(1, jan31, periodLine("team", account.Yearly, jan31, next)), paid(1, 49000, jan31)}
	at := jan31.Add(day)
	_, unused := billing.Prorate(49000, jan31, next, at)
	end := billing.Anniversary(at, account.Monthly, 1)
	byCredit := billing.Paid{Account: anna, InvoiceID: billing.InvoiceID(anna, 2), Currency: "USD", Method: billing.PaidCredit, PaidAt: ts(at)}
	change := []event.Event{
		ended("team", billing.EndReplaced, at, unused), started("pro", account.Monthly, at),
		issued(2, at, periodLine("pro", account.Monthly, at, end), billing.Line{Kind: billing.LineCredit, Description: "credit", AmountMinor: -1200}), byCredit,
	}
	given(t, billing.Decider, year...).When(subscribe("pro", account.Monthly, at)).Then(change...)
	state := billing.Decider.Fold(append(year, change...))
	if credits := state.Credits(); len(credits) != 1 || credits[0].AmountMinor != unused-1200 || state.CreditMinor("EUR") != 0 {
		t.Errorf("%+v", credits)
	}
}

func TestInvoicesOfAnOperator(t *testing.T) {
	issue := billing.Issue{Account: anna, Reference: "training 7", Description: "a day of training", AmountMinor: 90000, Currency: "EUR", Now: jan31}
	invoice := issued(1, jan31, billing.Line{Kind: billing.LineOther, Description: "a day of training", AmountMinor: 90000})
	invoice.Currency, invoice.EndsSubscriptionAt, invoice.Reference = "EUR", "", "training 7"
	given(t, billing.Decider).When(issue).Then(invoice)
	given(t, billing.Decider, invoice).When(issue).ThenNothing()
	other := issue
	other.AmountMinor++
	given(t, billing.Decider, invoice).When(other).ThenRefused(billing.ErrReferenceUsed)
	for name, change := range map[string]func(*billing.Issue){
		"no reference": func(i *billing.Issue) { i.Reference = "" }, "long": func(i *billing.Issue) { i.Reference = strings.Repeat("x", 201) },
		"no words": func(i *billing.Issue) { i.Description = "" }, "a line break": func(i *billing.Issue) { i.Description = "a\nb" }, "blank": func(i *billing.Issue) { i.Description = " a" },
		"nothing": func(i *billing.Issue) { i.AmountMinor = 0 }, "negative": func(i *billing.Issue) { i.AmountMinor = -1 },
		"too much": func(i *billing.Issue) { i.AmountMinor = account.MaxAmountMinor + 1 }, "no currency": func(i *billing.Issue) { i.Currency = "euro" },
	} {
		t.Run(name, func(t *testing.T) {
			bad := issue
			change(&bad)
			given(t, billing.Decider).When(bad).ThenRefused(billing.ErrInvalid)
		})
	}
	// It is no subscription's: nothing ends when it is not paid, and it is not the period's.
	given(t, billing.Decider, append(append(monthOfPro(), paid(1, 1200, jan31)), invoice)...).When(advance(jan31.Add(27 * day))).ThenNothing()
}

func TestPayingAndVoiding(t *testing.T) {
	open := monthOfPro()
	given(t, billing.Decider, open...).When(pay(1, 1200, feb28)).Then(paid(1, 1200, feb28))
	byNumber := pay(1, 1200, feb28)
	byNumber.InvoiceID = billing.InvoiceNumber(anna, 1)
	given(t, billing.Decider, open...).When(byNumber).Then(paid(1, 1200, feb28))
	settled := append(open, paid(1, 1200, jan31))
	given(t, billing.Decider, settled...).When(pay(1, 1200, feb28)).ThenNothing()
	other := pay(1, 1200, feb28)
	other.PaymentID = "bank 2"
	given(t, billing.Decider, settled...).When(other).ThenRefused(billing.ErrAlreadyPaid)
	other = pay(1, 1200, feb28)
	other.Method = billing.PaidProvider // what an operator noted and a provider told are two payments
	given(t, billing.Decider, settled...).When(other).ThenRefused(billing.ErrAlreadyPaid)
	given(t, billing.Decider, open...).When(pay(1, 1199, feb28)).ThenRefused(billing.ErrOtherAmount)
	other = pay(1, 1200, feb28)
	other.Currency = "EUR"
	given(t, billing.Decider, open...).When(other).ThenRefused(billing.ErrOtherAmount)
	given(t, billing.Decider, open...).When(pay(2, 1200, feb28)).ThenRefused(billing.ErrNoSuchInvoice)
	other = pay(1, 1200, feb28)
	other.PaymentID = "a\x00"
	given(t, billing.Decider, open...).When(other).ThenRefused(billing.ErrInvalid)

	renewed := append(settled, billing.Renewed{Account: anna, Plan: "pro", PeriodStart: ts(feb28), RenewsAt: ts(mar31)}, issued(2, feb28, periodLine("pro", account.Monthly, feb28, mar31)))
	twice := pay(2, 1200, feb28)
	twice.PaymentID = "bank 1"
	given(t, billing.Decider, renewed...).When(twice).ThenRefused(billing.ErrPaymentUsed)

	void := billing.Void{Account: anna, InvoiceID: billing.InvoiceID(anna, 1), Note: "sent twice", Now: jan31}
	voided := billing.Voided{Account: anna, InvoiceID: void.InvoiceID, Reason: billing.VoidOperator, Note: "sent twice", VoidedAt: ts(jan31)}
	given(t, billing.Decider, open...).When(void).Then(voided)
	given(t, billing.Decider, append(open, voided)...).When(void).ThenNothing()
	given(t, billing.Decider, append(open, voided)...).When(pay(1, 1200, feb28)).ThenRefused(billing.ErrVoided)
	given(t, billing.Decider, settled...).When(void).ThenRefused(billing.ErrAlreadyPaid)
	given(t, billing.Decider).When(void).ThenRefused(billing.ErrNoSuchInvoice)
	void.Note = strings.Repeat("x", 201)
	given(t, billing.Decider, open...).When(void).ThenRefused(billing.ErrInvalid)
}

// TestBounds: neither changes of plan nor a long absence make an append without bound.
func TestBounds(t *testing.T) {
	history := []event.Event{}
	names := []string{"pro", "team"}
	refused := 0
	for i := range 60 {
		at := jan31.Add(time.Duration(i) * time.Hour)
		events, err := billing.Decider.Decide(subscribe(names[i%2], account.Monthly, at), billing.Decider.Fold(history))
		if err != nil {
			refused++
			given(t, billing.Decider, history...).When(subscribe(names[i%2], account.Monthly, at)).ThenRefused(billing.ErrTooManyChanges)
			break
		}
		history = append(history, events...)
	}
	if refused != 1 {
		t.Error("the lines of an invoice are not bounded")
	}
	given(t, billing.Decider, append(monthOfPro(), paid(1, 1200, jan31))...).When(subscribe("team", account.Monthly, jan31.AddDate(5, 0, 0))).ThenRefused(billing.ErrBehind)
}

func TestFold(t *testing.T) {
	decidertest.Fold(t, billing.Decider, func(i int) event.Event {
		at, n := jan31.Add(time.Duration(i)*time.Hour), i/4+1
		return []event.Event{
			started("pro", account.Monthly, at), issued(n, at, periodLine("pro", account.Monthly, at, at.Add(day))),
			billing.Paid{Account: anna, InvoiceID: billing.InvoiceID(anna, n), PaymentID: fmt.Sprint(i)}, ended("pro", billing.EndReplaced, at, 7),
		}[i%4]
	})
}

func TestNamesOfInvoices(t *testing.T) {
	if got := billing.InvoiceNumber(anna, 12); got != billing.InvoiceNumber(anna, 12) || !strings.HasSuffix(got, "-0012") || len(got) != 17 {
		t.Errorf("%q", got)
	}
	if billing.InvoiceID(anna, 1) == billing.InvoiceID(anna, 2) || billing.InvoiceNumber(anna, 1) == billing.InvoiceNumber("b", 1) {
		t.Error("two invoices have one name")
	}
	if id := billing.InvoiceID(anna, 1); id[14] != '5' || !strings.ContainsRune("89ab", rune(id[19])) {
		t.Errorf("%s is no UUIDv5", id)
	}
}
