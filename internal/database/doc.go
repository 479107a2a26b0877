// Package database opens the pools of SQL connections that read models and identity use.
//
// It promises that a database that cannot be reached is reported as *UnavailableError, which names
// the part that is away, by every statement, transaction and row of a pool: the pool wraps its
// driver, so that no caller can miss one. A call of a request (OfRequest) that takes longer than RequestLimit ends so too. It knows nothing of tables or statements.
package database
