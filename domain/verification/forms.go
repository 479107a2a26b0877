package verification

import (
	"slices"
	"strconv"
	"strings"
	"sync"

	"reckon/domain/expression"
)

// formsRead says how many arguments, options aside, the calls of each head have that the rules read: "1-2 Log" is Log[z] and
// Log[b, z]; no upper bound: any number. A call of any other form is not checked, so that no argument is passed over.
const formsRead = `
1  ExpandNumerator ExpandDenominator Factor FactorSquareFree Together Cancel TrigExpand TrigReduce
1  TrigFactor TrigToExp ExpToTrig LogicalExpand RootReduce ToRadicals
1-2 Simplify FullSimplify Refine FunctionExpand PiecewiseExpand PowerExpand ComplexExpand BooleanMinimize BooleanConvert Expand ExpandAll Apart ApartSquareFree FactorTerms HornerForm
2-3 Collect
1- Derivative
2- Integrate NIntegrate Sum NSum Product NProduct D Series SeriesCoefficient
2  Limit DiscreteLimit Dt Grad Div Curl Laplacian Eliminate FindRoot
1-3 Solve SolveValues Reduce NSolve NSolveValues
1-4 FindInstance
1-2 Resolve
2  Roots NRoots
3  DSolve DSolveValue RSolve RSolveValue LaplaceTransform InverseLaplaceTransform
2-3 Minimize Maximize NMinimize NMaximize MinValue MaxValue NMinValue NMaxValue ArgMin ArgMax NArgMin NArgMax
2  FindMinimum FindMaximum FindMinValue FindMaxValue FindArgMin FindArgMax
1-2 N
1  Inverse Det NullSpace MatrixRank MatrixExp Tr ConjugateTranspose RowReduce QRDecomposition SingularValueDecomposition CholeskyDecomposition
1  JordanDecomposition SchurDecomposition HessenbergDecomposition LUDecomposition PseudoInverse Normalize Adjugate Transpose Eigenvectors Eigensystem
1-2 Eigenvalues Norm
2  LinearSolve MatrixPower CharacteristicPolynomial LeastSquares
1- Dot Cross KroneckerProduct
1  FactorInteger RandomPrime PrimitiveRoot PrimeQ CompositeQ PrimePowerQ SquareFreeQ Prime PrimePi EulerPhi MoebiusMu PrimeNu PrimeOmega LiouvilleLambda Divisors
1-2 NextPrime
1- CoprimeQ GCD LCM
2  DivisorSigma ModularInverse Quotient
2-3 Mod
3  PowerMod
2- PolynomialGCD PolynomialLCM ExtendedGCD
3  PolynomialQuotient PolynomialRemainder PolynomialQuotientRemainder PolynomialExtendedGCD Resultant
2  Discriminant PolynomialMod CoefficientList Exponent MinimalPolynomial GroebnerBasis Residue
2-3 Coefficient
2  InterpolatingPolynomial
1  Factorial Factorial2 CatalanNumber PartitionsP EvenQ OddQ IntegerQ IntegerPart FractionalPart Abs Sign Re Im Arg ReIm AbsArg Conjugate
1  Variance StandardDeviation Median Sqrt CubeRoot Exp Log2 Log10 Sin Cos Tan Cot Sec Csc ArcSin ArcCos ArcCot ArcSec ArcCsc Sinh Cosh Tanh Coth Sech Csch ArcSinh ArcCosh ArcTanh
1  ArcCoth ArcSech ArcCsch Sinc LogGamma Erfc Erfi InverseErf AiryAi AiryBi EllipticK CarmichaelLambda Length Mean TautologyQ SatisfiableQ Accumulate
1  Reverse Sort
1-2 Total EulerE BellB LucasL Fibonacci BernoulliB HarmonicNumber Floor Ceiling Round Clip Log ArcTan PolyGamma Zeta ProductLog Erf EllipticE IntegerLength IntegerExponent
1-2 FromDigits DigitSum Differences Subsets Permutations ContinuedFraction
1-3 Gamma Range IntegerDigits
1- Max Min UnitStep Multinomial BitAnd BitOr BitXor Table Union
1- Plus Times
2  Power Equal Unequal Less LessEqual Greater GreaterEqual
2  Binomial FactorialPower Pochhammer StirlingS1 StirlingS2 Surd HurwitzZeta PolyLog BesselI BesselJ BesselK BesselY ChebyshevT ChebyshevU LegendreP
2  HermiteH Cyclotomic Hypergeometric0F1 ChineseRemainder MultiplicativeOrder JacobiSymbol
2-3 Beta LaguerreL
1  Skewness Kurtosis
2  PDF CDF SurvivalFunction HazardFunction InverseCDF Quantile Moment CentralMoment Probability Expectation
3  GegenbauerC Hypergeometric1F1
4  JacobiP Hypergeometric2F1
`

