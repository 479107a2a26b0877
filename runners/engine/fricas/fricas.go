package fricas

import (
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"path/filepath"
	"slices"
	"time"

	"reckon/domain/expression"
	"reckon/domain/run"
	"reckon/domain/tidy"
	"reckon/runners/engine"
)

//go:embed python/fricas.py
var program []byte

//go:embed python/worker.lisp
var worker string

//go:embed requirements.txt
var requirements []byte

// Packages is what the engine runs from.
var Packages = engine.Packages{
	Name: "fricas", Requirements: requirements, DownloadBytes: 191_000_000, DiskBytes: 900_000_000,
	Check: "import glob, os, subprocess, sysconfig; p = sysconfig.get_path('platlib'); f = glob.glob(p + '/sage_wheels/lib/fricas/target/*')[0]; " +
		"e = {'FRICAS': f, 'ECLDIR': glob.glob(p + '/sage_wheels/lib/ecl-*')[0] + '/'}; " +
		"assert b'(1)  2' in subprocess.run([f + '/bin/FRICASsys'], input=b'1+1\\n)quit\\n', env=e, capture_output=True, check=True).stdout",
}

// Engine asks FriCAS. It holds no state between questions: each has a process of its own.
type Engine struct{ engine.Stateless }

// memoryBytes of one question, beyond what the process that forks it maps: FriCAS begins with 170 MB.
const memoryBytes = 1 << 30

// Start starts the process of which every question's is forked, behind the walls of the first engine. Workers may read and execute what
// FriCAS consists of, which it loads piece by piece.
func Start(ctx context.Context, environment string, sandbox engine.Sandbox) (*Engine, error) {
	folders, err := fricasFolders(environment)
	if err != nil {
		return nil, err
	}
	lisp, err := json.Marshal(worker)
	if err != nil {
		return nil, err
	}
	started, err := engine.StartStateless(ctx, engine.Program{
		Name: "fricas", Python: engine.Python(environment), Source: slices.Concat(program, []byte("\nWORKER = "), lisp, []byte("\n")), ReadOnly: folders, Sandbox: sandbox,
		Limits: engine.Limits{MemoryBytes: memoryBytes, CPUSeconds: 600, RequestBytes: 64 << 10, ReplyBytes: 1 << 20},
	})
	if err != nil {
		return nil, err
	}
	return &Engine{started}, nil
}

// fricasFolders is the one folder of an environment that FriCAS consists of.
func fricasFolders(environment string) ([]string, error) {
	folders, err := filepath.Glob(filepath.Join(environment, "lib", "python3*", "site-packages", "sage_wheels", "lib", "fricas", "target", "*"))
	if err == nil && len(folders) != 1 {
		err = fmt.Errorf("FriCAS is there %d times in %s", len(folders), environment)
	}
	return folders, err
}

// Probe is a question to try it with, and the answer.
func (e *Engine) Probe() (question *expression.Expr, answer string) {
	call, x := expression.NewCall, expression.Sym("x")
	quotient := call("Times", call("Log", call("Plus", expression.Int(1), call("Times", expression.Int(-1), x))), call("Power", x, expression.Int(-1)))
	return call("Integrate", quotient, x), "-PolyLog[2, x]"
}

// Knows tells whether it can be asked about calls of a function.
func (e *Engine) Knows(head string) bool { return head == "Integrate" }

// Answers asks for an antiderivative, within the processor time. It yields the answers, tidied, of which FriCAS gives several where a sign decides, or why there is none:
// *engine.UntranslatableError, *engine.UnreadableError, engine.ErrNoAnswer, engine.ErrBudgetExhausted, *engine.FailedError, the context's.
func (e *Engine) Answers(ctx context.Context, question *expression.Expr, processor time.Duration) iter.Seq2[*expression.Expr, error] {
	return func(yield func(*expression.Expr, error) bool) {
		answers, err := e.ask(ctx, question, processor)
		if err != nil {
			yield(nil, err)
			return
		}
		for _, answer := range answers {
			if !yield(tidy.Formula(answer), nil) {
				return
			}
		}
	}
}

func (e *Engine) ask(ctx context.Context, question *expression.Expr, processor time.Duration) ([]*expression.Expr, error) {
	w := writer{}
	text, err := w.question(question)
	if err != nil {
		return nil, err
	}
	printed, err := e.evaluate(ctx, text, processor)
	if failed, is := errors.AsType[*engine.FailedError](err); is && failed.Reason == run.FailureRefused {
		return nil, engine.ErrNoAnswer // FriCAS says so of what it cannot integrate
	}
	if err != nil {
		return nil, err
	}
	answer, err := (&reader{variables: w.variables}).read(printed)
	if err != nil {
		return nil, err
	}
	if answer.IsCall("List") {
		return answer.Args, nil
	}
	return []*expression.Expr{answer}, nil
}

// evaluate is what FriCAS's value of a text is, as an InputForm.
func (e *Engine) evaluate(ctx context.Context, text string, processor time.Duration) (string, error) {
	var reply struct{ Text string }
	err := e.Ask(ctx, processor, request{processor.Milliseconds(), "(" + text + ")::InputForm"}, &reply)
	return reply.Text, err
}

// request has its fields in the order in which worker.lisp reads them.
type request struct {
	ProcessorMS int64  `json:"processor_ms"`
	Text        string `json:"text"`
}
