#!/usr/bin/env python3
"""Exports random circuits with Qiskit and computes what they mean, exactly and independently of this repository.

  pip install --require-hashes -r ../requirements.txt
  python export.py --count 200 --seed 17 --to programs.jsonl     # 200 of each version
  go test ./domain/circuit -run TestExportedPrograms -programs /path/to/programs.jsonl

Each line holds a program and either the state before measurement (up to a global phase) or the exact probability of
every key. test/clients does this with another seed. --keep N keeps N programs of all, spread evenly (the file in this folder has 60).
"""
import argparse, json, random, re, sys
import numpy as np
from qiskit import QuantumCircuit, QuantumRegister, ClassicalRegister, qasm2, qasm3
from qiskit.circuit import Clbit, Gate, Parameter
from qiskit.circuit import BreakLoopOp, ContinueLoopOp, ForLoopOp, IfElseOp, SwitchCaseOp, WhileLoopOp, CASE_DEFAULT
from qiskit.circuit.classical import expr, types
from qiskit.circuit.library import (
    C3SXGate, C3XGate, C4XGate, CCXGate, CCZGate, CHGate, CPhaseGate, CRXGate, CRYGate, CRZGate, CSdgGate, CSGate, CSwapGate, CSXGate,
    CU1Gate, CU3Gate, CUGate, CXGate, CYGate, CZGate, DCXGate, DiagonalGate, ECRGate, HGate, IGate, MCPhaseGate, PhaseGate, QFTGate,
    RC3XGate, RCCXGate, RGate, RXGate, RXXGate, RYGate, RYYGate, RZGate, RZXGate, RZZGate, SdgGate, SGate, SwapGate, SXdgGate, SXGate,
    TdgGate, TGate, U1Gate, U2Gate, U3Gate, UGate, UnitaryGate, XGate, XXMinusYYGate, XXPlusYYGate, YGate, ZGate, iSwapGate,
)
from qiskit.circuit.random import random_circuit
from qiskit.quantum_info import Operator, random_unitary

PLAIN = [C3SXGate, C3XGate, C4XGate, CCXGate, CCZGate, CHGate, CSdgGate, CSGate, CSwapGate, CSXGate, CXGate, CYGate, CZGate, DCXGate,
         ECRGate, HGate, IGate, RC3XGate, RCCXGate, SdgGate, SGate, SwapGate, SXdgGate, SXGate, TdgGate, TGate, XGate, YGate, ZGate, iSwapGate]
ANGLES = [(CPhaseGate, 1), (CRXGate, 1), (CRYGate, 1), (CRZGate, 1), (CU1Gate, 1), (CU3Gate, 3), (CUGate, 4), (PhaseGate, 1), (RGate, 2),
          (RXGate, 1), (RXXGate, 1), (RYGate, 1), (RYYGate, 1), (RZGate, 1), (RZXGate, 1), (RZZGate, 1), (U1Gate, 1), (U2Gate, 2),
          (U3Gate, 3), (UGate, 3), (XXMinusYYGate, 2), (XXPlusYYGate, 2)]


def angle(rng):
    return rng.choice([rng.uniform(-7, 7), np.pi * rng.randint(-8, 8) / rng.choice([1, 2, 3, 4, 8])])


def library_gate(rng, most):
    while True:
        if rng.random() < 0.5:
            gate = rng.choice(PLAIN)()
        else:
            kind, angles = rng.choice(ANGLES)
            gate = kind(*[angle(rng) for _ in range(angles)])
        if gate.num_qubits <= most:
            return gate


