// Package billing is an account's subscription and its invoices as the log knows them: integers of a currency's smallest
// unit, periods from the day of the month on which the subscription was started, and what becomes of both.
//
// It promises that an invoice is the sum of its lines, that what a change of plan splits adds up to what was split, that
// numbers of invoices have no gaps within an account, and that an invoice is paid at most once and exactly. It never
// asks anybody for money: who pays is told to it. The rules in words are in docs/billing.md.
package billing
