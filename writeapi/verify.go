package writeapi

import (
	"context"
	"net/http"

	"reckon/commands"
	"reckon/domain/run"
	"reckon/internal/httpkit"
	"reckon/internal/view"
)

// verifyInput is interface §2.4.
type verifyInput struct {
	Body struct {
		RunID  *int64  `json:"run_id,omitempty" minimum:"1" maximum:"9007199254740991" doc:"A run of yours. Preferred form; then nothing else"`
		Code   *string `json:"code,omitempty" doc:"The original expression, when no run_id is held"`
		Result *string `json:"result,omitempty" doc:"The answer to check, when no run_id is held"`
	}
}

// verifyOutput is interface §2.5.
type verifyOutput struct {
	Body struct {
		Verdict   run.Verdict             `json:"verdict" enum:"verified,refuted,inconclusive" doc:"inconclusive: nothing was learned"`
		Basis     *run.Basis              `json:"basis" enum:"exact,numeric,cross_check" doc:"What the verdict rests on. exact: symbolic computation. numeric: values at sample points. cross_check: another way to the same answer. Null when nothing was learned"`
		Method    *string                 `json:"method" doc:"Name of the verification rule; null when no rule covers the expression"`
		Check     *string                 `json:"check" doc:"The expression evaluated for the check; null when none was"`
		Residual  *string                 `json:"residual" doc:"What it returned; null when none was evaluated"`
		Reason    *run.InconclusiveReason `json:"reason" enum:"cross_check_agrees,no_check_for_head,no_check_for_shape,answer_not_usable,simplify_did_not_reduce,check_timed_out,check_engine_error,check_not_permitted" doc:"Why nothing was learned; null with a verdict"`
		ElapsedMS int64                   `json:"elapsed_ms" doc:"Time the check took, in milliseconds"`
	}
}

func (s Services) registerVerify(api *httpkit.API) {
	httpkit.Handle(api, httpkit.Route{
		Method: http.MethodPost, Path: "/api/verify", ID: "verify", Tag: "Evaluation", Summary: "Check an answer independently",
		Description: "Either run_id alone, or code and result together. A check counts as an evaluation against the limit per minute.",
		Limit:       s.perMinute(), ReturnsToken: true, Errors: problems,
		EitherFields:      []httpkit.EitherFields{{Name: "VerifyRun", Fields: []string{"run_id"}}, {Name: "VerifyAnswer", Fields: []string{"code", "result"}}},
		MissingFieldKinds: map[string]httpkit.Kind{"code": httpkit.VerifyInput, "result": httpkit.VerifyInput},
		Kinds:             []httpkit.Kind{httpkit.VerifyInput, httpkit.NoSuchRun, httpkit.TooMany, httpkit.Saturated, httpkit.Unavailable},
	}, s.verify)
}

func (s Services) verify(ctx context.Context, in *verifyInput) (*verifyOutput, error) {
	command, err := verifyCommand(in)
	if err != nil {
		return nil, err
	}
	if err := command.Validate(); err != nil {
		return nil, err
	}
	intent := s.intent(ctx)
	var checked commands.Verification
	err = s.withinLimits(ctx, s.plan(ctx), commands.MaxCheckSteps.Processor(), func() (err error) {
		checked, err = s.Verify(ctx, intent, command)
		return err
	})
	if err != nil {
		return nil, explainSaturation(err)
	}
	s.announceWrite(ctx, intent.Account, checked.Position)
	out := &verifyOutput{}
	out.Body.Verdict, out.Body.ElapsedMS = checked.Verdict, checked.ElapsedMS
	out.Body.Basis, out.Body.Method = view.NullIfEmpty(checked.Basis), view.NullIfEmpty(checked.Method)
	out.Body.Check, out.Body.Residual = view.NullIfEmpty(checked.Check.Check), view.NullIfEmpty(checked.Residual)
	if !checked.Conclusive() {
		out.Body.Reason = view.NullIfEmpty(checked.Reason)
	}
	return out, nil
}

// verifyCommand refuses a request of the wrong form before it counts against the
// limit per minute.
func verifyCommand(in *verifyInput) (commands.Verify, error) {
	body := in.Body
	switch {
	case body.RunID != nil && body.Code == nil && body.Result == nil:
		return commands.Verify{RunID: *body.RunID}, nil
	case body.RunID == nil && body.Code != nil && body.Result != nil:
		return commands.Verify{Code: *body.Code, Result: *body.Result}, nil
	}
	return commands.Verify{}, commands.ErrInvalidVerifyRequest
}