def custom_gate(rng, most, depth=0):
    """A definition of the program's own: nested, with parameters, inverted, repeated, controlled, or from a matrix."""
    size = rng.randint(1, min(3, most))
    choice = rng.random()
    if choice < 0.15:
        return UnitaryGate(random_unitary(2 ** min(size, 2), seed=rng.randrange(2 ** 31)))
    if choice < 0.25:
        return rng.choice([QFTGate(size), DiagonalGate([np.exp(1j * angle(rng)) for _ in range(2 ** size)])])
    body = QuantumCircuit(size, name=f"mine_{rng.randrange(10 ** 6)}")
    for _ in range(rng.randint(1, 4)):
        gate = custom_gate(rng, size, depth + 1) if depth < 2 and rng.random() < 0.3 else library_gate(rng, size)
        body.append(gate, rng.sample(range(size), gate.num_qubits))
    if rng.random() < 0.3:
        body.global_phase = angle(rng)
    gate = body.to_gate()
    if rng.random() < 0.2:
        gate = gate.inverse()
    if rng.random() < 0.1:
        gate = gate.repeat(rng.randint(2, 3))
    if gate.num_qubits < most and rng.random() < 0.3:
        controls = rng.randint(1, most - gate.num_qubits)
        gate = gate.control(controls, ctrl_state=rng.randrange(2 ** controls), annotated=rng.random() < 0.4)
    return gate


def gates(rng, circuit, count, custom=0.2):
    n = circuit.num_qubits
    for _ in range(count):
        gate = custom_gate(rng, n) if rng.random() < custom else library_gate(rng, n)
        circuit.append(gate, rng.sample(range(n), gate.num_qubits))


def registers(rng):
    """A circuit with several registers."""
    parts = [QuantumRegister(rng.randint(1, 3), f"q{i}") for i in range(rng.randint(1, 2))]
    bits = [ClassicalRegister(rng.randint(1, 3), f"c{i}") for i in range(rng.randint(1, 3))]
    return QuantumCircuit(*parts, *bits)


def measurements(rng, circuit, count):
    for _ in range(count):
        circuit.measure(rng.randrange(circuit.num_qubits), rng.randrange(circuit.num_clbits))
        gates(rng, circuit, 1)
        if rng.random() < 0.3:
            circuit.reset(rng.randrange(circuit.num_qubits))
        if rng.random() < 0.2:
            circuit.barrier()


def condition(rng, circuit):
    """A condition on a bit, on a register, or an expression."""
    choice = rng.random()
    register = rng.choice(circuit.cregs)
    bit = rng.choice(circuit.clbits)
    if choice < 0.25:
        return (bit, rng.randrange(2))
    if choice < 0.5:
        return (register, rng.randrange(2 ** register.size))
    if choice < 0.65:
        return expr.less(register, rng.randrange(1, 2 ** register.size)) if register.size > 1 else expr.lift(bit)
    if choice < 0.75:
        return expr.logic_and(expr.logic_not(bit), rng.choice(circuit.clbits))
    if choice < 0.85:
        return expr.logic_or(expr.equal(register, rng.randrange(2 ** register.size)), bit)
    if choice < 0.95:
        return expr.not_equal(expr.bit_xor(register, rng.randrange(2 ** register.size)), rng.randrange(2 ** register.size))
    return expr.greater_equal(expr.bit_and(register, register), rng.randrange(2 ** register.size))


