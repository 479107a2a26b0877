package verification

import (
	"fmt"
	"math/rand/v2"
	"strings"
)

// Program draws a program over exact values whose functions the rule program_value checks: one of the forms below with random parts, which
// may be programs themselves.
func Program(chance *rand.Rand) string {
	draw := drawing{chance}
	return draw.filled(pick(chance, programs["any"]), 3)
}

type drawing struct{ *rand.Rand }

// filled replaces each <kind> of a form by a drawn part of that kind; depth bounds how far parts are programs.
func (d drawing) filled(form string, depth int) string {
	var b strings.Builder
	for {
		before, rest, found := strings.Cut(form, "<")
		b.WriteString(before)
		if !found {
			return b.String()
		}
		kind, after, closed := strings.Cut(rest, ">")
		forms := programs[kind]
		if !closed || strings.ContainsAny(kind, " |&-") || forms == nil && d.atom(kind) == "" {
			b.WriteString("<")
			form = rest
			continue
		}
		if forms != nil && (depth > 0 && d.IntN(3) == 0 || d.atom(kind) == "") {
			b.WriteString(d.filled(pick(d.Rand, forms), depth-1))
		} else {
			b.WriteString(d.atom(kind))
		}
		form = after
	}
}

// atom is a part of a kind that is no program; "" where there is none.
func (d drawing) atom(kind string) string {
	switch kind {
	case "small":
		return fmt.Sprint(d.IntN(5))
	case "index":
		return fmt.Sprint(1 + d.IntN(3))
	case "int":
		return fmt.Sprint(d.IntN(41) - 15)
	case "natural":
		return fmt.Sprint(1 + d.IntN(200))
	case "big":
		return fmt.Sprint(d.Int64N(1_000_000_000_000))
	case "base":
		return pick(d.Rand, []string{"2", "3", "8", "10", "16", "36"})
	case "rational":
		return fmt.Sprintf("%d/%d", d.IntN(41)-20, 1+d.IntN(12))
	case "symbol":
		return pick(d.Rand, []string{"a", "b", "c", "x", "y"})
	case "letter":
		return pick(d.Rand, []string{`"a"`, `"b"`, `"n"`, `" "`, `"ab"`, `"l"`, `","`, `"1"`})
	case "ints":
		return d.list("int", 2+d.IntN(6))
	case "naturals":
		return d.list("natural", 2+d.IntN(6))
	case "numbers":
		return d.list(pick(d.Rand, []string{"int", "rational"}), 2+d.IntN(6))
	case "digits":
		return d.list("small", 3+d.IntN(6))
	case "symbols":
		return d.list("symbol", 2+d.IntN(5))
	case "truths":
		return d.list("truth", 1+d.IntN(3))
	case "truth":
		return pick(d.Rand, []string{"True", "False"})
	case "text":
		return pick(d.Rand, []string{`"banana"`, `"Hello World"`, `"a,b,,c"`, `"aabbccaab"`, `"mississippi"`, `"The quick brown fox"`, `"x1y22z333"`, `"level"`, `"abcABC"`, `""`, `"héllo"`, `"2024-02-29"`, `"  padded  "`})
	case "texts":
		return d.list("text", 2+d.IntN(3))
	case "matrix":
		rows, columns := 2+d.IntN(2), 2+d.IntN(2)
		parts := make([]string, rows)
		for i := range parts {
			parts[i] = d.list("int", columns)
		}
		return "{" + strings.Join(parts, ", ") + "}"
	case "pairs":
		parts := make([]string, 2+d.IntN(4))
		for i := range parts {
			parts[i] = fmt.Sprintf(`"%c" -> %d`, 'a'+i, d.IntN(9))
		}
		return "<|" + strings.Join(parts, ", ") + "|>"
	case "predicate":
		return pick(d.Rand, []string{"EvenQ", "OddQ", "PrimeQ", "(# > 3 &)", "(Mod[#, 3] == 0 &)", "(# <= 5 &)", "(Abs[#] < 7 &)", "(IntegerQ[#/2] &)"})
	case "unary":
		return pick(d.Rand, []string{"(#^2 &)", "(# + 1 &)", "Abs", "(3 # - 1 &)", "(Mod[#, 4] &)", "(-# &)", "Function[t, t^3]", "(Quotient[#, 2] &)", "Sign"})
	case "binary":
		return pick(d.Rand, []string{"Plus", "Times", "(#1 - #2 &)", "Max", "Min", "(#1 + 2 #2 &)", "(2 #1 + #2 &)", "Subtract"})
	case "date":
		return fmt.Sprintf("{%d, %d, %d}", 1600+d.IntN(600), 1+d.IntN(12), 1+d.IntN(28))
	case "length":
		return fmt.Sprintf(`Quantity[%s, "%s"]`, d.atom("rational"), pick(d.Rand, strings.Fields("Meters Kilometers Centimeters Inches Feet Yards Miles NauticalMiles Millimeters")))
	case "lengthunit":
		return `"` + pick(d.Rand, strings.Fields("Meters Kilometers Centimeters Inches Feet Yards Miles NauticalMiles Millimeters")) + `"`
	case "temperature":
		return fmt.Sprintf(`Quantity[%d, "%s"]`, d.IntN(500), pick(d.Rand, strings.Fields("DegreesCelsius DegreesFahrenheit Kelvins")))
	case "scale":
		return `"` + pick(d.Rand, strings.Fields("DegreesCelsius DegreesFahrenheit Kelvins")) + `"`
	}
	return ""
}

