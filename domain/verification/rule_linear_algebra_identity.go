package verification

import "reckon/domain/expression"

// linearAlgebraIdentity: matrix answers put into the equations that define them.
func linearAlgebraIdentity() Rule {
	return ResidualRule{
		Declaration: Declaration{
			Slug: "linear_algebra_identity",
			Heads: []string{
				"Inverse", "LinearSolve", "Det", "Eigenvalues", "Eigenvectors", "Eigensystem", "NullSpace", "MatrixRank", "MatrixExp", "MatrixPower", "Dot",
				"Tr", "Transpose", "ConjugateTranspose", "RowReduce", "CharacteristicPolynomial", "QRDecomposition", "SingularValueDecomposition",
				"CholeskyDecomposition", "JordanDecomposition", "SchurDecomposition", "HessenbergDecomposition", "LeastSquares", "PseudoInverse", "Cross", "KroneckerProduct", "Norm", "Normalize", "Adjugate",
			},
			Shows: "The equation that defines the answer holds entry by entry: M.Inverse[M] is the identity, M.v is the eigenvalue times v, the eigenvalues have the " +
				"characteristic polynomial of M, and so on.",
			Silent: "The order and scale of eigenvectors and of null space vectors.",
			Examples: []Example{
				{"Inverse[{{1, 2}, {3, 4}}]", "{{-2, 1}, {3/2, -1/2}}"},
				{"Eigenvalues[{{2, 1}, {1, 2}}]", "{3, 3}"},
			},
		},
		plan: planLinearAlgebraIdentity,
	}
}

func planLinearAlgebraIdentity(c Call) (Task, error) {
	if len(c.Args) == 0 {
		return Task{}, noShape("there is no matrix")
	}
	if c.Head == "MatrixExp" || c.Head == "Det" || c.Head == "Inverse" || c.Head == "Tr" {
		if len(c.Args) > 1 {
			return Task{}, noShape("further arguments are not checked")
		}
	}
	matrix, answer := c.Args[0], c.Answer
	star := func(e *expression.Expr) *expression.Expr { return call("ConjugateTranspose", e) }
	same := func(left, right *expression.Expr) (Task, error) {
		return identities(minus(left, right), [][2]*expression.Expr{{left, right}}, c.Assumptions, map[string]any{"answer": answer}), nil
	}
	parts, _ := list(answer)
	shaped := func(n int) bool { return len(parts) == n }
	unit := call("IdentityMatrix", expression.Int(int64(len(listed(matrix)))))
	switch c.Head {
	case "Inverse":
		return same(call("Dot", matrix, answer), unit)
	case "LinearSolve":
		if len(c.Args) != 2 {
			return Task{}, noShape("a matrix and a right-hand side are wanted")
		}
		return same(call("Dot", matrix, answer), c.Args[1])
	case "Eigenvalues", "Eigenvectors", "Eigensystem":
		if c.Head == "Eigenvalues" && len(c.Args) == 2 && integerText(c.Args[1]) != "" {
			return matrixTask(c, "some_eigenvalues", matrix, answer)
		}
		if len(c.Args) > 1 {
			return Task{}, noShape("parts of an eigensystem and generalised eigenvalues are not checked")
		}
		return matrixTask(c, map[string]string{"Eigenvalues": "eigenvalues", "Eigenvectors": "eigenvectors", "Eigensystem": "eigensystem"}[c.Head], matrix, answer)
	case "NullSpace":
		return matrixTask(c, "null_space", matrix, answer)
	case "MatrixRank":
		return matrixTask(c, "rank", matrix, answer)
	case "PseudoInverse":
		return matrixTask(c, "pseudo_inverse", matrix, answer)
	case "LeastSquares":
		if len(c.Args) != 2 {
			return Task{}, noShape("a matrix and a right-hand side are wanted")
		}
		return matrixTask(c, "least_squares", matrix, call("List", answer, c.Args[1]))
	case "CharacteristicPolynomial":
		if len(c.Args) != 2 {
			return Task{}, noShape("a matrix and a variable are wanted")
		}
		return same(call("Det", minus(matrix, call("Times", c.Args[1], unit))), answer)
	case "QRDecomposition":
		if !shaped(2) {
			return Task{}, noAnswer("the answer is not {q, r}")
		}
		return same(call("Dot", star(parts[0]), parts[1]), matrix)
	case "SingularValueDecomposition":
		if !shaped(3) {
			return Task{}, noAnswer("the answer is not {u, w, v}")
		}
		return same(call("Dot", parts[0], parts[1], star(parts[2])), matrix)
	case "JordanDecomposition":
		if !shaped(2) {
			return Task{}, noAnswer("the answer is not {s, j}")
		}
		return same(call("Dot", parts[0], parts[1]), call("Dot", matrix, parts[0]))
	case "SchurDecomposition", "HessenbergDecomposition":
		if !shaped(2) {
			return Task{}, noAnswer("the answer is not {q, t}")
		}
		return same(call("Dot", parts[0], parts[1], star(parts[0])), matrix)
	case "CholeskyDecomposition":
		return same(call("Dot", star(answer), answer), matrix)
	case "Adjugate":
		return same(call("Dot", matrix, answer), call("Times", call("Det", matrix), unit))
	}
	if c.Head == "MatrixPower" && len(c.Args) == 2 && c.Args[1].Kind == expression.Symbol {
		return matrixPowers(c)
	}
	return same(call(c.Head, c.Args...), answer)
}

// matrixPowers compares MatrixPower[m, n] for the first dozen of exponents n.
func matrixPowers(c Call) (Task, error) {
	power := call("MatrixPower", c.Args...)
	var claims [][2]*expression.Expr
	for n := range int64(12) {
		claims = append(claims, [2]*expression.Expr{power.Replace(c.Args[1], expression.Int(n+1)), c.Answer.Replace(c.Args[1], expression.Int(n+1))})
	}
	return identities(minus(power, c.Answer), claims, c.Assumptions, map[string]any{"answer": c.Answer}), nil
}

func matrixTask(c Call, what string, matrix, answer *expression.Expr) (Task, error) {
	if !answer.IsCall("List") && what != "rank" {
		return Task{}, noAnswer("the answer is not a list")
	}
	return Task{Kind: "matrix", Check: call("SameQ", call(c.Head, c.Args...), c.Answer), Fields: map[string]any{
		"what": what, "matrix": matrix, "answer": answer, "assumptions": c.Assumptions, "approximate": c.Approximate,
	}}, nil
}