def control_flow(rng, circuit, depth=0):
    choice = rng.random()
    bit = rng.randrange(circuit.num_clbits)

    def body():
        gates(rng, circuit, rng.randint(1, 2))
        if rng.random() < 0.4:
            circuit.measure(rng.randrange(circuit.num_qubits), rng.randrange(circuit.num_clbits))
        if depth < 2 and rng.random() < 0.3:
            control_flow(rng, circuit, depth + 1)

    if choice < 0.45:
        with circuit.if_test(condition(rng, circuit)) as otherwise:
            body()
        if rng.random() < 0.5:
            with otherwise:
                body()
    elif choice < 0.6:
        # Qiskit 2.6 writes one value too many for range(4, -2, -3): it subtracts 1 from the end whatever the step.
        values = rng.choice([range(rng.randint(1, 3)), range(4, -3, -3), (3, 0, 2)])
        with circuit.for_loop(values, rng.choice([None, Parameter(f"a{rng.randrange(10 ** 6)}")])) as p:
            if p is not None:
                circuit.rx(p * 0.5 + 0.1, 0)
            gates(rng, circuit, 1)
            if rng.random() < 0.3:
                circuit.measure(0, bit)
                with circuit.if_test((circuit.clbits[bit], 1)):
                    rng.choice([circuit.break_loop, circuit.continue_loop])()
            gates(rng, circuit, 1)
    elif choice < 0.75:
        register = rng.choice(circuit.cregs)
        with circuit.switch(register) as case:
            labels = list(range(2 ** register.size))
            rng.shuffle(labels)
            with case(*labels[:1]):
                body()
            if len(labels) > 3:
                with case(*labels[1:3]):
                    body()
            if rng.random() < 0.5:
                with case(case.DEFAULT):
                    body()
    elif choice < 0.9:
        circuit.measure(0, bit)  # until 0 is measured: the chance of another round is below one half
        with circuit.while_loop((circuit.clbits[bit], 1)):
            circuit.reset(0)
            circuit.rx(0.02, 0)
            if rng.random() < 0.5 and circuit.num_qubits > 1:
                circuit.h(1)
            circuit.measure(0, bit)
    else:
        register = rng.choice(circuit.cregs)
        variable = circuit.add_var(f"v{rng.randrange(10 ** 6)}", expr.lift(register)) if depth == 0 else None
        if variable is not None:
            circuit.store(variable, expr.bit_xor(variable, 1))
            with circuit.if_test(expr.less(variable, 1)):
                body()


def circuit_of(rng, version):
    """A circuit of one of eight families."""
    family = rng.randrange(8 if version == 3 else 5)
    if family == 0:
        return random_circuit(rng.randint(1, 5), rng.randint(1, 6), max_operands=4, seed=rng.randrange(2 ** 31))
    if family == 1:
        return random_circuit(rng.randint(2, 4), rng.randint(1, 6), measure=True, reset=rng.random() < 0.5, seed=rng.randrange(2 ** 31))
    if family == 2:
        circuit = QuantumCircuit(rng.randint(1, 5))
        gates(rng, circuit, rng.randint(2, 12))
        return circuit
    if family == 3:
        circuit = QuantumCircuit(rng.randint(2, 5))
        gates(rng, circuit, rng.randint(2, 8), custom=0.7)
        return circuit
    circuit = registers(rng)
    gates(rng, circuit, rng.randint(1, 4))
    measurements(rng, circuit, rng.randint(1, 4))
    if family >= 5:
        for _ in range(rng.randint(1, 2)):
            control_flow(rng, circuit)
        circuit.measure(0, rng.randrange(circuit.num_clbits))
    return circuit


