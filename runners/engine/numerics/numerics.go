package numerics

import (
	"context"
	_ "embed"
	"iter"
	"strconv"
	"strings"
	"time"

	"reckon/domain/expression"
	"reckon/domain/verification"
	"reckon/runners/engine"
)

//go:embed python/numerics.py
var program []byte

//go:embed requirements.txt
var requirements []byte

const name = "mpmath"

// Packages is what the engine runs from.
var Packages = engine.Packages{
	Name: name, Requirements: requirements, DownloadBytes: 1_000_000, DiskBytes: 12_000_000, Check: "import mpmath; assert mpmath.mpf(1) + 1 == 2",
}

// Engine asks mpmath. It holds no state between questions: each has a process of its own.
type Engine struct{ engine.Stateless }

// Start starts it in an environment made of Packages.
func Start(ctx context.Context, environment string, sandbox engine.Sandbox) (*Engine, error) {
	started, err := engine.StartStateless(ctx, engine.Program{
		Name: name, Python: engine.Python(environment), Source: program, Sandbox: sandbox,
		Limits: engine.Limits{MemoryBytes: 256 << 20, CPUSeconds: 600, RequestBytes: 1 << 20, ReplyBytes: 64 << 10},
	})
	if err != nil {
		return nil, err
	}
	return &Engine{started}, nil
}

// Probe is a question to try it with, and the answer.
func (e *Engine) Probe() (question *expression.Expr, answer string) {
	return expression.NewCall("N", expression.NewCall("Zeta", expression.Int(3)), expression.Int(20)), "1.2020569031595942854"
}

// Knows tells whether it can be asked about calls of a function.
func (e *Engine) Knows(head string) bool {
	return head == "N" || head == "NSum" || head == "NIntegrate"
}

// machineDigits are those of a machine number.
const machineDigits = 16

// request is what the program reads.
type request struct {
	Op          string  `json:"op"`
	Digits      int     `json:"digits"`
	Tree        any     `json:"tree"`
	Ranges      [][]any `json:"ranges"`
	Waves       any     `json:"waves,omitempty"` // the speed of the waves in an integrand
	ProcessorMS int64   `json:"processor_ms"`
}

// Answers asks a question within the processor time. It yields the one answer, or why there is none: *engine.UntranslatableError, engine.ErrNoAnswer,
// engine.ErrBudgetExhausted, *engine.FailedError, the context's.
func (e *Engine) Answers(ctx context.Context, question *expression.Expr, processor time.Duration) iter.Seq2[*expression.Expr, error] {
	return func(yield func(*expression.Expr, error) bool) { yield(e.answer(ctx, question, processor)) }
}

func (e *Engine) answer(ctx context.Context, question *expression.Expr, processor time.Duration) (*expression.Expr, error) {
	r, err := requestOf(question)
	if err != nil {
		return nil, err
	}
	r.ProcessorMS = processor.Milliseconds()
	var reply struct {
		Number  []string
		Refused string
	}
	switch err := e.Ask(ctx, processor, r, &reply); {
	case err != nil:
		return nil, err
	case len(reply.Number) != 2:
		return nil, engine.ErrNoAnswer
	}
	return number(reply.Number[0], reply.Number[1], r.Digits)
}

// requestOf translates a question. Its error is an *engine.UntranslatableError.
func requestOf(question *expression.Expr) (r request, err error) {
	refused := &engine.UntranslatableError{Engine: name, Part: question.HeadName() + " of these arguments"}
	args := question.Args
	r = request{Op: question.HeadName(), Digits: machineDigits, Ranges: [][]any{}}
	if question.Kind != expression.Call || len(args) == 0 {
		return r, refused
	}
	r.Tree = verification.Wire(args[0])
	if r.Op == "N" {
		if len(args) == 2 {
			if r.Digits, err = strconv.Atoi(args[1].Text); err != nil || args[1].Kind != expression.Integer {
				return r, refused
			}
		}
		if len(args) > 2 || holdsPrecision(args[0]) {
			return r, refused
		}
		return r, nil
	}
	if len(args) != 2 || !args[1].IsCall("List") || len(args[1].Args) != 3 || args[1].Args[0].Kind != expression.Symbol || holdsPrecision(args[0]) {
		return r, refused
	}
	variable := args[1].Args[0]
	r.Ranges = [][]any{{variable.Text, verification.Wire(args[1].Args[1]), verification.Wire(args[1].Args[2])}}
	if speed := waves(args[0], variable); speed != nil {
		r.Waves = verification.Wire(speed)
	}
	return r, nil
}

// holdsPrecision tells whether a number in e states its own precision.
func holdsPrecision(e *expression.Expr) bool {
	found := false
	e.Walk(func(part *expression.Expr) bool {
		found = found || part.Kind == expression.Real && strings.Contains(part.Text, "`")
		return !found
	})
	return found
}

// waves is w of the one Sin[w x] or Cos[w x] in an integrand; nil where there is none, or several.
func waves(e, variable *expression.Expr) *expression.Expr {
	var speeds []*expression.Expr
	e.Walk(func(part *expression.Expr) bool {
		if (part.IsCall("Sin") || part.IsCall("Cos")) && len(part.Args) == 1 {
			inner := part.Args[0]
			switch {
			case inner.Equal(variable):
				speeds = append(speeds, expression.Int(1))
			case inner.IsCall("Times") && len(inner.Args) == 2 && inner.Args[1].Equal(variable) && inner.Args[0].FreeOf(variable):
				speeds = append(speeds, inner.Args[0])
			}
		}
		return true
	})
	if len(speeds) != 1 {
		return nil
	}
	return speeds[0]
}

// number is re + im I of decimals as the program writes them. Zeros at the end are digits where there are more than a machine number has.
func number(re, im string, digits int) (*expression.Expr, error) {
	made := make([]*expression.Expr, 2)
	for i, text := range []string{re, im} {
		mantissa, exponent, has := strings.Cut(text, "e")
		if digits <= machineDigits && strings.Contains(mantissa, ".") {
			mantissa = strings.TrimRight(mantissa, "0")
		}
		if !strings.Contains(mantissa, ".") {
			mantissa += "."
		}
		if has {
			mantissa += "*^" + strings.TrimPrefix(exponent, "+")
		}
		read, err := expression.Parse(mantissa)
		if err != nil || read.Kind != expression.Real {
			return nil, &engine.UnreadableError{Engine: name, Why: "its number is none"}
		}
		made[i] = read
	}
	zero := func(text string) bool { return strings.Trim(text, "0.") == "" }
	switch {
	case zero(im):
		return made[0], nil
	case zero(re):
		return expression.NewCall("Times", made[1], expression.Sym("I")), nil
	}
	return expression.NewCall("Plus", made[0], expression.NewCall("Times", made[1], expression.Sym("I"))), nil
}
