package circuit

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"reflect"
	"strings"
	"testing"
)

func mustSweep(t *testing.T, c Circuit, options Options) SweepResult {
	t.Helper()
	r, err := RunSweep(context.Background(), c, options)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func parseText(t *testing.T, text string) Circuit {
	t.Helper()
	c, err := Parse([]byte(text), Limits{Qubits: 20, CliffordQubits: MaxCliffordQubits})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

const sweptGates = `[
	{"gate":"ry","target":0,"angle":"2*theta"}, {"gate":"cx","control":0,"target":1},
	{"gate":"u","target":1,"params":["theta/2","-phi",0.25]}, {"gate":"u2","target":2,"phi":"phi^2","lambda":"sqrt(4)*pi/3"},
	{"gate":"measure","target":2}, {"if":{"measured":2},"then":[{"gate":"rx","target":0,"rotation":"cos(theta)+phi"}]},
	{"gate":"measure","targets":[0,1,2]}]`

// TestSweep: every point of a sweep is, byte for byte, the circuit with the numbers written out and the point's seed.
func TestSweep(t *testing.T) {
	points := []map[string]float64{{"theta": 0.1, "phi": -2}, {"theta": 0, "phi": 0}, {"theta": 3e5, "phi": 1e-9}}
	given, err := json.Marshal(points)
	if err != nil {
		t.Fatal(err)
	}
	more := `"shots":500,"observables":[{"ZZI":1,"XIX":0.5}],"gates":`
	c := parseText(t, `{"qubits":3,"seed":99,`+more+sweptGates+`,"sweep":`+string(given)+`}`)
	got := mustSweep(t, c, Options{})
	if len(got.Points) != 3 || got.Shots != 1500 || got.Seed != 99 || len(got.Counts) != 0 || got.Engine != "statevector-double-v1" {
		t.Fatalf("%+v", got)
	}
	for i, p := range got.Points {
		theta, phi := points[i]["theta"], points[i]["phi"]
		written := strings.NewReplacer(
			`"2*theta"`, number(2*theta), `"theta/2"`, number(theta/2), `"-phi"`, number(-phi), `"phi^2"`, number(phi*phi),
			`"sqrt(4)*pi/3"`, number(2*math.Pi/3), `"cos(theta)+phi"`, number(math.Cos(theta)+phi),
		).Replace(sweptGates)
		alone := mustRun(t, parseText(t, fmt.Sprintf(`{"qubits":3,"seed":%d,%s%s}`, PointSeed(99, i), more, written)), Options{})
		if !reflect.DeepEqual(p.Counts, alone.Counts) || p.Seed != alone.Seed || p.Depth != alone.Depth {
			t.Errorf("point %d: %v, alone %v", i, p.Counts, alone.Counts)
		}
		compareDistributions(t, p.Probabilities, alone.Probabilities, 1e-12)
		if math.Abs(*p.Expectations[0].Value-*alone.Expectations[0].Value) > 1e-12 {
			t.Errorf("point %d: %v, alone %v", i, p.Expectations, alone.Expectations)
		}
	}
	for _, indent := range []string{"", "  "} {
		var out strings.Builder
		if err := got.WriteJSON(&out, indent); err != nil {
			t.Fatal(err)
		}
		var read SweepResult
		if err := json.Unmarshal([]byte(out.String()), &read); err != nil {
			t.Fatalf("%v in %s", err, out.String())
		}
		if !reflect.DeepEqual(read, got) {
			t.Errorf("read %+v, written %+v", read, got)
		}
	}
}

func number(x float64) string { return fmt.Sprintf("%.17g", x) }

// TestSweepOfClifford: each point runs on the engine it would run on alone, and a circuit wider than the state vector allowed is
// accepted when every point is Clifford.
func TestSweepOfClifford(t *testing.T) {
	text := `{"qubits":%d,"seed":1,"shots":10,"gates":[{"gate":"h","target":0},{"gate":"rz","target":0,"angle":"k*pi/2"},{"gate":"cx","control":0,"target":1}],"sweep":[%s]}`
	mixed := mustSweep(t, parseText(t, fmt.Sprintf(text, 14, `{"k":1},{"k":0.5}`)), Options{})
	if a, b := mixed.Points[0].Engine, mixed.Points[1].Engine; a != "stabilizer-v1" || b != "statevector-double-v1" || mixed.Engine != a+", "+b {
		t.Errorf("engines %q, %q, together %q", a, b, mixed.Engine)
	}
	wide := parseText(t, fmt.Sprintf(text, 500, `{"k":1},{"k":2}`))
	if got := mustSweep(t, wide, Options{}); len(got.Points[1].Counts) == 0 {
		t.Error("no counts")
	}
	if cost := Estimate(wide); cost.MemoryBytes <= 0 || cost.MemoryBytes > 100<<20 {
		t.Errorf("500 Clifford qubits are estimated at %d bytes", cost.MemoryBytes)
	}
	if got := mustSweep(t, parseText(t, fmt.Sprintf(text, 500, `{"k":1},{"k":0.5}`)), Options{}).Engine; got != "sparse-double-v1, stabilizer-v1" {
		t.Errorf("500 qubits with a point that is not Clifford: %s", got)
	}
	_, err := Parse(fmt.Appendf(nil, text, 25, `{"k":1},{"k":0.5}`), Limits{CliffordQubits: MaxCliffordQubits})
	var refused *Refusal
	if !errors.As(err, &refused) || refused.Code != CodeQubitsRange || !strings.HasPrefix(refused.Message, "point 1 of sweep: ") {
		t.Errorf("a point that is not Clifford: %v", err)
	}
}

// TestSweepCost: a sweep of n points costs what n points cost that are no simpler than any, and is refused when it exceeds a bound.
func TestSweepCost(t *testing.T) {
	text := `{"qubits":16,"gates":[{"gate":"ry","target":0,"angle":%s},{"gate":"measure","target":0},{"gate":"rx","target":0,"angle":1}]%s}`
	one := Estimate(parseText(t, fmt.Sprintf(text, "0.5", "")))
	many := Estimate(parseText(t, fmt.Sprintf(text, `"a"`, `,"sweep":[`+strings.Repeat(`{"a":0},`, 99)+`{"a":0}]`)))
	if many.Operations != 100*one.Operations || many.ResultBytes < 100*one.ResultBytes || many.MemoryBytes < one.MemoryBytes {
		t.Errorf("one point %+v, a hundred %+v", one, many)
	}
	c := parseText(t, fmt.Sprintf(text, `"a"`, `,"sweep":[{"a":0}]`))
	_, err := RunSweep(context.Background(), c, Options{MemoryLimitBytes: 1 << 20})
	var refused *Refusal
	if !errors.As(err, &refused) || refused.Code != CodeMemory {
		t.Errorf("too little memory: %v", err)
	}
	if _, err := Run(context.Background(), c, Options{}); !errors.As(err, &refused) || refused.Code != CodeSweep {
		t.Errorf("a sweep run as one circuit: %v", err)
	}
}

// TestAnglesAsText: in a sweep an expression without parameters is a number.
func TestAnglesAsText(t *testing.T) {
	for text, want := range map[string]float64{
		"pi/2": math.Pi / 2, "1/2": 0.5, "-pi": -math.Pi, "2^3^2": 512, "1e-3*(2+3)": 0.005, "ln(exp(2))": 2, " sin( pi / 6 ) ": 0.5,
	} {
		c := parseText(t, `{"qubits":1,"gates":[{"gate":"rz","target":0,"angle":"`+text+`"},{"gate":"rz","target":0,"angle":"a"}],"sweep":[{"a":1}]}`)
		if got := c.gates[0].params[0]; math.Abs(got-want) > 1e-15*math.Abs(want) {
			t.Errorf("%s is %v, want %v", text, got, want)
		}
	}
}

func TestSweepsRefused(t *testing.T) {
	gate := func(angle string) string { return `"gates":[{"gate":"rz","target":0,"angle":` + angle + `}]` }
	for text, want := range map[string]Code{
		gate(`"a"`):                                       CodeWrongType,
		gate(`"a"`) + `,"sweep":null`:                     CodeWrongType,
		gate(`"a"`) + `,"sweep":[]`:                       CodeSweep,
		gate(`"a"`) + `,"sweep":[{}]`:                     CodeSweep,
		gate(`"a"`) + `,"sweep":[{"b":1}]`:                CodeSweep,
		gate(`"a"`) + `,"sweep":[{"a":"1"}]`:              CodeWrongType,
		gate(`"a"`) + `,"sweep":[{"a":null}]`:             CodeWrongType,
		gate(`"a"`) + `,"sweep":[{"a":1e999}]`:            CodeAngleRange,
		gate(`"a"`) + `,"sweep":[{"a":1,"a":2}]`:          CodeDuplicateField,
		gate(`"a"`) + `,"sweep":{"a":1}`:                  CodeWrongType,
		gate(`"a"`) + `,"sweep":[1]`:                      CodeWrongType,
		gate(`"a"`) + `,"sweep":[{"a":1,"pi":3}]`:         CodeSweep,
		gate(`"a"`) + `,"sweep":[{"a":1,"2a":3}]`:         CodeSweep,
		gate(`"1/a"`) + `,"sweep":[{"a":1},{"a":0}]`:      Code("angle_out_of_range"),
		gate(`"exp(a)"`) + `,"sweep":[{"a":1},{"a":1e9}]`: Code("angle_out_of_range"),
		gate(`0.5`) + `,"sweep":[{"a":1}]`:                CodeSweep,
		gate(`"a +"`):                                     CodeMalformed,
		gate(`"a b"`):                                     CodeMalformed,
		gate(`"q[0]"`):                                    CodeWrongType,
		gate(`"sinh(1)"`):                                 CodeUnsupported,
		gate(`""`):                                        CodeMalformed,
		gate(`"1e999"`):                                   CodeAngleRange,
		gate(`"` + strings.Repeat("(", 500) + `"`):        CodeMalformed,
		gate(`"` + strings.Repeat("1+", 1000) + `1"`):     CodeTooLarge,
		gate(`"a"`) + `,"sweep":[` + strings.Repeat(`{"a":1},`, MaxPoints) + `{"a":1}]`: CodeSweep,
		gate(`["a"]`): CodeWrongType,
		`"openqasm":"OPENQASM 3; qubit q; x q;","sweep":[{"a":1}]`: CodeSweep,
	} {
		_, err := Parse([]byte(`{"qubits":1,`+text+`}`), DefaultLimits())
		var refused *Refusal
		if !errors.As(err, &refused) || refused.Code != want {
			t.Errorf("%.90s: %v, want %s", text, err, want)
		}
	}
	heavy := gate(`"` + strings.Repeat("a+", 400) + `a"`)
	gates := strings.TrimSuffix(heavy[len(`"gates":[`):], "]")
	text := `{"qubits":1,"gates":[` + strings.Repeat(gates+",", 20) + gates + `],"sweep":[` + strings.Repeat(`{"a":1},`, 999) + `{"a":1}]}`
	if _, err := Parse([]byte(text), DefaultLimits()); err == nil || !strings.Contains(err.Error(), "are computed") {
		t.Errorf("17 million operations on angles: %v", err)
	}
}
