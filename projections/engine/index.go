package engine

import (
	"context"
	"strings"

	"github.com/uptrace/bun"
	"github.com/uptrace/bun/dialect"
)

// Index is an index of a table: of columns, or of the trigrams of a text.
type Index struct {
	Name    string // unique in the database: it holds the version
	Columns string // as in SQL; empty: an index of trigrams
	// TextColumn is the column whose trigrams (three characters in sequence, case-sensitive) are indexed. A row's text never changes.
	TextColumn string
	// RowIDColumn is the integer column by which SQLite orders what it finds in TextColumn; it is unique in the table. PostgreSQL
	// finds a text in all rows, or in those of one window: of equal RowIDColumn >> WindowBits.
	RowIDColumn string
	WindowBits  int
}

// textIndexSuffix ends the name of the index of trigrams of a table, after the table's: on SQLite it is a table, which goes with it.
const textIndexSuffix = "_text"

func (i Index) create(ctx context.Context, db bun.IDB, model any) error {
	if i.Columns != "" {
		_, err := db.NewCreateIndex().Model(model).Index(i.Name).IfNotExists().ColumnExpr(i.Columns).Exec(ctx)
		return err
	}
	if db.Dialect().Name() == dialect.PG {
		return i.createInPostgres(ctx, db)
	}
	return i.createInSQLite(ctx, db)
}

// createInSQLite makes a full-text table (FTS5, tokenizer trigram) without content, which a trigger fills. The rows that the table
// has already are added first.
func (i Index) createInSQLite(ctx context.Context, db bun.IDB) error {
	names := []any{bun.Ident(i.Name), bun.Ident(strings.TrimSuffix(i.Name, textIndexSuffix)), bun.Ident(i.TextColumn), bun.Ident(i.RowIDColumn)}
	var exists bool
	if err := db.NewRaw("SELECT EXISTS (SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = ?)", i.Name).Scan(ctx, &exists); err != nil || exists {
		return err
	}
	for _, statement := range []string{
		"CREATE VIRTUAL TABLE ?0 USING fts5(?2, content='', detail=none, tokenize='trigram case_sensitive 1')",
		"INSERT INTO ?0 (rowid, ?2) SELECT ?3, ?2 FROM ?1",
		"CREATE TRIGGER " + i.Name + "_added AFTER INSERT ON ?1 BEGIN INSERT INTO ?0 (rowid, ?2) VALUES (new.?3, new.?2); END",
	} {
		if _, err := db.NewRaw(statement, names...).Exec(ctx); err != nil {
			return err
		}
	}
	return nil
}

// createInPostgres makes a GIN index of window and text with the extensions btree_gin and pg_trgm. Where the server does not have them, or
// this user may not add them to the database, an empty index takes the name: HasTrigrams tells.
func (i Index) createInPostgres(ctx context.Context, db bun.IDB) error {
	table := strings.TrimSuffix(i.Name, textIndexSuffix)
	statement := "CREATE INDEX IF NOT EXISTS ?0 ON ?1 USING gin ((?3 >> ?4), ?2 gin_trgm_ops)"
	for _, extension := range []string{"btree_gin", "pg_trgm"} {
		available, err := addExtension(ctx, db, extension)
		if err != nil {
			return err
		}
		if !available {
			statement = "CREATE INDEX IF NOT EXISTS ?0 ON ?1 (?3) WHERE false"
		}
	}
	_, err := db.NewRaw(statement, bun.Ident(i.Name), bun.Ident(table), bun.Ident(i.TextColumn), bun.Ident(i.RowIDColumn), i.WindowBits).Exec(ctx)
	return err
}

// addExtension adds a trusted extension to the database if it is missing there, which takes the right to create in the database. It is
// false where that cannot be.
func addExtension(ctx context.Context, db bun.IDB, name string) (added bool, err error) {
	var installed, allowed bool
	err = db.NewRaw(`SELECT EXISTS (SELECT 1 FROM pg_extension WHERE extname = ?0),
		EXISTS (SELECT 1 FROM pg_available_extension_versions WHERE name = ?0 AND trusted) AND has_database_privilege(current_database(), 'CREATE')`, name).
		Scan(ctx, &installed, &allowed)
	if err != nil || installed || !allowed {
		return installed, err
	}
	_, err = db.NewRaw("CREATE EXTENSION IF NOT EXISTS ?", bun.Ident(name)).Exec(ctx)
	return err == nil, err
}

// HasTrigrams tells whether an index of trigrams is one: on PostgreSQL without the extensions for it it is empty.
func HasTrigrams(ctx context.Context, db bun.IDB, index string) (bool, error) {
	if db.Dialect().Name() != dialect.PG {
		return true, nil
	}
	var gin bool
	err := db.NewRaw(`SELECT EXISTS (SELECT 1 FROM pg_class AS c JOIN pg_am AS m ON m.oid = c.relam
		WHERE c.relname = ? AND c.relnamespace = current_schema()::regnamespace AND m.amname = 'gin')`, index).Scan(ctx, &gin)
	return gin, err
}

// DropTable drops a table of any version of a projection, with its index of trigrams.
func DropTable(ctx context.Context, db bun.IDB, table string) error {
	for _, name := range []string{table, table + textIndexSuffix} {
		if _, err := db.NewDropTable().Table(name).IfExists().Exec(ctx); err != nil {
			return err
		}
	}
	return nil
}
