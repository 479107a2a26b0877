package check_test

import (
	"context"
	"fmt"
	"strings"

	"reckon/domain/lean/check"
)

// An export is judged from its bytes alone: nothing of it is believed, and the statement that is printed is the one that was checked.
func ExampleRun() {
	const export = `{"meta":{"exporter":{"name":"example","version":"1"},"format":{"version":"3.1.0"},"lean":{"githash":"","version":"4.29.1"}}}
{"in":1,"str":{"pre":0,"str":"self"}}
{"in":2,"str":{"pre":0,"str":"p"}}
{"in":3,"str":{"pre":0,"str":"h"}}
{"ie":0,"sort":0}
{"bvar":0,"ie":1}
{"bvar":1,"ie":2}
{"forallE":{"binderInfo":"default","body":2,"name":3,"type":1},"ie":3}
{"forallE":{"binderInfo":"default","body":3,"name":2,"type":0},"ie":4}
{"ie":5,"lam":{"binderInfo":"default","body":1,"name":3,"type":1}}
{"ie":6,"lam":{"binderInfo":"default","body":5,"name":2,"type":0}}
{"thm":{"all":[1],"levelParams":[],"name":1,"type":4,"value":6}}
`
	report, err := check.Run(context.Background(), strings.NewReader(export), check.Options{Declarations: []string{"self"}})
	if err != nil {
		panic(err)
	}
	fmt.Println(report.Kernel, report.Verdict)
	fmt.Println(*report.Declarations[0].Statement, report.AxiomsUsed)
	// Output:
	// accepted verified
	// ∀ (p : Prop), p → p []
}
