package verification

import (
	"slices"

	"reckon/domain/expression"
)

// linearAlgebraIdentity: matrix answers put into the equations that define them.
func linearAlgebraIdentity() Rule {
	return ResidualRule{
		Declaration: Declaration{
			Slug: "linear_algebra_identity",
			Heads: []string{
				"Inverse", "LinearSolve", "Det", "Eigenvalues", "Eigenvectors", "Eigensystem", "NullSpace", "MatrixRank", "MatrixExp", "MatrixPower", "Dot",
				"Tr", "Transpose", "ConjugateTranspose", "RowReduce", "CharacteristicPolynomial", "QRDecomposition", "SingularValueDecomposition",
				"CholeskyDecomposition", "JordanDecomposition", "SchurDecomposition", "HessenbergDecomposition", "LUDecomposition", "LeastSquares", "PseudoInverse", "Cross", "KroneckerProduct", "Norm", "Normalize", "Adjugate",
			},
			Shows: "Everything that defines the answer holds: M.Inverse[M] is the identity; the eigenvalues have the characteristic polynomial of M; eigenvectors are " +
				"independent, keep their direction and are as many as there are; null space vectors are a basis; the factors of a decomposition have M as product, and " +
				"form, signs and order as their definitions say (orthonormal, triangular, invertible, diagonal, Jordan blocks); MatrixPower[M, n] meets the recurrence, " +
				"or the differential equation where n may be any number. With Modulus all of that holds modulo it, and the answer has its least residues.",
			Silent: "The order of eigenvalues, order and scale of eigenvectors and of null space vectors, special values of parameters. The condition number in " +
				"LUDecomposition must be 1, as for exact numbers.",
			Examples: []Example{
				{"Inverse[{{1, 2}, {3, 4}}]", "{{-2, 1}, {3/2, -1/2}}"},
				{"Eigenvalues[{{2, 1}, {1, 2}}]", "{3, 3}"},
			},
		},
		plan: planLinearAlgebraIdentity,
	}
}

func planLinearAlgebraIdentity(c Call) (Task, error) {
	if c.Options["Modulus"] != nil {
		return modularMatrixTask(c)
	}
	if what, ok := matrixProperties[c.Head]; ok {
		return matrixTask(c, what)
	}
	matrix, answer := c.Args[0], c.Answer
	same := func(left, right *expression.Expr) (Task, error) {
		return identities(difference(left, right), [][2]*expression.Expr{{left, right}}, c.Assumptions, map[string]any{"answer": answer}), nil
	}
	unit := call("IdentityMatrix", expression.Int(int64(len(elementsOf(matrix)))))
	switch c.Head {
	case "CharacteristicPolynomial":
		return same(call("Det", difference(matrix, call("Times", c.Args[1], unit))), answer)
	case "MatrixPower":
		if c.Args[1].Kind == expression.Symbol {
			return matrixTask(c, "power")
		}
	}
	return same(call(c.Head, c.Args...), answer)
}

// matrixProperties are the heads whose answers have several properties, and what the checker calls them.
var matrixProperties = map[string]string{
	"Inverse": "inverse", "LinearSolve": "linear_solve", "Eigenvalues": "eigenvalues", "Eigenvectors": "eigenvectors", "Eigensystem": "eigensystem", "NullSpace": "null_space", "MatrixRank": "rank",
	"PseudoInverse": "pseudo_inverse", "LeastSquares": "least_squares", "QRDecomposition": "qr", "SingularValueDecomposition": "singular_values",
	"JordanDecomposition": "jordan", "SchurDecomposition": "schur", "HessenbergDecomposition": "hessenberg", "CholeskyDecomposition": "cholesky",
	"LUDecomposition": "lu", "Adjugate": "adjugate", "RowReduce": "row_reduce",
}

// modularHeads are the heads that take the option Modulus, and what the checker calls them.
var modularHeads = map[string]string{
	"Inverse": "inverse", "Det": "determinant", "LinearSolve": "linear_solve", "NullSpace": "null_space", "MatrixRank": "rank", "RowReduce": "row_reduce",
}

// modularMatrixTask is the work order for matrices of integers modulo n.
func modularMatrixTask(c Call) (Task, error) {
	what, ok := modularHeads[c.Head]
	if !ok || len(c.Options) > 1 {
		return Task{}, noShape(c.Head + " with these options is not checked")
	}
	fields := map[string]any{"what": what, "matrix": c.Args[0], "answer": c.Answer, "modulus": c.Options["Modulus"]}
	if what == "linear_solve" {
		fields["right"] = c.Args[1]
	}
	return Task{Kind: "modular_matrix", Check: call("SameQ", c.Whole, c.Answer), Fields: fields}, nil
}

func matrixTask(c Call, what string) (Task, error) {
	if !c.Answer.IsCall("List") && what != "rank" && !slices.Contains([]string{"power", "adjugate", "row_reduce", "pseudo_inverse", "cholesky", "inverse"}, what) {
		return Task{}, noAnswer("the answer is not a list")
	}
	fields := map[string]any{
		"what": what, "matrix": c.Args[0], "answer": c.Answer, "assumptions": c.Assumptions, "approximate": c.Approximate,
	}
	switch {
	case what == "least_squares", what == "linear_solve":
		fields["right"] = c.Args[1]
	case what == "power":
		fields["index"] = c.Args[1].Text
	case len(c.Args) > 1: // Eigenvalues[m, k]
		count := integerText(c.Args[1])
		if count == "" {
			return Task{}, noShape("how many eigenvalues are wanted is no integer")
		}
		fields["what"], fields["index"] = "some_eigenvalues", count
	}
	return Task{Kind: "matrix", Check: call("SameQ", call(c.Head, c.Args...), c.Answer), Fields: fields}, nil
}
