package commands

import (
	"context"
	"crypto/sha256"
	"encoding/hex"

	"reckon/domain/receipt"
	"reckon/domain/run"
)

// seal makes the receipt of an answer, with the key that seals now (receipt.ErrCannotSign). Long canonical
// bytes are durable as a blob when it returns.
func (ev *Evaluator) seal(ctx context.Context, a admitted, c computation) (Computed, error) {
	signer, err := patiently(ctx, ev.config.Signer)
	if err != nil {
		return Computed{}, err
	}
	seal, err := receipt.SealJSON(receiptOf(a, c), signer)
	if err != nil {
		return Computed{}, err
	}
	canonical, err := storeText(ctx, ev.config.Blobs, string(seal.Canonical))
	if err != nil {
		return Computed{}, err
	}
	sealed := run.Sealed{RunID: c.runID, ReceiptID: seal.ID, Canonical: canonical, Signature: seal.Signature, KID: seal.KID, UnsignedReason: seal.UnsignedReason}
	return Computed{
		runID:  c.runID,
		record: run.Record{Evaluated: c.evaluated, Sealed: sealed},
		answer: Evaluation{RunID: c.runID, Result: c.outcome.Result, Stdout: c.outcome.Stdout, Run: c.evaluated, Suggestions: c.slips},
	}, nil
}

// receiptOf returns the record of an answer's receipt.
func receiptOf(a admitted, c computation) receipt.Record {
	e := c.evaluated
	stdout := sha256.Sum256([]byte(c.outcome.Stdout))
	record := receipt.Record{
		V: receipt.Version, RunID: e.RunID, Account: e.Account, Expression: a.Expression, Answer: c.outcome.Result, Status: e.Status,
		StdoutSHA256: hex.EncodeToString(stdout[:]), Warnings: e.Warnings, Engine: receipt.Engine(e.Engine),
		Source: e.Source, EvaluatedAt: e.EvaluatedAt,
	}
	if record.Warnings == nil {
		record.Warnings = []string{}
	}
	if e.Check != nil {
		record.Verification = &receipt.Verification{Verdict: e.Check.Verdict, Basis: e.Check.Basis, Method: e.Check.Method}
	}
	if e.SessionID != "" {
		record.SessionID = &e.SessionID
	}
	return record
}