class Exact:
    """Follows every history of a circuit: a list of (probability, state, bits, variables)."""

    def __init__(self, circuit):
        self.circuit = circuit
        state = np.zeros(2 ** circuit.num_qubits, complex)
        state[0] = 1
        self.qubits = {q: i for i, q in enumerate(circuit.qubits)}
        self.bits = {c: i for i, c in enumerate(circuit.clbits)}
        self.branches = self.run(circuit, [(1.0, state, (0,) * circuit.num_clbits, {}, None)], circuit.qubits, circuit.clbits, 0)

    def run(self, block, branches, qubits, clbits, phase):
        outer_qubits = dict(zip(block.qubits, qubits))
        outer_bits = dict(zip(block.clbits, clbits))
        for item in block.data:
            going = [b for b in branches if b[4] is None]
            stopped = [b for b in branches if b[4] is not None]
            qs = [outer_qubits[q] for q in item.qubits]
            cs = [outer_bits[c] for c in item.clbits]
            branches = stopped + merged(self.step(item.operation, going, qs, cs, outer_bits))
        return branches

    def step(self, op, branches, qubits, clbits, names):
        places = [self.qubits[q] for q in qubits]
        if isinstance(op, Gate) or op.name == "annotated":
            matrix = Operator(op).data
            return [(p, apply(matrix, s, places), c, v, j) for p, s, c, v, j in branches]
        if op.name in ("barrier", "delay"):
            return branches
        if op.name in ("measure", "reset"):
            out = []
            for p, s, c, v, j in branches:
                for value in (0, 1):
                    projected = project(s, places[0], value)
                    weight = np.vdot(projected, projected).real
                    if weight < 1e-14:
                        continue
                    projected = projected / np.sqrt(weight)
                    if op.name == "reset":
                        projected = apply(np.array([[0, 1], [1, 0]]), projected, places) if value else projected
                        out.append((p * weight, projected, c, v, j))
                    else:
                        bits = list(c)
                        bits[self.bits[clbits[0]]] = value
                        out.append((p * weight, projected, tuple(bits), v, j))
            return out
        if op.name == "store":
            return [(p, s, c, {**v, op.lvalue: self.value(op.rvalue, c, v)}, j) for p, s, c, v, j in branches]
        if isinstance(op, (BreakLoopOp, ContinueLoopOp)):
            return [(p, s, c, v, op.name) for p, s, c, v, _ in branches]
        out = []
        for branch in branches:
            out += self.flow(op, branch, qubits, clbits)
        return out

    def flow(self, op, branch, qubits, clbits):
        run = lambda block, branches: self.run(block, branches, qubits, clbits, 0)
        if isinstance(op, IfElseOp):
            block = op.blocks[0] if self.truth(op.condition, branch) else (op.blocks[1] if len(op.blocks) > 1 else None)
            return run(block, [branch]) if block is not None else [branch]
        if isinstance(op, SwitchCaseOp):
            target = op.target
            value = self.value(target if isinstance(target, expr.Expr) else expr.lift(target), branch[2], branch[3])
            for labels, block in op.cases_specifier():
                if CASE_DEFAULT in labels or int(value) in [int(l) for l in labels]:
                    return run(block, [branch])
            return [branch]
        if isinstance(op, ForLoopOp):
            values, parameter, block = op.params
            return self.rounds([branch], ((block.assign_parameters({parameter: v}) if parameter is not None else block) for v in values), run)
        assert isinstance(op, WhileLoopOp), op.name
        done, going = [], [branch]
        for _ in range(40):
            done += [b for b in going if not self.truth(op.condition, b)]
            going = [b for b in going if self.truth(op.condition, b) and b[0] > 1e-16]
            going = [unjump(b) for b in run(op.blocks[0], going)] if going else []
        return done

    def rounds(self, branches, blocks, run):
        left = []
        for block in blocks:
            branches = run(block, branches)
            left += [unjump(b) for b in branches if b[4] == "break_loop"]
            branches = [unjump(b) for b in branches if b[4] != "break_loop"]
        return left + branches

    def truth(self, condition, branch):
        if isinstance(condition, tuple):
            target, wanted = condition
            if isinstance(target, Clbit):
                return branch[2][self.bits[target]] == int(wanted)
            return self.register(target, branch[2]) == int(wanted)
        return bool(self.value(condition, branch[2], branch[3]))

    def register(self, register, bits):
        return sum(bits[self.bits[b]] << i for i, b in enumerate(register))

    def value(self, e, bits, variables):
        if isinstance(e, expr.Value):
            return e.value
        if isinstance(e, expr.Var):
            if isinstance(e.var, Clbit):
                return bits[self.bits[e.var]]
            if isinstance(e.var, ClassicalRegister):
                return self.register(e.var, bits)
            return variables[e]
        if isinstance(e, expr.Cast):
            value = self.value(e.operand, bits, variables)
            return bool(value) if isinstance(e.type, types.Bool) else int(value) & (2 ** e.type.width - 1)
        if isinstance(e, expr.Unary):
            value = self.value(e.operand, bits, variables)
            if e.op == expr.Unary.Op.LOGIC_NOT:
                return not value
            return ~int(value) & (2 ** e.type.width - 1)
        a, b = int(self.value(e.left, bits, variables)), int(self.value(e.right, bits, variables))
        Op = expr.Binary.Op
        return {Op.BIT_AND: a & b, Op.BIT_OR: a | b, Op.BIT_XOR: a ^ b, Op.LOGIC_AND: bool(a and b), Op.LOGIC_OR: bool(a or b),
                Op.EQUAL: a == b, Op.NOT_EQUAL: a != b, Op.LESS: a < b, Op.LESS_EQUAL: a <= b, Op.GREATER: a > b,
                Op.GREATER_EQUAL: a >= b}[e.op]

    def probabilities(self):
        """By key as Qiskit prints it: registers apart, the last one leftmost."""
        out = {}
        for p, _, bits, _, _ in self.branches:
            parts = ["".join(str(bits[self.bits[b]]) for b in reversed(r)) for r in reversed(self.circuit.cregs)]
            out[" ".join(parts)] = out.get(" ".join(parts), 0) + p
        return {k: v for k, v in sorted(out.items()) if v > 1e-12}


