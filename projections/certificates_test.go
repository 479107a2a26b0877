package projections_test

import (
	"context"
	"errors"
	"testing"

	"github.com/uptrace/bun"

	"reckon/domain/certificate"
	"reckon/domain/event"
	"reckon/domain/run"
	"reckon/projections"
	"reckon/projections/projectiontest"
)

func (l *jobLog) certify(id, account string, verdict certificate.Verdict, aboutRun int64) event.Recorded {
	return l.add(certificate.Stream(id), certificate.Issued{CertificateID: id, Account: account, Verdict: verdict, AboutRunID: aboutRun, Findings: certificate.Findings{Reason: "why\x00"}})
}

func TestCertificatesAreListedNewestFirst(t *testing.T) {
	t.Parallel()
	projectiontest.Databases(t, projections.Open, func(t *testing.T, db *bun.DB) {
		models := projections.New(db, nil)
		log := newJobLog()
		for _, id := range []string{"a", "b", "c"} {
			log.certify(id, alice, certificate.Verified, 0)
		}
		log.certify("d", bob, certificate.Rejected, 0)
		type page struct {
			ids  []string
			more bool
		}
		projectiontest.Given(t, db, models.Certificates.Projection()).When(log.Events...).Then(func(ctx context.Context) (any, error) {
			var pages []page
			before := ""
			for {
				rows, next, err := models.Certificates.List(ctx, alice, projections.Page{Limit: 2, Before: before})
				if err != nil {
					return nil, err
				}
				p := page{more: next != ""}
				for _, row := range rows {
					issued, err := row.Issued()
					if err != nil || issued.Reason != "why\x00" {
						return nil, errors.Join(err, errors.New("reason "+issued.Reason))
					}
					p.ids = append(p.ids, issued.CertificateID)
				}
				if pages = append(pages, p); next == "" {
					return pages, nil
				}
				if next != rows[len(rows)-1].Cursor() {
					return nil, errors.New("next " + next)
				}
				before = next
			}
		}, []page{{[]string{"c", "b"}, true}, {[]string{"a"}, false}})
		for _, limit := range []int{0, 201} {
			var refused *projections.QueryError
			if _, _, err := models.Certificates.List(t.Context(), alice, projections.Page{Limit: limit}); !errors.As(err, &refused) {
				t.Errorf("limit %d: %v", limit, err)
			}
		}
	})
}

func TestHistoryShowsTheCertificateOfARun(t *testing.T) {
	t.Parallel()
	projectiontest.Databases(t, projections.Open, func(t *testing.T, db *bun.DB) {
		models := projections.New(db, nil)
		for name, c := range map[string]struct {
			verdicts []certificate.Verdict
			shown    []string // id and verdict of the certificate
		}{
			"none":                        {nil, []string{"", ""}},
			"the newest":                  {[]certificate.Verdict{certificate.Verified, certificate.Rejected}, []string{"2", string(certificate.Rejected)}},
			"inconclusive before":         {[]certificate.Verdict{certificate.Inconclusive, certificate.Verified}, []string{"2", string(certificate.Verified)}},
			"inconclusive after":          {[]certificate.Verdict{certificate.Verified, certificate.Inconclusive}, []string{"1", string(certificate.Verified)}},
			"inconclusive only, newest":   {[]certificate.Verdict{certificate.Inconclusive, certificate.Inconclusive}, []string{"2", string(certificate.Inconclusive)}},
			"unsupported is a verdict":    {[]certificate.Verdict{certificate.Unsupported, certificate.Inconclusive}, []string{"1", string(certificate.Unsupported)}},
			"about another run is not it": {[]certificate.Verdict{"elsewhere"}, []string{"", ""}},
		} {
			log := newJobLog()
			ran := log.add(run.Stream(7), run.TimedOut{Subject: run.Subject{RunID: 7, Account: alice, Expression: event.Inline("x"), Source: event.SourceWeb}})
			var certified []event.Recorded
			for i, verdict := range c.verdicts {
				about := int64(7)
				if verdict == "elsewhere" {
					about = 8
				}
				certified = append(certified, log.certify(string(rune('1'+i)), alice, verdict, about))
			}
			projectiontest.Given(t, db, models.History.Projection(), ran).When(certified...).Then(func(ctx context.Context) (any, error) {
				page, err := models.History.List(ctx, alice, projections.HistoryQuery{})
				if err != nil || len(page.Rows) != 1 {
					return nil, errors.Join(err, errors.New(name))
				}
				return []string{page.Rows[0].CertificateID, string(page.Rows[0].CertificateVerdict)}, nil
			}, c.shown)
		}
	})
}
