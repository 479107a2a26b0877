package circuit

import (
	"fmt"
	"strings"
	"testing"
)

// memoryCircuit reads a circuit that the estimate is tried on.
func memoryCircuit(t *testing.T, name, fields, gates string) Circuit {
	c, err := Parse([]byte(`{"seed":3,`+fields+`,"gates":[`+gates+`]}`), Limits{Qubits: 30, CliffordQubits: 1000, Shots: 100_000, Bytes: 1 << 26})
	if err != nil {
		t.Fatal(name, err)
	}
	return c
}

// addNoisy adds noisy circuits to those of memoryCircuits. Their text is made when it is asked for: it is long.
func addNoisy(t *testing.T, circuits map[string]func() Circuit) {
	add := func(name, fields string, count int, entry func(i int) string) {
		circuits[name] = func() Circuit {
			entries := make([]string, count)
			for i := range entries {
				entries[i] = entry(i)
			}
			return memoryCircuit(t, name, fields, strings.Join(entries, ","))
		}
	}
	h := func(i int) string { return fmt.Sprintf(`{"gate":"h","target":%d}`, i) }
	kraus := `"kraus":` + randomKraus(newRandom(1), 2, 16)
	readout := `"readout":[{"matrix":[[0.9,0.1],[0.1,0.9]]}]`
	add("a density matrix", `"qubits":10,"shots":100000,"noise":{"channels":[{"channel":"depolarizing","p":0.1,"gates":["cx"]}],`+readout+`}`, 12, func(i int) string {
		return h(i%10) + fmt.Sprintf(`,{"gate":"cx","control":%d,"target":%d},{"gate":"kraus","targets":[%d,%d],%s}`, i%10, (i+3)%10, i%10, (i+1)%10, kraus)
	})
	add("a density matrix with outcomes inside", `"qubits":8,"shots":1000`, 4, func(i int) string {
		return h(i) + fmt.Sprintf(`,{"gate":"depolarizing","target":%d,"p":0.1},{"gate":"measure","target":%d},`, i, i) + h(i)
	})
	add("a density matrix with many channels", `"qubits":2,"shots":10,"noise":{"channels":[`+strings.Repeat(`{"channel":"amplitude_damping","gamma":0.1},`, 1)+
		`{"channel":"bit_flip","p":0.1}]}`, 9000, func(i int) string { return h(i % 2) })
	add("a density matrix with operators of many gates", `"qubits":2,"shots":10`, 1000, func(int) string { return `{"gate":"kraus","targets":[0,1],` + kraus + `}` })
	add("trajectories", `"qubits":17,"shots":20,"noise":{"channels":[{"channel":"amplitude_damping","gamma":0.2,"gates":["h"]}]}`, 20, func(i int) string { return h(i % 17) })
	add("trajectories of two-qubit operators", `"qubits":16,"shots":50`, 6, func(i int) string {
		return h(i) + fmt.Sprintf(`,{"gate":"kraus","targets":[%d,%d],%s}`, i, i+1, kraus)
	})
	add("trajectories of many events", `"qubits":11,"shots":50,"noise":{"channels":[{"channel":"phase_damping","gamma":0.01}]}`, 400, func(i int) string { return h(i % 11) })
	add("trajectories that share one state", `"qubits":20,"shots":100000,"noise":{`+readout+`}`, 21, func(i int) string {
		if i == 20 {
			return `{"gate":"t","target":0}`
		}
		return h(i)
	})
	add("trajectories of a loop", `"qubits":2,"shots":200`, 1, func(int) string {
		return h(0) + `,{"gate":"measure","target":0},{"while":{"measured":0},"rounds":500,"do":[{"gate":"amplitude_damping","target":0,"gamma":0.5},` +
			`{"gate":"ry","target":0,"angle":1.3},{"gate":"measure","target":0}]}`
	})
	add("tableau with noise", `"qubits":300,"shots":2000,"noise":{"channels":[{"channel":"depolarizing","p":0.01,"gates":["h","cx"]}]}`, 2000, func(i int) string {
		return h(i%300) + fmt.Sprintf(`,{"gate":"cx","control":%d,"target":%d}`, i%300, (i+7)%300)
	})
	add("tableau with noise and events", `"qubits":200,"shots":500,"noise":{"channels":[{"channel":"bit_flip","p":0.01,"gates":["measure"]}],`+readout+`}`, 1500, func(i int) string {
		return h(i%200) + fmt.Sprintf(`,{"gate":"measure","target":%d},{"gate":"cx","control":%d,"target":%d}`, i%200, i%200, (i+7)%200)
	})
}

// TestMarginalsCostOperations: what the marginals of a tableau take is part of its work.
func TestMarginalsCostOperations(t *testing.T) {
	noisy := `"qubits":40,"shots":10,"noise":{"channels":[{"channel":"bit_flip","p":0.01,"gates":["h"]}]}`
	h := strings.Repeat(`{"gate":"h","target":0},`, 99) + `{"gate":"h","target":0}`
	without := Estimate(memoryCircuit(t, "without", noisy, h)).Operations
	with := Estimate(memoryCircuit(t, "with", noisy+`,"marginals":[[0,1,2,3,4,5,6,7,8,9,10,11]]`, h)).Operations
	if spread := int64(16 * 100 << 12); with-without != spread {
		t.Errorf("marginals of 100 errors take %d operations, want %d", with-without, spread)
	}
}
