package database

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"reflect"
	"time"
)

// connector makes connections whose errors are classified.
type connector struct {
	part string
	driver.Connector
	locks bool          // SQLite, which waits for locks without looking at the context
	limit time.Duration // of a call in the background; 0: none
}

// classify returns an error that means that the part is away as *UnavailableError, and others as they are.
func (c *connector) classify(err error) error {
	if err == nil || !unavailable(err) {
		return err
	}
	if _, known := errors.AsType[*UnavailableError](err); known {
		return err
	}
	return &UnavailableError{c.part, err}
}

// driverConn is what the drivers in use implement beyond the least.
type driverConn interface {
	driver.Conn
	driver.ConnPrepareContext
	driver.ConnBeginTx
	driver.ExecerContext
	driver.QueryerContext
	driver.Pinger
	driver.SessionResetter
}

func (c *connector) Connect(ctx context.Context) (driver.Conn, error) {
	ctx, cancel := context.WithTimeout(ctx, RequestLimit)
	defer cancel()
	made, err := c.Connector.Connect(ctx)
	if err != nil {
		return nil, c.classify(err)
	}
	full, ok := made.(driverConn)
	if !ok {
		return nil, errors.Join(fmt.Errorf("the driver's connection (%T) takes no contexts", made), made.Close())
	}
	return &conn{driverConn: full, of: c, lockWait: RequestLimit}, nil
}

// conn is a connection whose errors are classified.
type conn struct {
	driverConn
	of       *connector
	lockWait time.Duration // how long it waits for a lock of SQLite
}

// minLockWait is the least change of lockWait that is worth a statement.
const minLockWait = 50 * time.Millisecond

// limitLockWait lets the connection wait for a lock of SQLite as long as the context lasts.
func (c *conn) limitLockWait(ctx context.Context) error {
	if !c.of.locks {
		return nil
	}
	wait := RequestLimit
	if deadline, limited := ctx.Deadline(); limited {
		wait = max(0, min(wait, time.Until(deadline)))
	}
	if (wait - c.lockWait).Abs() < minLockWait {
		return nil
	}
	_, err := c.driverConn.ExecContext(context.WithoutCancel(ctx), fmt.Sprintf("PRAGMA busy_timeout = %d", wait.Milliseconds()), nil)
	c.lockWait = wait
	return c.of.classify(err)
}

// ended is the error of a call: the context's where SQLite was interrupted by its end.
func (c *conn) ended(ctx context.Context, err error) error {
	if c.of.locks && err != nil && ctx.Err() != nil {
		err = ctx.Err()
	}
	return c.of.classify(err)
}

// Unwrapped returns the driver's own connection, given what (*sql.Conn).Raw passes.
func Unwrapped(raw any) any {
	if c, ok := raw.(*conn); ok {
		return c.driverConn
	}
	return raw
}

func (c *conn) Ping(ctx context.Context) error { return c.of.classify(c.driverConn.Ping(ctx)) }
func (c *conn) ResetSession(ctx context.Context) error {
	return c.of.classify(c.driverConn.ResetSession(ctx))
}
func (c *conn) Close() error { return c.of.classify(c.driverConn.Close()) }

// IsValid is that of the driver; a driver without it has valid connections only.
func (c *conn) IsValid() bool {
	v, ok := c.driverConn.(driver.Validator)
	return !ok || v.IsValid()
}

// CheckNamedValue is that of the driver; a driver without it takes what database/sql converts.
func (c *conn) CheckNamedValue(v *driver.NamedValue) error {
	if checker, ok := c.driverConn.(driver.NamedValueChecker); ok {
		return checker.CheckNamedValue(v)
	}
	return driver.ErrSkip
}

func (c *conn) BeginTx(ctx context.Context, options driver.TxOptions) (driver.Tx, error) {
	if err := c.limitLockWait(ctx); err != nil {
		return nil, err
	}
	begun, err := c.driverConn.BeginTx(ctx, options)
	if err != nil {
		return nil, c.ended(ctx, err)
	}
	return &tx{begun, c.of}, nil
}

func (c *conn) ExecContext(ctx context.Context, query string, args []driver.NamedValue) (driver.Result, error) {
	if err := c.limitLockWait(ctx); err != nil {
		return nil, err
	}
	result, err := c.driverConn.ExecContext(ctx, query, args)
	return result, c.ended(ctx, err)
}

func (c *conn) QueryContext(ctx context.Context, query string, args []driver.NamedValue) (driver.Rows, error) {
	if err := c.limitLockWait(ctx); err != nil {
		return nil, err
	}
	found, err := c.driverConn.QueryContext(ctx, query, args)
	if err != nil {
		return nil, c.ended(ctx, err)
	}
	return &rows{found, c.of}, nil
}

// PrepareContext prepares a statement; its errors are classified as those of the connection are.
func (c *conn) PrepareContext(ctx context.Context, query string) (driver.Stmt, error) {
	prepared, err := c.driverConn.PrepareContext(ctx, query)
	if err != nil {
		return nil, c.of.classify(err)
	}
	full, ok := prepared.(driverStmt)
	if !ok {
		return nil, errors.Join(fmt.Errorf("the driver's statement (%T) takes no contexts", prepared), prepared.Close())
	}
	return &stmt{full, c.of}, nil
}

// driverStmt is what the statements of the drivers in use implement.
type driverStmt interface {
	driver.Stmt
	driver.StmtExecContext
	driver.StmtQueryContext
}

type stmt struct {
	driverStmt
	of *connector
}

func (s *stmt) ExecContext(ctx context.Context, args []driver.NamedValue) (driver.Result, error) {
	result, err := s.driverStmt.ExecContext(ctx, args)
	return result, s.of.classify(err)
}

func (s *stmt) QueryContext(ctx context.Context, args []driver.NamedValue) (driver.Rows, error) {
	found, err := s.driverStmt.QueryContext(ctx, args)
	if err != nil {
		return nil, s.of.classify(err)
	}
	return &rows{found, s.of}, nil
}

type tx struct {
	driver.Tx
	of *connector
}

func (t *tx) Commit() error   { return t.of.classify(t.Tx.Commit()) }
func (t *tx) Rollback() error { return t.of.classify(t.Tx.Rollback()) }

// rows are rows whose errors are classified. What the driver does not tell of its columns is
// answered as database/sql answers it for such a driver.
type rows struct {
	driver.Rows
	of *connector
}

func (r *rows) Close() error { return r.of.classify(r.Rows.Close()) }

func (r *rows) Next(to []driver.Value) error {
	err := r.Rows.Next(to)
	if err == io.EOF { //nolint:errorlint // exactly this value is the end of the rows; a wrapped one is a connection that broke
		return err
	}
	return r.of.classify(err)
}

func (r *rows) ColumnTypeScanType(i int) reflect.Type {
	if typed, ok := r.Rows.(driver.RowsColumnTypeScanType); ok {
		return typed.ColumnTypeScanType(i)
	}
	return reflect.TypeFor[any]()
}

func (r *rows) ColumnTypeDatabaseTypeName(i int) string {
	if named, ok := r.Rows.(driver.RowsColumnTypeDatabaseTypeName); ok {
		return named.ColumnTypeDatabaseTypeName(i)
	}
	return ""
}
