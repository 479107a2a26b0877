package projections

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"

	"github.com/uptrace/bun"

	"reckon/domain/certificate"
	"reckon/domain/event"
	"reckon/projections/engine"
)

// Certificates lists the certificates of an account.
type Certificates struct{ db *bun.DB }

// CertificateRow is a certificate as lists show it.
type CertificateRow struct {
	bun.BaseModel `bun:"table:certificates_v1,alias:c"`

	CertificateID string `bun:"certificate_id,pk"`
	Position      int64  `bun:"position,notnull"` // in the log: what "newest" means
	Account       string `bun:"account,notnull"`
	Document      Text   `bun:"document,type:text,notnull"` // JSON of certificate.Issued; long findings are in their blob
}

// Issued is the certificate of the row.
func (r CertificateRow) Issued() (certificate.Issued, error) {
	var issued certificate.Issued
	if err := json.Unmarshal([]byte(r.Document), &issued); err != nil {
		return issued, fmt.Errorf("certificate %s: %w", r.CertificateID, err)
	}
	return issued, nil
}

var certificateRows = engine.TableOf("certificate_id", func(r *CertificateRow) string { return r.CertificateID },
	engine.Index{Name: "certificates_v1_newest", Columns: "account, position DESC"})

// Projection keeps certificates_v1.
func (*Certificates) Projection() engine.Projection {
	p := engine.Projection{Name: "certificates", Version: 1, Tables: []engine.Table{certificateRows}}
	engine.On(&p, func(_ context.Context, tx *engine.Tx, e certificate.Issued, r event.Recorded) error {
		document, err := event.Marshal(e)
		if err != nil {
			return err
		}
		certificateRows.Put(tx, &CertificateRow{CertificateID: e.CertificateID, Position: int64(r.Position.Commit), Account: e.Account, Document: Text(document)})
		return nil
	})
	return p
}

// CertificatesMaxLimit is the largest page (interface §8).
const CertificatesMaxLimit = 200

// List is a page of an account's certificates, newest first. before is the
// Cursor of the last row of the page before, empty for the first page; more says
// whether there are others after this page.
func (c *Certificates) List(ctx context.Context, account string, limit int, before string) (rows []CertificateRow, more bool, err error) {
	query := c.db.NewSelect().Model(&rows).Where("account = ?", account)
	if before != "" {
		position, err := strconv.ParseInt(before, 10, 64)
		if err != nil {
			return nil, false, &QueryError{"before", "is not a next_before of this list"}
		}
		query.Where("position < ?", position)
	}
	if limit < 1 || limit > CertificatesMaxLimit {
		return nil, false, &QueryError{"limit", fmt.Sprintf("must be 1 to %d", CertificatesMaxLimit)}
	}
	if err := query.OrderBy("position", bun.OrderDesc).Limit(int64(limit) + 1).Scan(ctx); err != nil {
		return nil, false, err
	}
	if len(rows) > limit {
		return rows[:limit], true, nil
	}
	return rows, false, nil
}

// Cursor is where a list goes on after this row.
func (r CertificateRow) Cursor() string { return strconv.FormatInt(r.Position, 10) }
