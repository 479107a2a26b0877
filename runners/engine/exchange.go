package engine

import "reckon/domain/expression"

// exchange is what was asked of the engine and what came back, as texts and read. The service's parser reads less than the engine does.
type exchange struct {
	code, inputForm string
	messages        []string           // what the engine said, each once
	inputs          []*expression.Expr // nil: the code cannot be read
	output          *expression.Expr   // nil: the answer cannot be read
}

func readExchange(code, inputForm string, messages []string) exchange {
	x := exchange{code: code, inputForm: inputForm, messages: messages}
	if inputs, err := expression.ParseAll(code); err == nil {
		x.inputs = inputs
	}
	if output, err := expression.Parse(inputForm); err == nil {
		x.output = output
	}
	return x
}

// isRead tells whether both sides could be read, and something was asked.
func (x exchange) isRead() bool { return len(x.inputs) > 0 && x.output != nil }

// last is the expression whose value was answered; only where isRead.
func (x exchange) last() *expression.Expr { return x.inputs[len(x.inputs)-1] }
