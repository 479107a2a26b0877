package readapi

import (
	"context"
	"net/http"

	"reckon/domain/event"
	"reckon/domain/run"
	"reckon/internal/auth"
	"reckon/internal/httpkit"
	"reckon/internal/view"
)

type receiptOutput struct {
	Body struct{ view.Receipt }
}

type plotOutput struct {
	ContentType string `header:"Content-Type"`
	Policy      string `header:"Content-Security-Policy"`
	Body        []byte
}

// plotPolicy is the Content-Security-Policy of a plot: opened as a document it may run and load nothing, as in
// <img>. Density plots and images hold their pixels as a picture of their own (data:).
const plotPolicy = "default-src 'none'; img-src data:; style-src 'unsafe-inline'; font-src data:; sandbox; frame-ancestors 'none'"

func (s Services) registerReceipts(api *httpkit.API) {
	httpkit.Handle(api, httpkit.Route{
		Method: http.MethodGet, Path: "/api/receipts/{id}", ID: "get-receipt", Tag: "Evaluation", Summary: "The signed receipt of a run",
		Description: "To verify it offline: serialize record canonically, compare with canonical_form, hash it, compare with id, check the signature with the key named by kid.",
		Kinds:       []httpkit.Kind{httpkit.NoSuchRun, httpkit.NoReceipt, httpkit.Unavailable},
	}, s.receipt)
}

func (s Services) registerPlots(api *httpkit.API) {
	httpkit.Handle(api, httpkit.Route{
		Method: http.MethodGet, Path: "/api/plots/{id}", ID: "get-plot", Tag: "Evaluation", Summary: "The graphic of a run",
		Description: "An SVG document without scripts, as it was stored with the run.",
		ContentType: "image/svg+xml",
		Kinds:       []httpkit.Kind{httpkit.NoSuchRun, httpkit.NoPlot, httpkit.Unavailable},
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
	answer, err := view.ReceiptOf(ctx, *state.Sealed, s.Blobs, s.PublicURL)
	if err != nil {
		return nil, err
	}
	out := &receiptOutput{}
	out.Body.Receipt = answer
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
	state := run.Decider.Fold(event.Events(history))
	if !state.Exists() || state.Subject().Account != auth.PrincipalOf(ctx).Account {
		return run.State{}, httpkit.NoSuchRun.Problem("your account has no run %d", id)
	}
	return state, nil
}
