"""Times the same circuits in the Python ecosystem's simulators.

Usage: circuit_peers.py THREADS REPEATS [name=]FILE.json...

Every circuit is the JSON object of a qsim job, with the gates u, h, x, cx, cp and swap. For each circuit and simulator
one JSON line is printed: {"circuit", "peer", "seconds", "top"}: the best of REPEATS runs of simulating the circuit
and drawing its shots, without building the circuit in the peer's own classes, and how often the most frequent outcome
was drawn (so that a peer that does nothing is noticed). Simulators that cannot be imported are left out.
"""

import collections
import json
import math
import os
import sys
import time

THREADS, REPEATS = int(sys.argv[1]), int(sys.argv[2])
for variable in ("OMP_NUM_THREADS", "QULACS_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[variable] = str(THREADS)


# With one thread processor time is taken: it says the same and does not depend on what else the machine does.
CLOCK = time.process_time if THREADS == 1 else time.perf_counter


def best(run):
    """Best time of the runs, and the top count of the last one."""
    seconds, top = math.inf, 0
    for _ in range(REPEATS):
        start = CLOCK()
        top = run()
        seconds = min(seconds, CLOCK() - start)
    return seconds, top


def top_count(samples):
    return max(collections.Counter(samples).values())


def aer(circuit, precision):
    from qiskit import QuantumCircuit
    from qiskit_aer import AerSimulator

    built = QuantumCircuit(circuit["qubits"])
    for gate in circuit["gates"]:
        name = gate["gate"]
        if name == "u":
            built.u(*gate["params"], gate["target"])
        elif name in ("h", "x"):
            getattr(built, name)(gate["target"])
        elif name == "cx":
            built.cx(gate["control"], gate["target"])
        elif name == "cp":
            built.cp(gate["angle"], gate["control"], gate["target"])
        else:
            built.swap(*gate["targets"])
    built.measure_all()
    simulator = AerSimulator(method="statevector", precision=precision, max_parallel_threads=THREADS)
    return lambda: max(
        simulator.run(built, shots=circuit["shots"], seed_simulator=1).result().get_counts().values()
    )


def qulacs(circuit):
    import qulacs as q

    built = q.QuantumCircuit(circuit["qubits"])
    for gate in circuit["gates"]:
        name = gate["gate"]
        if name == "u":
            theta, phi, lam = gate["params"]
            built.add_U3_gate(gate["target"], theta, phi, lam)
        elif name == "h":
            built.add_H_gate(gate["target"])
        elif name == "x":
            built.add_X_gate(gate["target"])
        elif name == "cx":
            built.add_CNOT_gate(gate["control"], gate["target"])
        elif name == "cp":
            phase = q.gate.to_matrix_gate(q.gate.U1(gate["target"], gate["angle"]))
            phase.add_control_qubit(gate["control"], 1)
            built.add_gate(phase)
        else:
            built.add_SWAP_gate(*gate["targets"])
    q.circuit.QuantumCircuitOptimizer().optimize(built, 2)

    def run():
        state = q.QuantumState(circuit["qubits"])
        built.update_quantum_state(state)
        return top_count(state.sampling(circuit["shots"], 1))

    return run


def pennylane(circuit):
    import pennylane as qml

    device = qml.device("lightning.qubit", wires=circuit["qubits"], seed=1)

    @qml.set_shots(circuit["shots"])
    @qml.qnode(device, diff_method=None)
    def node():
        for gate in circuit["gates"]:
            name = gate["gate"]
            if name == "u":
                qml.U3(*gate["params"], wires=gate["target"])
            elif name == "h":
                qml.Hadamard(gate["target"])
            elif name == "x":
                qml.PauliX(gate["target"])
            elif name == "cx":
                qml.CNOT([gate["control"], gate["target"]])
            elif name == "cp":
                qml.ControlledPhaseShift(gate["angle"], [gate["control"], gate["target"]])
            else:
                qml.SWAP(gate["targets"])
        return qml.counts()

    return lambda: max(node().values())


def qsim(circuit, fused):
    import cirq
    import qsimcirq

    qubits = cirq.LineQubit.range(circuit["qubits"])
    operations = []
    for gate in circuit["gates"]:
        name = gate["gate"]
        if name == "u":
            theta, phi, lam = gate["params"]
            matrix = [
                [math.cos(theta / 2), -complex(math.cos(lam), math.sin(lam)) * math.sin(theta / 2)],
                [
                    complex(math.cos(phi), math.sin(phi)) * math.sin(theta / 2),
                    complex(math.cos(phi + lam), math.sin(phi + lam)) * math.cos(theta / 2),
                ],
            ]
            import numpy

            operations.append(cirq.MatrixGate(numpy.array(matrix)).on(qubits[gate["target"]]))
        elif name == "h":
            operations.append(cirq.H(qubits[gate["target"]]))
        elif name == "x":
            operations.append(cirq.X(qubits[gate["target"]]))
        elif name == "cx":
            operations.append(cirq.CNOT(qubits[gate["control"]], qubits[gate["target"]]))
        elif name == "cp":
            operations.append(
                cirq.CZPowGate(exponent=gate["angle"] / math.pi).on(qubits[gate["control"]], qubits[gate["target"]])
            )
        else:
            operations.append(cirq.SWAP(*(qubits[t] for t in gate["targets"])))
    built = cirq.Circuit(operations, cirq.measure(*qubits, key="m"))
    options = qsimcirq.QSimOptions(cpu_threads=THREADS, max_fused_gate_size=fused)
    simulator = qsimcirq.QSimSimulator(options, seed=1)

    def run():
        measured = simulator.run(built, repetitions=circuit["shots"]).measurements["m"]
        return top_count(row.tobytes() for row in measured)

    return run


def stim_peer(circuit):
    import stim

    built = stim.Circuit()
    for gate in circuit["gates"]:
        if gate["gate"] == "h":
            built.append("H", [gate["target"]])
        elif gate["gate"] == "cx":
            built.append("CX", [gate["control"], gate["target"]])
        else:
            raise ValueError(gate["gate"])
    built.append("M", range(circuit["qubits"]))
    return lambda: top_count(row.tobytes() for row in built.compile_sampler(seed=1).sample(circuit["shots"]))


STATE_VECTOR = {
    "aer": lambda c: aer(c, "double"),
    "aer-single": lambda c: aer(c, "single"),
    "qulacs": qulacs,
    "pennylane-lightning": pennylane,
    "qsim-single-f2": lambda c: qsim(c, 2),
    "qsim-single-f4": lambda c: qsim(c, 4),
}


def main():
    for argument in sys.argv[3:]:
        name, _, path = argument.rpartition("=")
        with open(path, encoding="utf-8") as file:
            circuit = json.load(file)
        peers = {"stim": stim_peer} if circuit["qubits"] > 30 else STATE_VECTOR
        for peer, prepare in peers.items():
            try:
                run = prepare(circuit)
            except ImportError:
                continue
            seconds, top = best(run)
            print(json.dumps({"circuit": name or path, "peer": peer, "seconds": seconds, "top": int(top)}), flush=True)


main()
