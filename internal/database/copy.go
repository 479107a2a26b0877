package database

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/stdlib"
	"github.com/uptrace/bun"
)

// Copy inserts rows into a table of PostgreSQL with COPY, in the transaction that the connection is in. next returns the values of a
// row, in the order of the columns and of types that pgx has a binary form of for the column's; nil after the last row. Another row
// under the same key is an error, which ends the transaction.
func Copy(ctx context.Context, connection *bun.Conn, table string, columns []string, next func() ([]any, error)) error {
	return connection.Raw(func(raw any) error {
		c, ours := raw.(*conn)
		if !ours {
			return fmt.Errorf("COPY on a connection of another package: %T", raw)
		}
		pg, is := c.driverConn.(*stdlib.Conn)
		if !is {
			return fmt.Errorf("COPY on a connection that is not of PostgreSQL: %T", c.driverConn)
		}
		ctx, cancel := context.WithTimeout(ctx, backgroundLimit)
		defer cancel()
		_, err := pg.Conn().CopyFrom(ctx, pgx.Identifier{table}, columns, pgx.CopyFromFunc(next))
		return c.of.classify(err)
	})
}