def unjump(branch):
    return branch[:4] + (None,)


def merged(branches):
    """Keeps histories apart only where they differ; equal states of equal bits are added."""
    table = {}
    for p, s, c, v, j in branches:
        key = (c, tuple(sorted((str(k), int(x)) for k, x in v.items())), j, tuple(np.round(s, 9)))
        if key in table:
            table[key] = (table[key][0] + p,) + table[key][1:]
        else:
            table[key] = (p, s, c, v, j)
    return list(table.values())


def apply(matrix, state, places):
    n, k = len(state).bit_length() - 1, len(places)
    tensor = state.reshape([2] * n)
    axes = [n - 1 - q for q in reversed(places)]
    moved = np.moveaxis(tensor, axes, range(k)).reshape(2 ** k, -1)
    return np.moveaxis((matrix @ moved).reshape([2] * n), range(k), axes).reshape(-1)


def project(state, place, value):
    keep = ((np.arange(len(state)) >> place) & 1) == value
    return np.where(keep, state, 0)


def exported(rng, version):
    """A program and what it means. Circuits that Qiskit itself cannot build or export are drawn anew."""
    while True:
        try:
            circuit = circuit_of(rng, version)
            program = qasm3.dumps(circuit) if version == 3 else qasm2.dumps(circuit)
            if version == 2 and "j" in "".join(re.findall(r"\(.*?\)", program)):
                continue  # Qiskit writes a diagonal's complex numbers as if they were angles, and cannot read them back
        except Exception:  # of its own gates, for various reasons
            continue
        case = {"version": version, "program": program}
        exact = Exact(circuit)
        if len(exact.branches) > 5000:
            continue
        if circuit.num_clbits == 0:
            case["state"] = [[float(a.real), float(a.imag)] for a in exact.branches[0][1]]
        else:
            case["probabilities"] = exact.probabilities()
            if abs(sum(case["probabilities"].values()) - 1) > 1e-11:
                continue
        return case


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--count", type=int, default=200)
    parser.add_argument("--seed", type=int, default=17)
    parser.add_argument("--keep", type=int)
    parser.add_argument("--to", type=argparse.FileType("w"), default=sys.stdout)
    arguments = parser.parse_args()
    rng = random.Random(arguments.seed)
    cases = []
    for i in range(2 * arguments.count):
        case = exported(rng, 2 + i % 2)
        case["name"] = f"{arguments.seed}-{i}"
        cases.append(case)
    if arguments.keep:
        cases = [cases[i * len(cases) // arguments.keep] for i in range(arguments.keep)]
    for case in cases:
        json.dump(case, arguments.to)
        print(file=arguments.to)


main()
