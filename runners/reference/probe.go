package reference

import (
	"context"
	"fmt"
	"strings"
	"time"

	"reckon/domain/expression"
	"reckon/domain/reference"
)

// Names asks the engine for the names that it lists, in its order.
func (r Runner) Names(ctx context.Context) ([]string, error) {
	list, err := r.list(ctx, `Names["*"]`)
	if err != nil {
		return nil, err
	}
	names := make([]string, len(list))
	for i, name := range list {
		names[i] = name.Text
	}
	return names, nil
}

// list evaluates what answers a list.
func (r Runner) list(ctx context.Context, code string) ([]*expression.Expr, error) {
	ran, err := r.evaluate(ctx, code)
	if err != nil {
		return nil, err
	}
	tree, err := expression.Parse(ran.Answer.InputForm)
	if ran.Refused != "" || err != nil || !tree.IsCall("List") {
		return nil, fmt.Errorf("%.60s answers no list: %.200s %w", code, ran.Refused, err)
	}
	return tree.Args, nil
}

// probeCalls tell whether the engine implements a function and whether it may be used here. What they answer is no example.
const probeCalls = `{%[1]s[], %[1]s[%[2]q], %[1]s[%[2]q, %[2]q]}`

// probe finds out what calls of a name tell. A name that is no function's, or stops what evaluates it, is the engine's all the same.
func (r Runner) probe(ctx context.Context, name string) (probed reference.Probed, outOfTime bool, err error) {
	probed.Name = name
	ran, err := r.evaluate(ctx, fmt.Sprintf(probeCalls, name, reference.ProbeFile))
	if err == nil {
		probed.Learn(ran)
	}
	return probed, ran.OutOfTime, err
}

// Probe finds out what is known of names without an example, in order. done is told of each, on any goroutine.
func (b *Bench) Probe(ctx context.Context, names []string, done func()) ([]reference.Probed, error) {
	attributes, err := b.attributes(ctx, names)
	if err != nil {
		return nil, err
	}
	all := make([]reference.Probed, len(names))
	err = b.eachInTime(ctx, len(names), probeBudget, done, func(ctx context.Context, r Runner, i int) (outOfTime bool, err error) {
		all[i], outOfTime, err = r.probe(ctx, names[i])
		all[i].Attributes = attributes[i]
		return outOfTime, err
	})
	return all, err
}

// probeBudget bounds what a probe may take: what takes longer is implemented.
const probeBudget = 5 * time.Second

// attributesAtATime bounds how many names one evaluation asks the attributes of.
const attributesAtATime = 500

// attributes asks the engine for the attributes of names, in order.
func (r Runner) attributes(ctx context.Context, names []string) ([][]string, error) {
	all := make([][]string, 0, len(names))
	for start := 0; start < len(names); start += attributesAtATime {
		some := names[start:min(start+attributesAtATime, len(names))]
		list, err := r.list(ctx, "{Attributes["+strings.Join(some, "], Attributes[")+"]}")
		if err != nil {
			return nil, err
		}
		if len(list) != len(some) {
			return nil, fmt.Errorf("the attributes of %d names came for %d", len(list), len(some))
		}
		for _, one := range list {
			attributes := []string{}
			for _, attribute := range one.Args {
				attributes = append(attributes, attribute.Text)
			}
			all = append(all, attributes)
		}
	}
	return all, nil
}
