package verification

import (
	"slices"
	"strings"
	"sync"

	"reckon/domain/expression"
)

const programSlug = "program_value"

// programHeads are the functions that the checker evaluates over exact values, by family: choices and logic, functions of functions, patterns,
// lists, associations, texts, whole numbers and statistics, dates, units.
var programHeads = strings.Fields(`
	List If Which Switch And Or Not Xor Nand Nor Implies Equivalent Boole TrueQ SameQ UnsameQ Inequality Equal Unequal Less LessEqual Greater GreaterEqual
	With Module Block CompoundExpression Catch Scan Plus Times Power Sqrt Exp IntegerQ StringQ ListQ AssociationQ NumberQ BooleanQ AtomQ VectorQ MissingQ NumericQ
	Function Map MapApply Apply MapIndexed MapThread Thread Through Fold FoldList Nest NestList NestWhile NestWhileList FixedPoint FixedPointList Array Outer
	Select SelectFirst AllTrue AnyTrue NoneTrue TakeWhile LengthWhile SortBy ReverseSortBy MaximalBy MinimalBy GroupBy GatherBy CountsBy DeleteDuplicatesBy SplitBy
	Cases DeleteCases FirstCase Count MemberQ MatchQ FreeQ Position FirstPosition Replace ReplaceAll
	Table Range ConstantArray Length Take Drop First Last Rest Most Part Extract ReplacePart Insert Delete Join Catenate Append Prepend Reverse Flatten Partition Riffle
	RotateLeft RotateRight PadLeft PadRight Transpose Dimensions ArrayDepth ArrayReshape Dot Sort ReverseSort Ordering OrderedQ Order TakeLargest TakeSmallest DeleteDuplicates
	DuplicateFreeQ CountDistinct Union Intersection Complement SymmetricDifference ContainsAll SubsetQ ContainsAny ContainsNone ContainsOnly ContainsExactly
	IntersectingQ DisjointQ Tally Counts Commonest Gather Split Total Accumulate Differences Ratios Max Min MinMax Tuples Subsets Permutations Sum Product
	Association Keys Values Lookup KeyExistsQ AssociationThread AssociationMap KeyMap KeyValueMap KeySelect KeyTake KeyDrop KeySort Merge PositionIndex
	StringLength StringJoin StringReverse Characters StringTake StringDrop StringPart StringInsert StringRepeat StringPartition StringRotateLeft StringRotateRight
	StringPadLeft StringPadRight ToUpperCase ToLowerCase Capitalize LetterQ DigitQ UpperCaseQ LowerCaseQ PalindromeQ ToCharacterCode FromCharacterCode CharacterRange
	Alphabet LetterNumber ToString TextString HammingDistance EditDistance StringTrim StringSplit StringRiffle StringContainsQ StringFreeQ StringStartsQ StringEndsQ
	StringCount StringMatchQ StringPosition StringCases StringReplace StringDelete StringReplacePart WordCount
	Mod Quotient QuotientRemainder GCD LCM Divisible CoprimeQ EvenQ OddQ PrimeQ CompositeQ Prime PrimePi NextPrime Divisors EulerPhi PrimeNu PrimeOmega SquareFreeQ
	DivisorSigma PowerMod Abs Sign Floor Ceiling Round IntegerPart FractionalPart Numerator Denominator UnitStep Positive Negative NonNegative NonPositive
	Factorial Fibonacci Binomial Multinomial IntegerDigits IntegerLength IntegerReverse DigitSum DigitCount FromDigits IntegerString RomanNumeral FromRomanNumeral
	IntegerExponent BitAnd BitOr BitXor BitNot BitShiftLeft BitShiftRight Mean Median Variance StandardDeviation RootMeanSquare GeometricMean HarmonicMean
	Quantile Quartiles InterquartileRange Covariance Correlation MeanDeviation MedianDeviation MovingAverage Rescale Clip IntegerPartitions KroneckerDelta
	DateDifference DayCount DayName DayMatchQ LeapYearQ DatePlus AbsoluteTime DateList DateValue DateString
	Quantity UnitConvert QuantityMagnitude QuantityUnit QuantityQ CompatibleUnitQ
`)

// commonHeads stand in arithmetic and conditions too: of a call that another rule takes they make no program.
var commonHeads = strings.Fields("List And Or Not Xor Nand Nor Implies Equivalent Inequality")

// ownHeads are the functions that no other rule has.
var ownHeads = sync.OnceValue(func() map[string]bool {
	own := map[string]bool{}
	for _, head := range programHeads {
		own[head] = true
	}
	for _, rule := range rulesOfMathematics() {
		if rule.Declare().Slug == distributionSlug {
			continue // what it takes isProgram leaves to it
		}
		for _, head := range rule.Declare().Heads {
			delete(own, head)
		}
	}
	return own
})

