package view

import (
	"context"
	"errors"

	"reckon/domain/certificate"
	"reckon/domain/event"
	"reckon/domain/job"
	"reckon/domain/run"
	"reckon/domain/slips"
)

// Answers reads what ended jobs answer.
type Answers struct {
	Catalogue event.Catalogue
	Blobs     event.BlobReader
}

// Of returns the rendered answer of an outcome and the JSON of its structured result, each empty without one (interface §3.1). The answer of a
// job that publishes a run or a certificate follows from that. Its errors are those of the blobs, or say that a text of the log is not JSON.
func (a Answers) Of(ctx context.Context, o job.Outcome) (output, result string, err error) {
	if len(o.Publish) == 0 {
		return a.stored(ctx, o)
	}
	first := o.Publish[0]
	published, err := a.Catalogue.Decode(first.Name, first.Version, first.Data)
	if err != nil {
		return "", "", err
	}
	var structured any
	switch e := published.(type) {
	case run.Evaluated:
		var v Evaluation
		v, err = a.evaluation(ctx, e)
		output, structured = v.Result, v
	case certificate.Issued:
		e, err = e.LoadFindings(ctx, a.Blobs)
		output, structured = e.Sentence(), e.Record("")
	default:
		return "", "", nil
	}
	if err != nil {
		return "", "", err
	}
	content, err := event.Marshal(structured)
	return output, string(content), err
}

func (a Answers) stored(ctx context.Context, o job.Outcome) (output, result string, err error) {
	output, noOutput := o.Output.Load(ctx, a.Blobs)
	result, noResult := o.Result.Load(ctx, a.Blobs)
	return output, result, errors.Join(noOutput, noResult)
}

func (a Answers) evaluation(ctx context.Context, e run.Evaluated) (Evaluation, error) {
	expression, noExpression := e.Expression.Load(ctx, a.Blobs)
	answer, noAnswer := e.Answer.Load(ctx, a.Blobs)
	var stdout string
	var noStdout error
	if e.Stdout != nil {
		stdout, noStdout = e.Stdout.Load(ctx, a.Blobs)
	}
	return EvaluationOf(e, answer, stdout, slips.Find(expression)), errors.Join(noExpression, noAnswer, noStdout)
}
