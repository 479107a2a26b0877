package readapi

import (
	"context"
	"net/http"
	"time"

	"reckon/domain/certificate"
	"reckon/domain/event"
	"reckon/internal/auth"
	"reckon/internal/httpkit"
	"reckon/internal/view"
)

type certificateInput struct {
	ID httpkit.UUID `path:"id" doc:"certificate_id" example:"b3e2c1d0-5f4a-4c3b-8d2e-1f0a9b8c7d6e"`
}

type certificateOutput struct{ Body certificate.Record }

type publicCertificateOutput struct{ Body certificate.Public }

type certificatesInput struct {
	Freshness
	Page
}

type certificatesOutput struct {
	Body struct {
		Certificates []certificate.Record `json:"certificates" doc:"Newest first. A page may be shorter than its limit when its certificates are long"`
		view.NextPage
	}
}

const (
	// longFindingsBytes bounds the findings that one page loads from blobs, in bytes.
	longFindingsBytes = 1 << 20
	// certificateAge is how long caches may keep a public certificate, which never changes.
	certificateAge = 24 * time.Hour
)

func (s Services) registerCertificates(api *httpkit.API) {
	httpkit.Handle(api, httpkit.Route{
		Method: http.MethodGet, Path: "/api/certificates", ID: "list-certificates", Tag: "Proofs", Summary: "Your certificates, newest first",
		Description: "A list may lag behind your last write by moments: give its Consistency-Token to wait for it.",
		Kinds:       []httpkit.Kind{httpkit.Unavailable},
	}, s.certificates)
	httpkit.Handle(api, httpkit.Route{
		Method: http.MethodGet, Path: "/api/certificates/{id}", ID: "get-certificate", Tag: "Proofs", Summary: "One certificate",
		Description: "Always current; a certificate never changes.",
		Kinds:       []httpkit.Kind{httpkit.NoCertificate, httpkit.Unavailable},
	}, s.certificate)
	httpkit.Handle(api, httpkit.Route{
		Method: http.MethodGet, Path: "/api/certificates/{id}/public", ID: "get-public-certificate", Tag: "Proofs", Summary: "A certificate as anyone may read it",
		Description: "Without the account's own ids.",
		PublicFor:   certificateAge, Kinds: []httpkit.Kind{httpkit.NoCertificate, httpkit.Unavailable},
	}, s.publicCertificate)
}

func (s Services) certificate(ctx context.Context, in *certificateInput) (*certificateOutput, error) {
	issued, err := s.issued(ctx, string(in.ID))
	if err != nil {
		return nil, err
	}
	if issued.Account != auth.PrincipalOf(ctx).Account {
		return nil, noCertificate()
	}
	if issued, err = issued.LoadFindings(ctx, s.Blobs); err != nil {
		return nil, err
	}
	return &certificateOutput{issued.Record(s.PublicURL)}, nil
}

func (s Services) publicCertificate(ctx context.Context, in *certificateInput) (*publicCertificateOutput, error) {
	issued, err := s.issued(ctx, string(in.ID))
	if err == nil {
		issued, err = issued.LoadFindings(ctx, s.Blobs)
	}
	if err != nil {
		return nil, err
	}
	return &publicCertificateOutput{issued.Public(s.PublicURL)}, nil
}

func noCertificate() error { return httpkit.NoCertificate.Problem("there is no such certificate") }

// issued is the certificate of a stream, its findings as the event has them.
func (s Services) issued(ctx context.Context, id string) (certificate.Issued, error) {
	if !view.ValidID(id) {
		return certificate.Issued{}, noCertificate()
	}
	history, err := s.Streams(ctx, certificate.Stream(id))
	if err != nil {
		return certificate.Issued{}, err
	}
	issued, found := certificate.FromHistory(event.Events(history))
	if !found {
		return certificate.Issued{}, noCertificate()
	}
	return issued, nil
}

func (s Services) certificates(ctx context.Context, in *certificatesInput) (*certificatesOutput, error) {
	if err := s.waitUntilApplied(ctx, "certificates", in.Token); err != nil {
		return nil, err
	}
	rows, next, err := s.Models.Certificates.List(ctx, auth.PrincipalOf(ctx).Account, in.asked())
	if err != nil {
		return nil, refusedQuery(err)
	}
	out := &certificatesOutput{}
	out.Body.Certificates = []certificate.Record{}
	loaded := int64(0)
	for i, row := range rows {
		issued, err := row.Issued()
		if err != nil {
			return nil, err
		}
		if blob := issued.FindingsBlob; blob != nil {
			if loaded += blob.Bytes; loaded > longFindingsBytes && i > 0 {
				next = rows[i-1].Cursor()
				break
			}
		}
		if issued, err = issued.LoadFindings(ctx, s.Blobs); err != nil {
			return nil, err
		}
		out.Body.Certificates = append(out.Body.Certificates, issued.Record(s.PublicURL))
	}
	out.Body.NextBefore = view.NullIfEmpty(next)
	return out, nil
}
