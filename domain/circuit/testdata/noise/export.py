"""Writes random noisy circuits and what Qiskit Aer makes of them, one JSON object per line.

Usage: python export.py COUNT SEED aer.jsonl          (../requirements.txt)

Each line has "circuit", the object a qsim job takes; "probabilities" of every key, read off the diagonal of Aer's density matrix
and, with readout errors, folded with their matrices; and "paulis", the expectation value of every Pauli product of up to three
qubits, which together are the density matrix (of wider ones: of as many random products as that).
"""

import itertools
import json
import random
import sys

import numpy as np
from qiskit import QuantumCircuit
from qiskit.quantum_info import DensityMatrix, Pauli, random_unitary
from qiskit_aer import AerSimulator
from qiskit_aer.noise import (
    NoiseModel,
    amplitude_damping_error,
    depolarizing_error,
    kraus_error,
    pauli_error,
    phase_damping_error,
)

ONE = ["id", "x", "y", "z", "h", "s", "sdg", "t", "tdg", "sx"]
ONE_ANGLE = ["rx", "ry", "rz", "p"]
TWO = ["cx", "cy", "cz", "swap"]
TWO_ANGLE = ["rxx", "rzz"]


def kraus(rng, qubits):
    """Random operators from an isometry: the first columns of a unitary on more qubits."""
    count = rng.choice([1, 2, 3, 4])
    dim = 2**qubits
    unitary = random_unitary(dim * 4, seed=rng.randrange(2**31)).data[:, :dim]
    operators = [unitary[i * dim : (i + 1) * dim] for i in range(4)]
    if count < 4:  # fewer operators: put the rest into one that completes them
        rest = sum(k.conj().T @ k for k in operators[count - 1 :])
        values, vectors = np.linalg.eigh(rest)
        operators = operators[: count - 1] + [vectors @ np.diag(np.sqrt(np.maximum(values, 0))) @ vectors.conj().T]
    return operators


def channel(rng, qubits):
    """A channel for so many qubits: our fields, and Aer's error."""
    names = ["depolarizing", "pauli_channel", "kraus"]
    if qubits == 1:
        names += ["bit_flip", "phase_flip", "bit_phase_flip", "amplitude_damping", "phase_damping"]
    name = rng.choice(names)
    p = rng.choice([0.01, 0.1, 0.5, round(rng.random(), 3)])
    if name == "depolarizing":
        size = 4**qubits
        return {"p": p}, name, depolarizing_error(p * size / (size - 1), qubits)
    if name == "pauli_channel":
        labels = ["".join(l) for l in itertools.product("IXYZ", repeat=qubits)][1:]
        chosen = rng.sample(labels, rng.randint(1, min(5, len(labels))))
        weights = [rng.random() for _ in chosen]
        scale = p / sum(weights)
        probabilities = {l: w * scale for l, w in zip(chosen, weights)}
        rest = 1 - sum(probabilities.values())
        return {"probabilities": probabilities}, name, pauli_error(list(probabilities.items()) + [("I" * qubits, rest)])
    if name == "kraus":
        operators = kraus(rng, qubits)
        ours = [[[[v.real, v.imag] for v in row] for row in k.tolist()] for k in operators]
        return {"kraus": ours}, name, kraus_error(operators)
    if name == "amplitude_damping":
        return {"gamma": p}, name, amplitude_damping_error(p)
    if name == "phase_damping":
        return {"gamma": p}, name, phase_damping_error(p)
    return {"p": p}, name, pauli_error([({"bit_flip": "X", "phase_flip": "Z", "bit_phase_flip": "Y"}[name], p), ("I", 1 - p)])


