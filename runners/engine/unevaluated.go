package engine

import (
	"regexp"
	"slices"
	"strings"
	"unicode"

	"reckon/domain/expression"
)

// unevaluated tells whether the engine gave the input back, so that its result is no answer (spec section 2.2).
//
// It is so where the engine says that it does not know the function; where the result names a symbol of the engine's own
// workings ($sum_indef_k_$); where it is $Failed, $Aborted or nothing at all; where a function that the engine complains
// of (Sin::argx) is left in it; where one computation was handed on to another that is left (NSolve[…] → Solve[…]); where
// a computation that the input asks for (Integrate, Solve) is left anywhere in it; and where the last expression of the input and the
// result have the same head and that head should have gone: complaining, exactly as it was; a function of inexact
// numbers that yielded none; a capitalised word nobody knows.
// What stands for itself is an answer: atoms, structures, operators, objects, functions of symbols (Sin[x]) and the
// caller's own f[x].
func unevaluated(x exchange) bool {
	for _, message := range x.messages {
		if strings.Contains(message, "not yet implemented") {
			return true
		}
	}
	if internalSymbol.MatchString(stringLiteral.ReplaceAllString(x.inputForm, `""`)) && !internalSymbol.MatchString(x.code) {
		return true
	}
	if x.inputForm == "" {
		return true // ended by Throw
	}
	if !x.isRead() {
		return false
	}
	asked, output := x.last(), x.output
	if output.IsSymbol("$Failed") || output.IsSymbol("$Aborted") {
		return !isInput(asked, output)
	}
	if output.Kind != expression.Call {
		return false
	}
	if complainedOf(output, x.messages) || leftOver(asked, output) {
		return true
	}
	head := output.HeadName()
	input := lastComputation(asked, head)
	if computations[head] && computations[input.HeadName()] {
		return true
	}
	if head == "" || input.HeadName() != head || input.Kind != expression.Call {
		return false
	}
	for _, message := range x.messages {
		if strings.HasPrefix(message, head+"::") {
			return true
		}
	}
	if len(x.messages) > 0 && expression.Canonical(input).Equal(expression.Canonical(output)) {
		return true
	}
	switch {
	case standsForItself(head):
		return false
	case functions[head]:
		return hasInexactValue(output)
	default:
		return true
	}
}

// isInput tells whether the input is what came out, so that it was asked for as it stands.
func isInput(input, output *expression.Expr) bool {
	return expression.Canonical(input).Equal(expression.Canonical(output))
}

// leftOver tells whether a computation that the input asks for is left anywhere in the result: 1 + Integrate[1/x^x, x]. What is held on
// either side was not asked for.
func leftOver(input, output *expression.Expr) bool {
	asked := computationsIn(input)
	for head := range computationsIn(output) {
		if asked[head] {
			return true
		}
	}
	return false
}

// holding are the heads whose arguments wait.
var holding = wordSet(`Hold HoldForm HoldComplete HoldPattern Defer Unevaluated Function SetDelayed RuleDelayed TagSetDelayed Condition If Which Switch ConditionalExpression Piecewise`)

func computationsIn(e *expression.Expr) map[string]bool {
	found := map[string]bool{}
	e.Walk(func(part *expression.Expr) bool {
		head := part.HeadName()
		if part.Kind == expression.Call && computations[head] {
			found[head] = true
		}
		return !holding[head]
	})
	return found
}

// complainedOf tells whether a call that the engine complains of is left anywhere in the result (1++, a part that is not there).
// Power::infy is no such complaint: structures are values.
func complainedOf(output *expression.Expr, messages []string) bool {
	if len(messages) == 0 {
		return false
	}
	found := false
	output.Walk(func(part *expression.Expr) bool {
		if head := part.HeadName(); part.Kind == expression.Call && head != "" && !standsForItself(head) {
			found = found || slices.ContainsFunc(messages, func(message string) bool { return strings.HasPrefix(oneLine(message), head+"::") })
		}
		return !found
	})
	return found
}

// internalSymbol is a name of the engine's own workings: those of the language begin with a capital ($Failed).
var internalSymbol = regexp.MustCompile(`\$[a-z]\w*`)

var stringLiteral = regexp.MustCompile(`"(?:[^"\\]|\\.)*"`)