// harmlessOptions say how an answer is looked for, written or how long; what a right answer is they leave as it is.
const harmlessOptions = "Method WorkingPrecision PrecisionGoal AccuracyGoal MaxRecursion MinRecursion MaxPoints MaxSteps MaxExtraConditions TimeConstraint " +
	"ComplexityFunction TransformationFunctions ExcludedForms Trig Extension Cubics Quartics InverseFunctions VerifySolutions GenerateConditions " +
	"PerformanceGoal StepMonitor EvaluationMonitor Exclusions Assumptions"

// optionsOf lists the options that change what a right answer is and which a rule reads.
var optionsOf = map[string]string{
	"rewrite_identity":        "GaussianIntegers Modulus",
	"factorinteger_product":   "GaussianIntegers",
	"primality":               "GaussianIntegers",
	"solve_residual":          "Modulus MaxRoots",
	"polynomial_gcd":          "Modulus",
	"linear_algebra_identity": "Modulus",
	"reduce_sampled":          "Modulus",
	"derivative_sampled":      "Constants",
	"integrate_quadrature":    "PrincipalValue",
	"limit_approach":          "Direction",
}

// generatingHeads answer with constants C[k] of their own: those of the question would be taken for them.
const generatingHeads = "Solve SolveValues Reduce Roots DSolve DSolveValue RSolve RSolveValue"

// count is a range of numbers of arguments; most -1 is none.
type count struct{ least, most int }

var forms = sync.OnceValue(func() map[string]count {
	read := map[string]count{}
	for _, line := range strings.Split(strings.TrimSpace(formsRead), "\n") {
		words := strings.Fields(line)
		low, high, isRange := strings.Cut(words[0], "-")
		least, _ := strconv.Atoi(low)
		most := least
		if isRange {
			most = -1
			if high != "" {
				most, _ = strconv.Atoi(high)
			}
		}
		for _, head := range words[1:] {
			read[head] = count{least, most}
		}
	}
	return read
})

// requireForm refuses calls of a form, or with an option, that no rule reads.
func requireForm(c Call, slug string) error {
	form, known := forms()[c.Head]
	if n := len(c.Args); !known || n < form.least || form.most >= 0 && n > form.most {
		return noShape(c.Head + " of " + strconv.Itoa(len(c.Args)) + " arguments is not checked")
	}
	if slices.Contains(strings.Fields(generatingHeads), c.Head) && mentionsAny(c.Whole, "C") {
		return noShape("a question with constants C[k] of its own is not checked")
	}
	allowed := strings.Fields(harmlessOptions + " " + optionsOf[slug])
	for option, value := range c.Options {
		if !slices.Contains(allowed, option) || option == "Method" && meansPrincipalValue(value) {
			return noShape("the option " + option + " is not checked")
		}
	}
	return nil
}

// meansPrincipalValue recognises the method of NIntegrate that computes another value than the integral.
func meansPrincipalValue(method *expression.Expr) bool {
	found := false
	method.Walk(func(n *expression.Expr) bool {
		found = found || n.Text == "PrincipalValue"
		return !found
	})
	return found
}
