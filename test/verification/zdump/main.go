package main

import (
	"encoding/json"
	"errors"
	"os"

	"reckon/domain/expression"
	"reckon/domain/verification"
	battery "reckon/test/verification"
)

func main() {
	out := json.NewEncoder(os.Stdout)
	out.SetEscapeHTML(false)
	residual := map[string]bool{}
	for _, rule := range verification.Rules() {
		_, is := rule.(verification.ResidualRule)
		residual[rule.Declare().Slug] = is
	}
	var pairs []battery.Pair
	if len(os.Args) > 1 {
		text, _ := os.ReadFile(os.Args[1])
		var in []struct {
			Rule, Input, Answer string
			Right               bool
		}
		if err := json.Unmarshal(text, &in); err != nil {
			panic(err)
		}
		for _, p := range in {
			pairs = append(pairs, battery.Pair{Rule: p.Rule, Input: p.Input, Answer: p.Answer, Right: p.Right})
		}
	} else {
		for _, f := range []func() ([]battery.Pair, error){battery.Battery, battery.Forms, battery.Independent, battery.Classes, battery.Stranger} {
			p, err := f()
			if err != nil {
				panic(err)
			}
			pairs = append(pairs, p...)
		}
	}
	for _, p := range pairs {
		row := map[string]any{"rule": p.Rule, "input": p.Input, "answer": p.Answer, "right": p.Right}
		in, err1 := expression.Parse(p.Input)
		ans, err2 := expression.Parse(p.Answer)
		if err1 != nil || err2 != nil {
			row["reason"] = "parse"
			_ = out.Encode(row)
			continue
		}
		plan, err := verification.Derive(in, ans)
		var none *verification.NoPlanError
		if errors.As(err, &none) {
			row["reason"] = none.Reason + ": " + none.Detail
		} else if err != nil {
			row["reason"] = err.Error()
		} else {
			row["task"] = plan.Task
			row["method"] = plan.Slug
			row["residual"] = residual[plan.Slug]
		}
		_ = out.Encode(row)
	}
}