// lastComputation finds the computation in the input whose head the output could have kept: the last statement, the value of an
// assignment, the argument of something that only rewrites.
func lastComputation(input *expression.Expr, head string) *expression.Expr {
	for input.Kind == expression.Call && input.HeadName() != head && len(input.Args) > 0 {
		switch name := input.HeadName(); {
		case name == "CompoundExpression", name == "Set" && len(input.Args) == 2:
			input = input.Args[len(input.Args)-1]
		case rewriters[name]:
			input = input.Args[0]
		default:
			return input
		}
	}
	return input
}

// hasInexactValue tells whether all arguments are numbers and one of them is inexact: a numeric function then has a value.
func hasInexactValue(call *expression.Expr) bool {
	found := false
	for _, argument := range call.Args {
		if !isNumber(argument) {
			return false
		}
		argument.Walk(func(part *expression.Expr) bool {
			found = found || part.Kind == expression.Real
			return !found
		})
	}
	return found
}

// isNumber tells whether e is a number, or sums, products and powers of numbers: 1/2, 1. + I, 2 Pi.
func isNumber(e *expression.Expr) bool {
	switch {
	case e.Kind == expression.Integer || e.Kind == expression.Real:
		return true
	case e.Kind == expression.Symbol:
		return e.Text == "I" || e.Text == "Pi" || e.Text == "E"
	}
	return numbersOf[e.HeadName()] && !slices.ContainsFunc(e.Args, func(argument *expression.Expr) bool { return !isNumber(argument) })
}

var numbersOf = wordSet("Plus Times Power Minus Divide Subtract Rational Complex Sqrt")

// standsForItself tells whether an expression with this head may be its own value. By the language's convention names
// of the system are capitalised words; anything else is the caller's.
func standsForItself(head string) bool {
	first := []rune(head)[0]
	if !unicode.IsUpper(first) || strings.Contains(head, "`") || len(strings.TrimRight(head, "0123456789")) == 1 {
		return true
	}
	for _, suffix := range []string{"Distribution", "Process", "Form", "Box", "Graph", "Data", "Object", "Model", "Color"} {
		if strings.HasSuffix(head, suffix) && head != suffix {
			return true
		}
	}
	return structures[head]
}

func wordSet(list string) map[string]bool {
	set := map[string]bool{}
	for _, word := range strings.Fields(list) {
		set[word] = true
	}
	return set
}

// computations either find what they look for or have not computed.
var computations = wordSet(`Solve NSolve Reduce Resolve FindInstance FindRoot Eliminate Roots NRoots DSolve DSolveValue NDSolve NDSolveValue RSolve
	Integrate NIntegrate Sum NSum Product NProduct Limit DiscreteLimit Series Residue SeriesCoefficient Minimize Maximize NMinimize NMaximize
	FindMinimum FindMaximum MinValue MaxValue ArgMin ArgMax LaplaceTransform InverseLaplaceTransform FourierTransform
	InverseFourierTransform ZTransform InverseZTransform MellinTransform`)

// rewriters answer their argument, rewritten.
var rewriters = wordSet(`N Simplify FullSimplify Expand ExpandAll Factor Together Apart Cancel Collect Evaluate Identity ReleaseHold
	Chop Rationalize PowerExpand ComplexExpand TrigExpand TrigReduce TrigToExp ExpToTrig FunctionExpand Refine Normal
	InputForm StandardForm TraditionalForm OutputForm FullForm TeXForm First Last Quiet Check TimeConstrained Block Module With`)