def case(rng):
    qubits = rng.randint(1, 5)
    model, rules = NoiseModel(), []
    modelled = rng.random() < 0.7
    if modelled:
        for gates, size in ((ONE + ONE_ANGLE + ["reset"], 1), (TWO + TWO_ANGLE, 2)):
            rest = list(gates)
            for _ in range(rng.randint(0, 2)):
                chosen = rng.sample(rest, min(len(rest), rng.randint(1, 5)))
                rest = [g for g in rest if g not in chosen]  # Aer's errors of one gate replace each other
                if not chosen:
                    break
                fields, name, error = channel(rng, size)
                rule = {"channel": name, "gates": chosen, **fields}
                if rng.random() < 0.4:
                    where = rng.sample(range(qubits), rng.randint(1, qubits))
                    rule["qubits"] = where
                    for on in itertools.permutations(where, size):
                        model.add_quantum_error(error, chosen, list(on))
                else:
                    model.add_all_qubit_quantum_error(error, chosen)
                rules.append(rule)
    gates, qc = [], QuantumCircuit(qubits)
    for _ in range(rng.randint(3, 25)):
        order = rng.sample(range(qubits), qubits)
        kind = rng.random()
        if kind < 0.35:
            name = rng.choice(ONE)
            getattr(qc, name)(order[0])
            gates.append({"gate": name, "target": order[0]})
        elif kind < 0.55:
            name, angle = rng.choice(ONE_ANGLE), round(rng.uniform(-7, 7), 4)
            getattr(qc, name)(angle, order[0])
            gates.append({"gate": name, "target": order[0], "angle": angle})
        elif kind < 0.6:
            qc.reset(order[0])
            gates.append({"gate": "reset", "target": order[0]})
        elif kind < 0.8 and qubits > 1:
            name = rng.choice(TWO + TWO_ANGLE)
            angle = round(rng.uniform(-7, 7), 4)
            entry = {"gate": name, "targets": order[:2]}
            if name in ("cx", "cy", "cz"):
                entry = {"gate": name, "control": order[0], "target": order[1]}
            if name in TWO_ANGLE:
                entry["angle"] = angle
                getattr(qc, name)(angle, order[0], order[1])
            else:
                getattr(qc, name)(order[0], order[1])
            gates.append(entry)
        else:
            size = rng.choice([1, 2]) if qubits > 1 else 1
            fields, name, error = channel(rng, size)
            qc.append(error.to_instruction(), order[:size])
            gates.append({"gate": name, "targets": order[:size], **fields})
    qc.save_density_matrix()
    simulator = AerSimulator(method="density_matrix", noise_model=model, fusion_enable=False)
    rho = np.asarray(simulator.run(qc).result().data()["density_matrix"])
    diagonal = np.real(np.diag(rho)).copy()
    noise = {"channels": rules}
    if rng.random() < 0.4:
        readout = []
        for q in rng.sample(range(qubits), rng.randint(1, qubits)):
            a, b = round(rng.random() / 3, 4), round(rng.random() / 3, 4)
            readout.append({"qubits": [q], "matrix": [[1 - a, a], [b, 1 - b]]})
            shaped = diagonal.reshape(2 ** (qubits - 1 - q), 2, 2**q)
            diagonal = np.einsum("aib,ij->ajb", shaped, np.array([[1 - a, a], [b, 1 - b]])).reshape(-1)
        noise["readout"] = readout
    if qubits <= 3:
        labels = ["".join(l) for l in itertools.product("IXYZ", repeat=qubits)]
    else:
        labels = list({"".join(rng.choice("IXYZ") for _ in range(qubits)) for _ in range(64)})
    state = DensityMatrix(rho)
    paulis = {l: float(np.real(state.expectation_value(Pauli(l)))) for l in labels}
    circuit = {"qubits": qubits, "shots": 2000, "seed": rng.randrange(2**40), "gates": gates}
    if noise["channels"] or "readout" in noise:
        circuit["noise"] = noise
    return {
        "circuit": circuit,
        "probabilities": {format(i, f"0{qubits}b"): float(p) for i, p in enumerate(diagonal)},
        "paulis": paulis,
    }


def main():
    rng = random.Random(int(sys.argv[2]))
    with open(sys.argv[3], "w") as out:
        for _ in range(int(sys.argv[1])):
            print(json.dumps(case(rng), separators=(",", ":")), file=out)


main()
