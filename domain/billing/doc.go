// Package billing is an account's subscription and its invoices as the log knows them: integers of a currency's smallest
// unit, periods from the day of the month on which the subscription was started, and what becomes of both.
//
// It promises that an invoice is the sum of its lines, that what a change of plan splits adds up to what was split, that
// numbers of invoices have no gaps within an account, and that an invoice is paid at most once and exactly. It collects no
// money: an operator or a payment provider reports each payment. docs/billing.md has the rules in words.
package billing
