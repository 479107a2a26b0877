package expression

import (
	"slices"
	"strings"
)

// Mathematics are the names that an anonymous expression may use, sorted: functions and constants that compute and
// say nothing of the machine, options and their values, and the functions that apply others. None of them defines anything, reads, writes,
// prints or tells the time. Part 0 of a value is its head, Symbol and String among them, and can be applied; but none of these functions
// answers with a text (as a fitted model has in it), so that no name is made of one but of the three that options have as values.
func Mathematics() []string { return slices.Clone(mathematics) }

var mathematics = func() []string {
	names := strings.Fields(`
List Rule Span All None Automatic True False Null Part

Plus Times Subtract Divide Minus Power Sqrt CubeRoot Surd Exp Log Log2 Log10 Abs Sign RealSign RealAbs
Re Im Arg Conjugate ReIm AbsArg Complex Rational Floor Ceiling Round IntegerPart FractionalPart Mod Quotient QuotientRemainder
Min Max MinMax Clip Rescale Chop N Rationalize Numerator Denominator UnitStep HeavisideTheta DiracDelta KroneckerDelta
DiscreteDelta Ramp UnitBox UnitTriangle SquareWave TriangleWave SawtoothWave Unitize Precision Accuracy SetPrecision SetAccuracy

Pi E I Infinity ComplexInfinity DirectedInfinity Indeterminate GoldenRatio GoldenAngle EulerGamma Catalan Degree Khinchin Glaisher
MachinePrecision Interval IntervalUnion IntervalIntersection IntervalMemberQ

Sin Cos Tan Cot Sec Csc ArcSin ArcCos ArcTan ArcCot ArcSec ArcCsc Sinh Cosh Tanh Coth Sech Csch ArcSinh ArcCosh ArcTanh ArcCoth
ArcSech ArcCsch Sinc Haversine InverseHaversine Gudermannian InverseGudermannian LogisticSigmoid AngleVector

Simplify FullSimplify Expand ExpandAll ExpandNumerator ExpandDenominator Factor FactorTerms FactorList FactorSquareFree
FactorSquareFreeList FactorTermsList Together Apart Cancel Collect TrigExpand TrigReduce TrigFactor TrigToExp ExpToTrig PowerExpand
FunctionExpand ComplexExpand Refine RootReduce ToRadicals PiecewiseExpand Variables Coefficient CoefficientList CoefficientRules
Exponent PolynomialQ PolynomialQuotient PolynomialRemainder PolynomialQuotientRemainder PolynomialGCD PolynomialLCM
PolynomialExtendedGCD PolynomialReduce PolynomialMod Resultant Discriminant Subresultants GroebnerBasis Cyclotomic Decompose
HornerForm SymmetricPolynomial MinimalPolynomial Root RootSum AlgebraicNumber InterpolatingPolynomial MonomialList Eliminate
Assumptions Element NotElement Reals Integers Rationals Complexes Primes Booleans Algebraics PositiveIntegers NonNegativeIntegers
NegativeIntegers PositiveReals NonNegativeReals NegativeReals Modulus Extension GaussianIntegers Trig Cubics Quartics

D Dt Integrate NIntegrate Limit DiscreteLimit MinLimit MaxLimit Series SeriesCoefficient Normal Sum NSum Product NProduct Residue
Grad Div Curl Laplacian Wronskian InverseFunction FourierTransform InverseFourierTransform FourierSeries FourierCoefficient
FourierSinCoefficient FourierCosCoefficient FourierSinSeries FourierCosSeries FourierSinTransform FourierCosTransform LaplaceTransform
InverseLaplaceTransform ZTransform InverseZTransform MellinTransform Convolve GenerateConditions PrincipalValue Direction
WorkingPrecision PrecisionGoal AccuracyGoal MaxIterations MaxRecursion Derivative ArcLength DifferenceDelta RecurrenceTable
SumConvergence FunctionDomain FunctionRange FunctionPeriod Asymptotic AsymptoticIntegrate SeriesData O PadeApproximant

Solve NSolve Reduce Roots NRoots ToRules FindRoot FindInstance DSolve DSolveValue NDSolve RSolve RSolveValue SolveAlways SolveValues
NSolveValues LinearSolve FindMinimum FindMaximum FindMinValue FindMaxValue FindArgMin FindArgMax Minimize Maximize MinValue MaxValue
ArgMin ArgMax NMinimize NMaximize NMinValue NMaxValue NArgMin NArgMax LinearProgramming Resolve ForAll Exists CountRoots RootIntervals
C ConditionalExpression Undefined

Equal Unequal SameQ UnsameQ Less LessEqual Greater GreaterEqual Inequality And Or Not Xor Nand Nor Xnor Implies Equivalent Boole If
Which Piecewise Switch TrueQ BooleanConvert LogicalExpand BooleanTable SatisfiableQ TautologyQ BooleanMinimize Majority

Dot Cross Norm Normalize Transpose ConjugateTranspose Det Inverse PseudoInverse MatrixPower MatrixExp MatrixLog MatrixRank NullSpace
RowReduce Tr Eigenvalues Eigenvectors Eigensystem CharacteristicPolynomial LUDecomposition QRDecomposition CholeskyDecomposition
SingularValueDecomposition SingularValueList SchurDecomposition HessenbergDecomposition JordanDecomposition LeastSquares IdentityMatrix
DiagonalMatrix Diagonal ConstantArray ZeroMatrix UnitVector HilbertMatrix ToeplitzMatrix HankelMatrix VandermondeMatrix RotationMatrix
ReflectionMatrix ScalingMatrix KroneckerProduct Outer Inner Minors Adjugate Orthogonalize Projection VectorAngle Dimensions ArrayDepth
MatrixQ VectorQ SquareMatrixQ SymmetricMatrixQ HermitianMatrixQ AntisymmetricMatrixQ OrthogonalMatrixQ UnitaryMatrixQ DiagonalMatrixQ
PositiveDefiniteMatrixQ PositiveSemidefiniteMatrixQ UpperTriangularize LowerTriangularize LeviCivitaTensor MatrixForm SparseArray Permanent
EuclideanDistance ManhattanDistance ChessboardDistance CosineDistance SquaredEuclideanDistance

PrimeQ PrimePowerQ CompositeQ Prime PrimePi NextPrime RandomPrime FactorInteger Divisors DivisorSigma DivisorSum Divisible CoprimeQ GCD
LCM ExtendedGCD PowerMod PowerModList MultiplicativeOrder PrimitiveRoot PrimitiveRootList EulerPhi CarmichaelLambda MoebiusMu LiouvilleLambda
MangoldtLambda PrimeOmega PrimeNu SquareFreeQ PerfectNumberQ JacobiSymbol KroneckerSymbol ChineseRemainder ContinuedFraction
FromContinuedFraction Convergents IntegerDigits FromDigits RealDigits DigitCount IntegerLength IntegerExponent IntegerReverse
IntegerSqrt BitAnd BitOr BitXor BitNot BitShiftLeft BitShiftRight BitLength EvenQ OddQ IntegerQ NumberQ NumericQ RealValuedNumberQ Positive
Negative NonPositive NonNegative SumOfSquares SquaresR PowersRepresentations FrobeniusNumber FrobeniusSolve EulerE BernoulliB HarmonicNumber
PartitionsP PartitionsQ IntegerPartitions StirlingS1 StirlingS2 BellB CatalanNumber Fibonacci LucasL Subfactorial PolygonalNumber
QuadraticIrrationalQ ExactNumberQ InexactNumberQ

Factorial Factorial2 Binomial Multinomial Pochhammer FactorialPower Permutations Subsets Tuples Partition Signature PermutationOrder
PermutationCycles Permute PermutationList InversePermutation Cycles CyclicGroup SymmetricGroup AlternatingGroup GroupOrder RandomInteger
RandomReal RandomChoice RandomSample RandomPermutation

Gamma LogGamma PolyGamma Beta BetaRegularized GammaRegularized Erf Erfc Erfi InverseErf InverseErfc FresnelS FresnelC SinIntegral
CosIntegral SinhIntegral CoshIntegral ExpIntegralE ExpIntegralEi LogIntegral PolyLog LerchPhi Zeta HurwitzZeta DirichletEta RiemannSiegelZ
RiemannSiegelTheta BesselJ BesselY BesselI BesselK BesselJZero SphericalBesselJ SphericalBesselY HankelH1 HankelH2 AiryAi AiryBi AiryAiPrime
AiryBiPrime StruveH StruveL KelvinBer KelvinBei LegendreP LegendreQ ChebyshevT ChebyshevU HermiteH LaguerreL JacobiP GegenbauerC
SphericalHarmonicY Hypergeometric0F1 Hypergeometric1F1 Hypergeometric2F1 HypergeometricPFQ HypergeometricU MeijerG EllipticK EllipticE
EllipticF EllipticPi EllipticTheta JacobiSN JacobiCN JacobiDN JacobiAmplitude WeierstrassP LambertW ProductLog ParabolicCylinderD
WhittakerM WhittakerW BarnesG Hyperfactorial ClebschGordan ThreeJSymbol SixJSymbol

Total Mean Median Variance StandardDeviation Commonest Quantile Quartiles InterquartileRange GeometricMean HarmonicMean RootMeanSquare
Covariance Correlation Skewness Kurtosis Moment CentralMoment MeanDeviation MedianDeviation Standardize TrimmedMean Accumulate Differences
Ratios MovingAverage Tally Counts Fit Interpolation PDF CDF InverseCDF SurvivalFunction Probability Expectation NProbability
NExpectation RandomVariate Distributed NormalDistribution UniformDistribution ExponentialDistribution BinomialDistribution PoissonDistribution
GeometricDistribution BernoulliDistribution DiscreteUniformDistribution StudentTDistribution ChiSquareDistribution GammaDistribution
BetaDistribution FRatioDistribution LogNormalDistribution CauchyDistribution WeibullDistribution LaplaceDistribution HypergeometricDistribution
NegativeBinomialDistribution MultinormalDistribution

Range Table Array Length First Last Rest Most Take Drop Append Prepend Join Union Intersection Complement SymmetricDifference
DeleteDuplicates Sort SortBy Reverse RotateLeft RotateRight Flatten Riffle Position Count MemberQ FreeQ SubsetQ DisjointQ Select SelectFirst
Pick Ordering OrderedQ Min Max Extract Insert Delete ReplacePart PadLeft PadRight Gather GatherBy Split Nearest AllTrue AnyTrue NoneTrue
Map Apply MapThread MapIndexed Thread Through Fold FoldList Nest NestList NestWhile NestWhileList FixedPoint FixedPointList Function Slot
SlotSequence Composition Identity ReplaceAll ReplaceRepeated Sequence
`)
	slices.Sort(names)
	return slices.Compact(names)
}()
