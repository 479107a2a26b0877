package readapi

import (
	"context"
	"encoding/json"
	"net/http"
	"reflect"

	"github.com/danielgtaylor/huma/v2"

	"reckon/domain/event"
	"reckon/domain/receipt"
	"reckon/domain/run"
	"reckon/internal/auth"
	"reckon/internal/httpkit"
)

// canonicalRecord is served as the very bytes that were signed.
type canonicalRecord struct{ json.RawMessage }

// Schema describes them as what they say.
func (canonicalRecord) Schema(r huma.Registry) *huma.Schema {
	return r.Schema(reflect.TypeFor[receipt.Record](), true, "ReceiptRecord")
}

// receiptOutput is spec §2.6.
type receiptOutput struct {
	Body struct {
		Record         canonicalRecord `json:"record"`
		ID             string          `json:"id" doc:"SHA-256 of canonical_form, hexadecimal"`
		CanonicalForm  string          `json:"canonical_form" doc:"The record with keys sorted, no whitespace and non-ASCII characters escaped: what was hashed and signed"`
		Signature      *string         `json:"signature" doc:"Ed25519 over the bytes of canonical_form, base64; null on a deployment without a signing key"`
		UnsignedReason string          `json:"unsigned_reason,omitempty" doc:"Why there is no signature"`
		KID            *string         `json:"kid" doc:"The signing key in the key set"`
		KeysURL        string          `json:"keys_url"`
		ReceiptURL     string          `json:"receipt_url"`
	}
}

type plotOutput struct {
	ContentType string `header:"Content-Type"`
	Policy      string `header:"Content-Security-Policy"`
	Body        []byte
}

// plotPolicy makes a plot that is opened by itself as inert as one in <img>.
const plotPolicy = "default-src 'none'; style-src 'unsafe-inline'; font-src data:; sandbox; frame-ancestors 'none'"

func (s Services) registerReceipts(api *httpkit.API) {
	httpkit.Handle(api, httpkit.Route{
		Method: http.MethodGet, Path: "/api/receipts/{id}", ID: "get-receipt", Tag: "Evaluation", Summary: "The signed receipt of a run",
		Description: "To verify it offline: serialize record canonically, compare with canonical_form, hash it, compare with id, check the signature with the key named by kid.",
		Access:      httpkit.Bearer, Scope: "receipts:read",
		Kinds: []httpkit.Kind{httpkit.NoSuchRun, httpkit.NoReceipt, httpkit.Unavailable},
	}, s.receipt)
}

func (s Services) registerPlots(api *httpkit.API) {
	httpkit.Handle(api, httpkit.Route{
		Method: http.MethodGet, Path: "/api/plots/{id}", ID: "get-plot", Tag: "Evaluation", Summary: "The graphic of a run",
		Access: httpkit.Bearer, Scope: "history:read", ContentType: "image/svg+xml",
		Kinds: []httpkit.Kind{httpkit.NoSuchRun, httpkit.NoPlot, httpkit.Unavailable},
	}, s.plot)
}

func (s Services) receipt(ctx context.Context, in *runIDInput) (*receiptOutput, error) {
	state, err := s.run(ctx, in.ID)
	if err != nil {
		return nil, err
	}
	if state.Sealed == nil {
		return nil, httpkit.NoReceipt.Problem("run %d ended without an answer, so it has no receipt", in.ID)
	}
	canonical, err := s.text(ctx, state.Sealed.Canonical)
	if err != nil {
		return nil, err
	}
	seal := receipt.Seal{
		Canonical: []byte(canonical), ID: state.Sealed.ReceiptID,
		Signature: state.Sealed.Signature, KID: state.Sealed.KID, UnsignedReason: state.Sealed.UnsignedReason,
	}
	e := seal.Envelop(s.PublicURL+keysPath, s.PublicURL+receiptURL(in.ID))
	out := &receiptOutput{}
	out.Body.Record = canonicalRecord{e.Record}
	out.Body.ID, out.Body.CanonicalForm, out.Body.Signature = e.ID, e.CanonicalForm, e.Signature
	out.Body.UnsignedReason, out.Body.KID = e.UnsignedReason, e.KID
	out.Body.KeysURL, out.Body.ReceiptURL = e.KeysURL, e.ReceiptURL
	return out, nil
}

func (s Services) plot(ctx context.Context, in *runIDInput) (*plotOutput, error) {
	state, err := s.run(ctx, in.ID)
	if err != nil {
		return nil, err
	}
	if state.Evaluated == nil || state.Evaluated.Plot == nil {
		return nil, httpkit.NoPlot.Problem("no graphic was stored for run %d", in.ID)
	}
	svg, err := s.Blobs.Get(ctx, *state.Evaluated.Plot)
	if err != nil {
		return nil, err
	}
	return &plotOutput{ContentType: "image/svg+xml", Policy: plotPolicy, Body: svg}, nil
}

// run is a run of the caller; another account's is not found.
func (s Services) run(ctx context.Context, id int64) (run.State, error) {
	history, err := s.Streams(ctx, run.Stream(id))
	if err != nil {
		return run.State{}, err
	}
	state := run.Decider.Fold(domainEvents(history))
	if !state.Exists() || state.Subject().Account != auth.Caller(ctx).Account {
		return run.State{}, httpkit.NoSuchRun.Problem("your account has no run %d", id)
	}
	return state, nil
}

// text is the string of a Text.
func (s Services) text(ctx context.Context, t event.Text) (string, error) {
	if t.Blob == nil {
		return t.Inline, nil
	}
	content, err := s.Blobs.Get(ctx, *t.Blob)
	return string(content), err
}
