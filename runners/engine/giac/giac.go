package giac

import (
	"context"
	_ "embed"
	"iter"
	"time"

	"reckon/domain/expression"
	"reckon/domain/tidy"
	"reckon/runners/engine"
)

//go:embed python/giac.py
var program []byte

//go:embed requirements.txt
var requirements []byte

// Packages is what the engine runs from.
var Packages = engine.Packages{
	Name: "giac", Requirements: requirements, DownloadBytes: 43_000_000, DiskBytes: 190_000_000,
	Check: "import ctypes, glob, sysconfig; f = ctypes.CDLL(sum((glob.glob(sysconfig.get_path('platlib') + p) for p in " +
		"('/passagemath_giac.libs/libgiac*', '/passagemath_giac/.dylibs/libgiac*', '/*/.dylibs/libgiac*')), [])[0]).caseval; " +
		"f.restype = ctypes.c_char_p; assert f(b'1+1') == b'2'",
}

// Options of Start. The zero value of each means its default.
type Options struct {
	Environment string // folder made of Packages
	Sandbox     engine.Sandbox
	Idle        int   // workers kept forked and waiting
	MemoryBytes int64 // of one question, beyond the warmed program; default 512 MiB
}

// Engine asks Giac. It holds no state between questions: each has a process of its own.
type Engine struct{ engine.Stateless }

// Start starts Giac behind the walls of the first engine. Its library is loaded before they close.
func Start(ctx context.Context, options Options) (*Engine, error) {
	if options.MemoryBytes == 0 {
		options.MemoryBytes = 512 << 20
	}
	started, err := engine.StartStateless(ctx, engine.Program{
		Name: "giac", Python: engine.Python(options.Environment), Source: program, Sandbox: options.Sandbox, Idle: options.Idle, Threads: true,
		Limits: engine.Limits{MemoryBytes: options.MemoryBytes, CPUSeconds: 600, RequestBytes: 1 << 20, ReplyBytes: 1 << 20},
	})
	if err != nil {
		return nil, err
	}
	return &Engine{started}, nil
}

// Probe is a question to try it with, and the answer.
func (e *Engine) Probe() (question *expression.Expr, answer string) {
	call, x := expression.NewCall, expression.Sym("x")
	root := call("Sqrt", call("Plus", expression.Int(1), call("Times", expression.Int(-1), call("Power", x, expression.Int(2)))))
	return call("Integrate", root, x), "x*Sqrt[1 - x^2]/2 + ArcSin[x]/2"
}

// Knows tells whether the table has the function that a question calls.
func (e *Engine) Knows(head string) bool { return questions[head] != nil }

// Answers asks a question, which is a call of a function that it Knows, in the ways that the table has for it, each within the processor time. It yields an answer
// of each way, tidied, or why it gave none: *engine.UntranslatableError, *engine.UnreadableError, engine.ErrNoAnswer, engine.ErrBudgetExhausted, *engine.FailedError, the
// context's. Whoever stops early leaves the later ways unasked.
func (e *Engine) Answers(ctx context.Context, question *expression.Expr, processor time.Duration) iter.Seq2[*expression.Expr, error] {
	return func(yield func(*expression.Expr, error) bool) {
		ways, err := waysOf(question)
		if err != nil {
			yield(nil, err)
			return
		}
		for _, way := range ways {
			answers, err := e.ask(ctx, way, processor)
			if err != nil && !yield(nil, err) {
				return
			}
			for _, answer := range answers {
				if !yield(tidy.Formula(answer), nil) {
					return
				}
			}
		}
	}
}

// ask puts one way of a question in a process of its own.
func (e *Engine) ask(ctx context.Context, w way, processor time.Duration) ([]*expression.Expr, error) {
	text, err := e.evaluate(ctx, w.before, w.text, processor)
	if err != nil {
		return nil, err
	}
	return w.answers(text)
}

// evaluate is what Giac prints of a text, after the statements before it.
func (e *Engine) evaluate(ctx context.Context, before []string, text string, processor time.Duration) (string, error) {
	var reply struct{ Text string }
	request := map[string]any{"before": append([]string{}, before...), "text": text, "processor_ms": processor.Milliseconds()}
	if err := e.Ask(ctx, processor, request, &reply); err != nil {
		return "", err
	}
	return reply.Text, nil
}