func (d drawing) list(kind string, count int) string {
	parts := make([]string, count)
	for i := range parts {
		parts[i] = d.atom(kind)
	}
	return "{" + strings.Join(parts, ", ") + "}"
}

func pick(chance *rand.Rand, from []string) string { return from[chance.IntN(len(from))] }

// programs are forms by what they come to; those of "any" are programs of their own.
var programs = func() map[string][]string {
	forms := map[string][]string{}
	for _, line := range strings.Split(strings.TrimSpace(programForms), "\n") {
		kind, form, _ := strings.Cut(line, ": ")
		forms[kind] = append(forms[kind], form)
		if kind != "any" {
			forms["any"] = append(forms["any"], form)
		}
	}
	return forms
}()

const programForms = `
ints: Map[<unary>, <ints>]
ints: Select[<ints>, <predicate>]
ints: Table[<unary>[k], {k, <index>, 6}]
ints: Table[i + j, {i, 3}, {j, i}] // Flatten
ints: Range[<small>, 9, <index>]
ints: Reverse[<ints>]
ints: Sort[<ints>]
ints: Accumulate[<ints>]
ints: Differences[<ints>]
ints: Join[<ints>, <ints>]
ints: Append[<ints>, <int>]
ints: Prepend[<ints>, <int>]
ints: DeleteDuplicates[<digits>]
ints: Union[<ints>, <digits>]
ints: Intersection[<digits>, <digits>]
ints: Complement[<digits>, <digits>]
ints: RotateLeft[<ints>, <int>]
ints: RotateRight[<ints>]
ints: Riffle[<ints>, <int>]
ints: FoldList[<binary>, <int>, <ints>]
ints: NestList[<unary>, <small>, 4]
ints: Flatten[<matrix>]
ints: IntegerDigits[<big>]
ints: SortBy[<ints>, <unary>]
ints: Total[<matrix>]
ints: MapThread[<binary>, {{1, 2, 3}, {4, 5, 6}}]
ints: Cases[<ints>, _?<predicate>]
ints: TakeWhile[<ints>, <predicate>]
ints: PadLeft[<ints>, 4]
ints: PadRight[<ints>, 8, <int>]
ints: Divisors[<natural>]
ints: Values[<pairs>]
ints: ToCharacterCode["abc"]
ints: DeleteCases[<digits>, <small>]
ints: Mod[<ints>, 5]
ints: Quotient[<ints>, 3]
ints: Take[Range[9], <index>]
ints: Drop[Range[9], -<index>]
ints: With[{n = <small>}, Table[n k, {k, 4}]]
int: Total[<ints>]
int: Length[<ints>]
int: Max[<ints>]
int: Min[<ints>]
int: First[<digits>]
int: Last[<digits>]
int: <digits>[[<index>]]
int: Fold[<binary>, <int>, <ints>]
int: Nest[<unary>, <small>, 3]
int: Count[<digits>, <small>]
int: Apply[Plus, <ints>]
int: Mod[<int>, 7]
int: Quotient[<int>, 4]
int: GCD[<natural>, <natural>]
int: LCM[<natural>, <natural>]
int: If[<int> > 3, <int>, <int>]
int: Which[<int> > 10, 1, <int> > 0, 2, True, 3]
int: Switch[<small>, 0, 10, 1, 20, _, 30]
int: Boole[<truth>]
int: StringLength[<text>]
int: IntegerLength[<big>, <base>]
int: DigitSum[<natural>]
int: DigitCount[<big>, 10, <small>]
int: FromDigits[<digits>, 7]
int: StringCount[<text>, <letter>]
int: EditDistance[<text>, <text>]
int: Sum[<unary>[k], {k, 5}]
int: <pairs>["a"]
int: Lookup[<pairs>, "z", 0]
int: IntegerReverse[<natural>]
int: IntegerExponent[<natural>, 2]
int: BitXor[<natural>, <natural>]
int: BitAnd[<natural>, 255]
int: Binomial[8, <small>]
int: EulerPhi[<natural>]
int: DayCount[<date>, <date>]
int: NestWhile[Quotient[#, 2] &, <natural>, # > 5 &]
truth: MemberQ[<digits>, <small>]
truth: FreeQ[<digits>, <small>]
truth: AllTrue[<ints>, <predicate>]
truth: AnyTrue[<ints>, <predicate>]
truth: NoneTrue[<ints>, <predicate>]
truth: <int> < <int>
truth: <int> <= <int> < 20
truth: Divisible[<natural>, 3]
truth: PrimeQ[<natural>]
truth: StringContainsQ[<text>, <letter>]
truth: StringStartsQ[<text>, <letter>]
truth: StringEndsQ[<text>, <letter>]
truth: SubsetQ[<digits>, {<small>}]
truth: ContainsAny[<digits>, {<small>, <small>}]
truth: DuplicateFreeQ[<digits>]
truth: OrderedQ[<digits>]
truth: <truth> && <truth>
truth: Or[<truth>, <truth>]
truth: Xor[<truth>, <truth>]
truth: Not[<truth>]
truth: LeapYearQ[<date>]
truth: PalindromeQ[<text>]
truth: MatchQ[<int>, _Integer]
truth: <ints> == <ints>
truth: KeyExistsQ[<pairs>, "b"]
truth: CoprimeQ[<natural>, <natural>]
truth: IntegerQ[<rational>]
truth: DayMatchQ[<date>, Monday]
truth: UpperCaseQ["ABC"]
text: StringJoin[<text>, <letter>]
text: StringReverse[<text>]
text: ToUpperCase[<text>]
text: ToLowerCase[<text>]
text: StringReplace[<text>, <letter> -> "X"]
text: StringReplace[<text>, {"a" -> "1", "b" -> "2"}]
text: StringTake["abcdefgh", <index>]
text: StringTake["abcdefgh", {<index>, 5}]
text: StringTake["abcdefgh", -<index>]
text: StringDrop["abcdefgh", <index>]
text: StringPadLeft[<text>, 10]
text: StringPadRight[<text>, 8, "*"]
text: StringRepeat["ab", <small>]
text: StringTrim[<text>]
text: StringRiffle[<texts>, "-"]
text: StringDelete[<text>, <letter>]
text: IntegerString[<natural>, <base>]
text: IntegerString[<natural>, 2, 10]
text: ToString[<int>]
text: RomanNumeral[<natural>]
text: StringInsert["abcdef", "X", <index>]
text: Capitalize[<text>]
text: StringRotateLeft["abcdef", <index>]
text: FromCharacterCode[{72, 105}]
text: DateString[<date>, "ISODate"]
text: StringJoin[Reverse[Characters["abc"]]]
texts: Characters[<text>]
texts: StringSplit[<text>]
texts: StringSplit[<text>, ","]
texts: StringCases[<text>, LetterCharacter]
texts: StringCases[<text>, DigitCharacter ..]
texts: Map[ToUpperCase, <texts>]
texts: SortBy[{"pear", "fig", "banana"}, StringLength]
texts: Sort[{"pear", "Fig", "banana", "fig"}]
texts: Table[IntegerString[k, 2], {k, <index>, 6}]
texts: StringPartition["abcdefg", <index>]
texts: CharacterRange["c", "h"]
any: Partition[Range[10], <index>]
any: Partition[Range[8], 3, <index>]
any: Transpose[<matrix>]
any: Tally[<digits>]
any: Counts[<digits>]
any: Counts[Characters[<text>]]
any: GroupBy[<ints>, <predicate>]
any: GroupBy[<ints>, (Mod[#, 3] &), Total]
any: GatherBy[<ints>, (Mod[#, 3] &)]
any: SplitBy[<ints>, <predicate>]
any: Split[<digits>]
any: CountsBy[<ints>, <predicate>]
any: Tuples[{0, 1}, <index>]
any: Subsets[{a, b, c}, {2}]
any: Subsets[Range[<small>]]
any: Permutations[{1, 2, <int>}]
any: Permutations[{a, b, c}, {2}]
any: Position[<digits>, <small>]
any: StringPosition[<text>, <letter>]
any: Keys[<pairs>]
any: Map[<unary>, <pairs>]
any: Select[<pairs>, <predicate>]
any: KeySort[<pairs>]
any: Sort[<pairs>]
any: KeyTake[<pairs>, {"a", "b"}]
any: KeyDrop[<pairs>, "a"]
any: KeyMap[ToUpperCase, <pairs>]
any: KeyValueMap[List, <pairs>]
any: AssociationThread[{"x", "y", "z"}, {1, 2, 3}]
any: AssociationThread[{"x", "y"} -> {<int>, <int>}]
any: AssociationMap[<unary>, {1, 2, 3}]
any: Merge[{<pairs>, <pairs>}, Total]
any: Normal[Counts[<digits>]] // Length
any: Lookup[<pairs>, {"a", "q"}]
any: PositionIndex[<digits>]
any: Mean[<numbers>]
any: Median[<numbers>]
any: Variance[<numbers>]
any: Quantile[<numbers>, 1/4]
any: Quantile[<numbers>, {1/10, 1/2, 9/10}]
any: Quartiles[<numbers>]
any: InterquartileRange[<numbers>]
any: Commonest[<digits>]
any: MovingAverage[<numbers>, 2]
any: HarmonicMean[{1, 2, <natural>}]
any: GeometricMean[{2, 8}]
any: Rescale[{1, 2, 5}]
any: Outer[<binary>, {1, 2}, {3, 4, 5}]
any: MapIndexed[{#2[[1]], #1} &, <ints>]
any: MapIndexed[f, <symbols>]
any: Map[f, <symbols>]
any: f @@ <symbols>
any: Fold[f, x, <symbols>]
any: FoldList[f, x, <symbols>]
any: Nest[f, x, <small>]
any: Thread[{a, b} -> {1, 2}]
any: <symbols> /. a -> <int>
any: <symbols> /. {a -> b, b -> c}
any: Total[<symbols>]
any: Map[#^2 &, <symbols>]
any: Sort[<symbols>]
any: Union[<symbols>]
any: DeleteDuplicates[<symbols>]
any: Tally[<symbols>]
any: MapAt[f, <symbols>, 1] // Length
any: Array[f, <index>]
any: Array[#1 + #2 &, {2, 3}]
any: ConstantArray[<int>, {2, <index>}]
any: Dot[<matrix>, {1, 2}]
any: {1, 2, 3}.<digits>
any: Insert[<ints>, x, <index>]
any: Delete[<ints>, 1]
any: ReplacePart[<ints>, 2 -> x]
any: Ordering[{3, 1, 2, <natural>}]
any: MinMax[<ints>]
any: MaximalBy[<ints>, <unary>]
any: MinimalBy[<ints>, Abs]
any: TakeLargest[<ints>, 2]
any: TakeSmallest[<ints>, 2]
any: SelectFirst[<ints>, <predicate>]
any: FirstCase[<ints>, _?<predicate>, none]
any: Cases[{1, "a", 2/3, b, {c}}, _Integer | _String]
any: Cases[{{1, 2}, {3, 4}}, {x_, y_} :> x + y]
any: Cases[{f[1], g[2], f[3]}, f[x_] -> x]
any: Replace[<int>, x_Integer -> 2 x]
any: Dimensions[<matrix>]
any: QuotientRemainder[<int>, 7]
any: FactorInteger[<natural>] // Length
any: DateDifference[<date>, <date>]
any: DatePlus[<date>, <int>]
any: DatePlus[<date>, {<small>, "Week"}]
any: DatePlus[<date>, {<small>, "Month"}]
any: DayName[<date>]
any: DateValue[<date>, {"Year", "Month", "Day"}]
any: AbsoluteTime[<date>]
any: UnitConvert[<length>, <lengthunit>]
any: UnitConvert[<temperature>, <scale>]
any: UnitConvert[Quantity[<natural>, "Kilometers"/"Hours"], "Meters"/"Seconds"]
any: QuantityMagnitude[<length>, "Meters"]
any: QuantityMagnitude[UnitConvert[<length> + <length>, "Inches"]]
any: CompatibleUnitQ[<length>, Quantity[1, "Seconds"]]
any: <length>*2
any: BitShiftLeft[<natural>, 3]
any: FromDigits["ff", 16]
any: FromRomanNumeral["MCMXCIV"]
any: DigitCount[<big>]
any: IntegerPartitions[<index>]
any: Accumulate[<symbols>]
any: Select[EvenQ][<ints>]
any: Map[StringLength][<texts>]
any: (#1 + #2 &)[<int>, <int>]
any: StringReplace[<text>, x:DigitCharacter :> "<" <> x <> ">"]
any: StringCases["k1=v1;k2=v2", x:LetterCharacter ~~ DigitCharacter :> x]
any: StringMatchQ[<text>, LetterCharacter ..]
any: StringFreeQ[<text>, <letter>]
any: ArrayReshape[Range[6], {2, 3}]
any: Product[k, {k, <index>, 6}]
any: Composition[<unary>, <unary>][<int>]
any: Through[{Min, Max}[<ints>]]
any: Clip[<ints>, {0, 5}]
any: FixedPoint[Quotient[#, 2] &, <natural>]
any: Comap[{Min, Max}, <ints>] // Length
any: LetterNumber[<letter>]
any: HammingDistance["karolin", "kathrin"]
any: WordCount[<text>]
any: Most[<ints>]
any: Rest[<ints>]
any: Ratios[{1, 2, <natural>}]
any: Gather[<digits>]
any: ReverseSort[<ints>]
any: SymmetricDifference[<digits>, <digits>]
any: Catenate[<matrix>]
any: Extract[<matrix>, {1, 2}]
any: <matrix>[[All, 1]]
any: <matrix>[[1, 2]]
any: Range[9][[2 ;; -2 ;; <index>]]
any: Numerator[<rational>]
any: Floor[<rational>]
any: Round[<rational>]
any: Round[{1/2, 3/2, 5/2, -1/2}]
any: Ceiling[<rational>] + FractionalPart[<rational>]
`
