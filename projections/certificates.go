package projections

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/uptrace/bun"

	"reckon/domain/certificate"
	"reckon/domain/event"
	"reckon/projections/engine"
)

// Certificates lists the certificates of an account.
type Certificates struct{ from source }

// CertificateRow is the row of a certificate.
type CertificateRow struct {
	bun.BaseModel `bun:"table:certificates_v1,alias:c"`

	CertificateID string `bun:"certificate_id,pk"`
	Position      int64  `bun:"position,notnull"` // in the log: what "newest" means
	Account       string `bun:"account,notnull"`
	Document      Text   `bun:"document,type:text,notnull"` // JSON of certificate.Issued; long findings are in their blob
}

// Issued decodes the certificate of the row.
func (r CertificateRow) Issued() (certificate.Issued, error) {
	var issued certificate.Issued
	if err := json.Unmarshal([]byte(r.Document), &issued); err != nil {
		return issued, fmt.Errorf("certificate %s: %w", r.CertificateID, err)
	}
	return issued, nil
}

var certificateRows = engine.TableOf("certificate_id", func(r *CertificateRow) string { return r.CertificateID },
	engine.Index{Name: "certificates_v1_newest", Columns: "account, position DESC"})

// Projection declares the table certificates_v1 and its handlers.
func (*Certificates) Projection() engine.Projection {
	p := engine.Projection{Name: "certificates", Version: 1, Tables: []engine.Table{certificateRows}}
	engine.On(&p, func(_ context.Context, tx *engine.Tx, e certificate.Issued, r event.Recorded) error {
		document, err := event.Marshal(e)
		if err != nil {
			return err
		}
		certificateRows.Upsert(tx, &CertificateRow{CertificateID: e.CertificateID, Position: int64(r.Position.Commit), Account: e.Account, Document: Text(document)})
		return nil
	})
	return p
}

// List returns a page of an account's certificates, newest first, and the cursor of the next
// page, which is empty on the last. A page has fewer rows than its limit when its documents are longer than maxPageBytes. A bad
// parameter is a *QueryError.
func (c *Certificates) List(ctx context.Context, account string, p Page) (rows []CertificateRow, next string, err error) {
	before, err := p.before()
	if err != nil {
		return nil, "", err
	}
	found, err := mergedPositions(ctx, c.from.db, "certificates_v1", []branch{{"account = ?", []any{account}}}, branch{"position < ?", []any{before}}, p.Limit+1, 0)
	if err != nil {
		return nil, "", err
	}
	more := len(found) > p.Limit
	found = found[:min(p.Limit, len(found))]
	positions, err := fitting(ctx, c.from.db.NewSelect().Model((*CertificateRow)(nil)), account, found, "octet_length(document)")
	if err != nil {
		return nil, "", err
	}
	if more || len(positions) < len(found) {
		next = cursor(positions[len(positions)-1])
	}
	rows, err = rowsAt(ctx, c.from.db, account, positions, func(r CertificateRow) int64 { return r.Position })
	return rows, next, err
}

// Cursor returns the cursor of the page that begins after this row.
func (r CertificateRow) Cursor() string { return cursor(r.Position) }