// isProgram recognises calls whose value the evaluator gives and no other rule: of its own functions, of texts, of lists that other rules do not read.
func isProgram(c Call) bool {
	switch {
	case c.Approximate || len(c.Assumptions) > 0 || isOfDistribution(c):
		return false
	case ownHeads()[c.Head] || hasText(c.Whole):
		return true
	case slices.Contains(orderedHeads, c.Head) || c.Head == "Permutations" || c.Head == "Subsets":
		return slices.ContainsFunc(c.Args, func(part *expression.Expr) bool { return !ofIntegers(part) || hasInnerList(part) }) || mentionsOwn(c.Whole)
	case c.Head == "Table":
		return len(c.Args) > 0 && (mentionsAny(c.Args[0], "List", "FactorInteger") || slices.ContainsFunc(c.Args, hasInnerList) || slices.ContainsFunc(c.Args[1:], onlyCounts) ||
			mentionsAny(c.Args[0], primality().Declare().Heads...)) || mentionsOwn(c.Whole)
	case isLogical(c.Whole):
		return len(c.Args) > 2 || mentionsAny(c.Whole, "List") || mentionsOwn(c.Whole)
	case slices.Contains(primality().Declare().Heads, c.Head):
		return slices.ContainsFunc(c.Args, func(arg *expression.Expr) bool {
			return !arg.IsCall("List") && makesList(arg) || len(c.Args) > 1 && arg.IsCall("List")
		}) || mentionsOwn(c.Whole)
	}
	return mentionsOwn(c.Whole)
}

// hasInnerList reports whether a list is an element of a list.
func hasInnerList(e *expression.Expr) bool {
	return slices.ContainsFunc(e.Args, func(part *expression.Expr) bool { return mentionsAny(part, "List") })
}

// onlyCounts reports whether an iterator has no variable.
func onlyCounts(iterator *expression.Expr) bool {
	return !iterator.IsCall("List") || len(iterator.Args) == 1
}

// makesList reports whether a function of lists, or that answers with a list, stands in an expression.
func makesList(e *expression.Expr) bool {
	return mentionsAny(e, "List", "Divisors") || mentionsAny(e, listHeads...) || mentionsAny(e, orderedHeads...)
}

func mentionsOwn(e *expression.Expr) bool {
	found := false
	e.Walk(func(n *expression.Expr) bool {
		found = found || n.Kind == expression.Symbol && ownHeads()[n.Text] && !slices.Contains(commonHeads, n.Text)
		return !found
	})
	return found
}

// programValue: a program over exact values, evaluated a second time.
func programValue() Rule {
	return ResidualRule{
		Declaration: Declaration{
			Slug:  programSlug,
			Heads: programHeads,
			Shows: "A second evaluator, written from the documented meaning of the functions, comes to the same value, or to another one: whole numbers, fractions, texts, truth values, symbols, " +
				"lists, associations, quantities. Units are converted by the exact factors of the SI Brochure (9th edition) and NIST Special Publication 811; days are counted in the proleptic Gregorian calendar (ISO 8601). " +
				"Where an entry is arithmetic of symbols or a number such as Sqrt[2], it is compared as value_identity does. Numbers up to 2^64 are proved prime. Everything is bounded before it is computed: " +
				"200,000 bits of a number, 20,000 elements of a list, 20,000 characters, 20,000 turns of a loop. Several expressions in one may define functions and variables and change them.",
			Silent: "Arguments, options, patterns and levels of another form than the evaluator reads, decimals but as they stand, texts with characters beyond 16 bits, the order of expressions other than " +
				"numbers, symbols, texts of letters and digits and lists of these, results whose order the language leaves open, definitions of which more than one fits and none is the more special one, times of day and time zones, and units whose name has several meanings.",
			Examples: []Example{
				{"Map[#^2 &, Range[5]]", "{1, 4, 9, 16, 25}"},
				{`StringReplace["banana", "an" -> "x"]`, `"bxxa"`},
				{"GroupBy[{1, 2, 3, 4}, EvenQ, Total]", "<|False -> 4, True -> 7|>"},
				{"fib[0] = 0; fib[1] = 1; fib[n_] := fib[n - 1] + fib[n - 2]; fib[10]", "55"},
				{`UnitConvert[Quantity[1, "Miles"], "Kilometers"]`, `Quantity[25146/15625, "Kilometers"]`},
				{"DateDifference[{2024, 2, 1}, {2024, 3, 1}]", `Quantity[28, "Days"]`},
			},
		},
		form: isProgram,
		plan: func(c Call) (Task, error) {
			program := c.Whole
			if c.Normal {
				program = call("Normal", program)
			}
			return Task{Kind: "program", Check: call("SameQ", program, c.Answer), Fields: map[string]any{"program": program, "answer": c.Answer}}, nil
		},
	}
}
