// Command story is the README's story told by a client that oapi-codegen made of openapi.json. It takes the address of a service,
// and ends with status 1 at the first answer that is not as expected.
package main

import (
	"context"
	"crypto/ed25519"
	"encoding/base64"
	"errors"
	"fmt"
	"net/http"
	"net/http/cookiejar"
	"os"

	"story/reckon"
)

func main() {
	if err := tell(context.Background(), os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	fmt.Println("the story is told")
}

func tell(ctx context.Context, address string) error {
	token, err := signIn(ctx, address)
	if err != nil {
		return err
	}
	client, err := reckon.NewClientWithResponses(address, reckon.WithRequestEditorFn(func(_ context.Context, r *http.Request) error {
		r.Header.Set("Authorization", "Bearer "+token)
		return nil
	}))
	if err != nil {
		return err
	}
	runID, written, err := evaluate(ctx, client)
	if err != nil {
		return err
	}
	for _, step := range []func() error{
		func() error { return refused(ctx, client) },
		func() error { return verify(ctx, client, runID) },
		func() error { return receipt(ctx, client, runID) },
		func() error { return circuit(ctx, client) },
		func() error { return history(ctx, client, runID, written) },
	} {
		if err := step(); err != nil {
			return err
		}
	}
	return nil
}

// signIn opens an account and a browser session, and mints a token with it.
func signIn(ctx context.Context, address string) (token string, err error) {
	jar, err := cookiejar.New(nil)
	if err != nil {
		return "", err
	}
	browser, err := reckon.NewClientWithResponses(address, reckon.WithHTTPClient(&http.Client{Jar: jar}))
	if err != nil {
		return "", err
	}
	const email, password = "go@example.com", "correct horse battery"
	registered, err := browser.RegisterWithResponse(ctx, reckon.CredentialsInputBody{Email: email, Password: password})
	if err != nil || registered.JSON200 == nil {
		return "", fmt.Errorf("register: %v %v", err, registered)
	}
	login, err := browser.LoginWithResponse(ctx, reckon.SignInInputBody{Email: email, Password: password})
	if err != nil || login.JSON200 == nil || login.JSON200.UserId != registered.JSON200.UserId {
		return "", fmt.Errorf("login: %v %v", err, login)
	}
	minted, err := browser.MintTokenWithResponse(ctx, reckon.MintInputBody{Name: "story"})
	if err != nil || minted.JSON200 == nil {
		return "", fmt.Errorf("mint: %v %v", err, minted)
	}
	return minted.JSON200.Token, nil
}

func evaluate(ctx context.Context, client *reckon.ClientWithResponses) (runID int64, written string, err error) {
	answer, err := client.EvaluateWithResponse(ctx, reckon.EvaluateInputBody{Expression: "Integrate[x^2 Sin[x], x]"})
	if err != nil {
		return 0, "", err
	}
	e := answer.JSON200
	if e == nil || e.RunId == nil || e.Status != reckon.EvaluationStatusSuccess || e.Verification == nil || e.Verification.Verdict != reckon.VerificationVerdictVerified {
		return 0, "", fmt.Errorf("evaluate: %s", answer.Body)
	}
	if h := answer.Headers200; h == nil || h.XRateLimitRemaining == nil || *h.XRateLimitRemaining < 0 || h.ConsistencyToken == nil {
		return 0, "", fmt.Errorf("evaluate: headers %+v", answer.HTTPResponse.Header)
	}
	return *e.RunId, *answer.Headers200.ConsistencyToken, nil
}

// refused reads a problem by its code.
func refused(ctx context.Context, client *reckon.ClientWithResponses) error {
	answer, err := client.EvaluateWithResponse(ctx, reckon.EvaluateInputBody{Expression: " "})
	if err != nil {
		return err
	}
	if p := answer.ApplicationproblemJSON400; p == nil || p.Code != reckon.ProblemCodeExpressionRequired {
		return fmt.Errorf("an empty expression: %s", answer.Body)
	}
	return nil
}

func verify(ctx context.Context, client *reckon.ClientWithResponses, runID int64) error {
	var run, pair reckon.VerifyInputBody
	if err := run.FromVerifyRun(reckon.VerifyRun{RunId: runID}); err != nil {
		return err
	}
	if err := pair.FromVerifyAnswer(reckon.VerifyAnswer{Code: "Integrate[x, x]", Result: "x^2"}); err != nil {
		return err
	}
	for _, c := range []struct {
		body reckon.VerifyInputBody
		want reckon.VerifyOutputBodyVerdict
	}{{run, reckon.VerifyOutputBodyVerdictVerified}, {pair, reckon.VerifyOutputBodyVerdictRefuted}} {
		answer, err := client.VerifyWithResponse(ctx, c.body)
		if err != nil {
			return err
		}
		if answer.JSON200 == nil || answer.JSON200.Verdict != c.want {
			return fmt.Errorf("verify: %s, want %s", answer.Body, c.want)
		}
	}
	return nil
}

// receipt checks the signature of the run's receipt with the published key.
func receipt(ctx context.Context, client *reckon.ClientWithResponses, runID int64) error {
	answer, err := client.GetReceiptWithResponse(ctx, runID)
	if err != nil {
		return err
	}
	r := answer.JSON200
	if r == nil || r.Kid == nil || r.Signature == nil || r.Record.RunId != runID {
		return fmt.Errorf("receipt: %s", answer.Body)
	}
	keys, err := client.ServiceKeysWithResponse(ctx, nil)
	if err != nil || keys.JSON200 == nil {
		return fmt.Errorf("keys: %v %v", err, keys)
	}
	for _, key := range keys.JSON200.Keys {
		public, err := base64.RawURLEncoding.DecodeString(key.X)
		if err == nil && key.Kid == *r.Kid && ed25519.Verify(public, []byte(r.CanonicalForm), *r.Signature) {
			return nil
		}
	}
	return fmt.Errorf("no key verifies the receipt %s", answer.Body)
}

func circuit(ctx context.Context, client *reckon.ClientWithResponses) error {
	shots, seed := int64(1000), int64(7)
	gates, err := bell()
	if err != nil {
		return err
	}
	var input reckon.CircuitInput
	if err := input.FromCircuitGatesInput(reckon.CircuitGatesInput{Qubits: 2, Shots: &shots, Seed: &seed, Gates: gates}); err != nil {
		return err
	}
	var byKind reckon.JobSubmissionByKind
	if err := byKind.FromQsimSubmission(reckon.QsimSubmission{Circuit: input}); err != nil {
		return err
	}
	var submission reckon.JobSubmission
	if err := submission.FromJobSubmissionByKind(byKind); err != nil {
		return err
	}
	submitted, err := client.SubmitJobWithResponse(ctx, nil, submission)
	if err != nil {
		return err
	}
	if submitted.JSON200 == nil {
		return fmt.Errorf("submit: %s", submitted.Body)
	}
	queued, err := submitted.JSON200.AsQsimJobReceipt()
	if err != nil {
		return err
	}
	wait := int64(20_000)
	answer, err := client.GetJobWithResponse(ctx, queued.JobId, &reckon.GetJobParams{WaitMs: &wait})
	if err != nil || answer.JSON200 == nil {
		return fmt.Errorf("job: %v %v", err, answer)
	}
	ended, err := answer.JSON200.ValueByDiscriminator()
	if err != nil {
		return err
	}
	job, of := ended.(reckon.QsimJob)
	if !of || job.Status != reckon.QsimJobStatusSucceeded || job.Result == nil || job.Result.Counts["00"]+job.Result.Counts["11"] != shots || job.Result.Seed != seed {
		return fmt.Errorf("job: %s", answer.Body)
	}
	return nil
}

// bell entangles two qubits; the second gate stands in a block that a measured 0 lets run.
func bell() ([]reckon.CircuitEntryInput, error) {
	qubit := func(n int64) (target reckon.CircuitGateInput_Target) {
		_ = target.FromCircuitGateInputTarget0(n)
		return target
	}
	zero, one := qubit(0), qubit(1)
	var both reckon.CircuitGateInput_Targets
	var control reckon.CircuitGateInput_Control
	var which reckon.CircuitMeasuredInput_Measured
	var condition reckon.CircuitConditionInput
	var measure, hadamard, cnot, measureAgain, block reckon.CircuitEntryInput
	equals := int64(0)
	err := errors.Join(
		both.FromCircuitGateInputTargets1([]int64{0, 1}),
		control.FromCircuitGateInputControl0(0),
		measure.FromCircuitGateInput(reckon.CircuitGateInput{Gate: reckon.CircuitGateInputGateMeasure, Target: &one}),
		hadamard.FromCircuitGateInput(reckon.CircuitGateInput{Gate: reckon.CircuitGateInputGateH, Target: &zero}),
		cnot.FromCircuitGateInput(reckon.CircuitGateInput{Gate: reckon.CircuitGateInputGateCx, Control: &control, Target: &one}),
		measureAgain.FromCircuitGateInput(reckon.CircuitGateInput{Gate: reckon.CircuitGateInputGateMeasure, Targets: &both}),
		which.FromCircuitMeasuredInputMeasured0(1),
		condition.FromCircuitMeasuredInput(reckon.CircuitMeasuredInput{Measured: which, Equals: &equals}),
	)
	if err != nil {
		return nil, err
	}
	err = block.FromCircuitIfInput(reckon.CircuitIfInput{If: condition, Then: []reckon.CircuitEntryInput{cnot, measureAgain}})
	return []reckon.CircuitEntryInput{measure, hadamard, block}, err
}

func history(ctx context.Context, client *reckon.ClientWithResponses, runID int64, written string) error {
	limit := int64(1)
	answer, err := client.ListHistoryWithResponse(ctx, &reckon.ListHistoryParams{Limit: &limit, ConsistencyToken: &written})
	if err != nil || answer.JSON200 == nil {
		return fmt.Errorf("history: %v %v", err, answer)
	}
	for _, row := range answer.JSON200.Runs {
		if row.RunId == runID && row.Verification != nil && row.Verification.Verdict == reckon.HistoryCheckVerdictVerified {
			return nil
		}
	}
	return fmt.Errorf("history without run %d: %s", runID, answer.Body)
}