// structures are heads of values: containers, operators on symbols, held code, graphics and other objects.
var structures = wordSet(`List Association Rule RuleDelayed Sequence Hold HoldComplete HoldForm HoldPattern Unevaluated Defer Function Slot
	SlotSequence Pattern Blank BlankSequence BlankNullSequence Optional Alternatives Repeated RepeatedNull Condition PatternTest Except
	Verbatim Longest Shortest PatternSequence OptionsPattern KeyValuePattern Plus Times Power Subtract Divide Minus Rational Complex
	Equal Unequal SameQ UnsameQ Less LessEqual Greater GreaterEqual Inequality And Or Not Xor Implies Equivalent Nand Nor Element
	NotElement ForAll Exists If Which Switch Piecewise ConditionalExpression Dot NonCommutativeMultiply Composition Derivative
	CircleTimes CirclePlus Wedge Cross TensorProduct Span All Interval Quantity Missing Failure Success Root RootSum AlgebraicNumber
	SeriesData InterpolatingFunction SparseArray NumericArray ByteArray StringExpression RegularExpression Entity Key Keys Values
	Graph DirectedEdge UndirectedEdge Tree Dataset Directive Style Text Tooltip Labeled Legended Framed Row Column Grid Panel Item
	Graphics Graphics3D GraphicsComplex GraphicsGroup Image Sound SoundNote Manipulate Dynamic Point Line Arrow Polygon Circle Disk
	Rectangle Sphere Ball Cuboid Cylinder Cone Tube Triangle Simplex Ellipsoid Annulus Opacity Thickness PointSize Dashing Hue
	Inset Offset Scaled GeometricTransformation TransformationFunction Region ImplicitRegion ParametricRegion MessageName C
	Integers Reals Underscript Overscript Subscript Superscript Subsuperscript Ket Bra Around Splice Unit Underoverscript
	StringForm TextString Print CompoundExpression Set SetDelayed Cycles ParametricFunction CompiledFunction Short Shallow`)

// functions of mathematics that have no simpler form for most arguments.
var functions = wordSet(`Abs AbsArg AiryAi AiryAiPrime AiryBi AiryBiPrime AngerJ ArcCos ArcCosh ArcCot ArcCoth ArcCsc ArcCsch ArcSec
	ArcSech ArcSin ArcSinh ArcTan ArcTanh Arg ArithmeticGeometricMean BellB BernoulliB BesselI BesselJ BesselK BesselY Beta
	BetaRegularized Binomial BitAnd BitLength BitNot BitOr BitShiftLeft BitShiftRight BitXor Boole CatalanNumber Ceiling ChebyshevT
	ChebyshevU Conjugate Cos CosIntegral Cosh CoshIntegral Cot Coth Csc Csch CubeRoot DawsonF DedekindEta DigitCount DiracDelta
	DirichletEta DirichletL DiscreteDelta DivisorSigma EllipticE EllipticF EllipticK EllipticPi EllipticTheta Erf Erfc Erfi EulerE
	EulerPhi Exp ExpIntegralE ExpIntegralEi Factorial Factorial2 Fibonacci Floor FractionalPart FresnelC FresnelS Gamma
	GammaRegularized GCD GegenbauerC Gudermannian HankelH1 HankelH2 HarmonicNumber Haversine HeavisideLambda HeavisidePi
	HeavisideTheta HermiteH HurwitzLerchPhi HurwitzZeta Hypergeometric0F1 Hypergeometric0F1Regularized Hypergeometric1F1
	Hypergeometric1F1Regularized Hypergeometric2F1 Hypergeometric2F1Regularized HypergeometricPFQ HypergeometricU Im IntegerPart
	InverseErf InverseErfc InverseFunction InverseJacobiCD InverseJacobiCN InverseJacobiCS InverseJacobiDC InverseJacobiDN
	InverseJacobiDS InverseJacobiNC InverseJacobiND InverseJacobiNS InverseJacobiSC InverseJacobiSD InverseJacobiSN JacobiAmplitude JacobiCD
	JacobiCN JacobiCS JacobiDC JacobiDN JacobiDS JacobiNC JacobiND JacobiNS JacobiSC JacobiSD JacobiSN JacobiZeta InverseGudermannian InverseHaversine JacobiP JacobiSymbol KelvinBei KelvinBer
	KroneckerDelta LaguerreL LambertW LCM LegendreP LegendreQ LerchPhi LeviCivitaTensor Log Log10 Log2 LogGamma LogIntegral
	LucasL MathieuC MathieuS Max MeijerG Min MittagLefflerE Mod MoebiusMu Multinomial Norm ParabolicCylinderD PartitionsP
	PartitionsQ Pochhammer PolyGamma PolyLog Prime PrimePi ProductLog QFactorial QPochhammer Quotient Ramp Re RealAbs RealSign
	ReIm RiemannR Round Sec Sech Sign Signature Sin Sinc SinIntegral Sinh SinhIntegral SphericalBesselJ SphericalBesselY
	SphericalHarmonicY Sqrt StieltjesGamma StirlingS1 StirlingS2 StruveH StruveL Subfactorial Surd Tan Tanh UnitBox UnitStep
	UnitTriangle WeberE WeierstrassP WeierstrassPPrime WhittakerM WhittakerW WignerD ZernikeR Zeta`)
