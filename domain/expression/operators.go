package expression

// Precedences, from Wolfram's operator table, times ten so that the few operators which in practice bind between two
// entries of that table find their place.
const (
	precCompound    = 100
	precPut         = 300
	precSet         = 400
	precTagSet      = 450
	precPostfix     = 700
	precApplyTo     = 750
	precFunction    = 900
	precAddTo       = 1000
	precReplace     = 1100
	precRule        = 1200
	precTwoWayRule  = 1250
	precCondition   = 1300
	precStringExpr  = 1350
	precOptional    = 1400
	precPattern     = 1500
	precAlternative = 1600
	precRepeated    = 1700
	precConditioned = 1950
	precImplies     = 2000
	precEquivalent  = 2050
	precOr          = 2150
	precXor         = 2160
	precAnd         = 2170
	precNot         = 2300
	precElement     = 2500
	precSameQ       = 2600
	precArrow       = 2700
	precCompare     = 2900
	precEdge        = 2950
	precSpan        = 2980
	precUnion       = 3000
	precIntersect   = 3050
	precPlus        = 3100
	precCirclePlus  = 3300
	precStar        = 3900
	precTimes       = 4000
	precCenterDot   = 4100
	precCircleTimes = 4200
	precVee         = 4300
	precWedge       = 4400
	precDiamond     = 4500
	precDivide      = 4700
	precMinus       = 4800
	precDot         = 4900
	precTensor      = 4950
	precCross       = 5000
	precNonCommute  = 5100
	precCircleDot   = 5200
	precSmallCircle = 5300
	precSqrt        = 5700
	precPower       = 5900
	precStringJoin  = 6000
	precDerivative  = 6050
	precTranspose   = 6060
	precFactorial   = 6100
	precApply       = 6200
	precTilde       = 6300
	precPrefix      = 6400
	precRightComp   = 6480
	precComposition = 6500
	precPreIncr     = 6600
	precIncrement   = 6610
	precCall        = 6700
	precPatternTest = 6800
	precMessage     = 7500
	precAtom        = 10000
)

// shape says how an operator's operands make a tree.
type shape uint8

const (
	shapeLeft     shape = iota + 1 // binary, a∘b∘c is (a∘b)∘c
	shapeRight                     // binary, a∘b∘c is a∘(b∘c)
	shapeFlat                      // a∘b∘c is one call of three
	shapeCompare                   // flat; different ones in one chain make an Inequality
	shapePostfix                   // one operand on the left
	shapeCall                      // operand is the head: f@x
	shapePipe                      // operand on the right is the head: x//f
	shapeProduct                   // * and / and a missing operator
	shapeSum                       // + and -
	shapeCompound                  // ;
	shapeSpan                      // ;;
	shapeColon                     // x:p and p:v
	shapeSet                       // = which may be =.
	shapeTagSet                    // f/:lhs=rhs
	shapeTilde                     // a~f~b
	shapeBracket                   // f[x] and a[[i]]
	shapeMessage                   // f::name
	shapeFile                      // e>>file
	shapePrime                     // f'
)

// infixOperator is the meaning of an operator after a complete operand.
type infixOperator struct {
	prec  int
	shape shape
	head  string
}

// infixOperators by spelling.
var infixOperators = map[string]infixOperator{
	";":      {precCompound, shapeCompound, "CompoundExpression"},
	">>":     {precPut, shapeFile, "Put"},
	">>>":    {precPut, shapeFile, "PutAppend"},
	"=":      {precSet, shapeSet, "Set"},
	":=":     {precSet, shapeRight, "SetDelayed"},
	"^=":     {precSet, shapeRight, "UpSet"},
	"^:=":    {precSet, shapeRight, "UpSetDelayed"},
	"|->":    {precSet, shapeRight, "Function"},
	"/:":     {precTagSet, shapeTagSet, "TagSet"},
	"//":     {precPostfix, shapePipe, ""},
	"//=":    {precApplyTo, shapeRight, "ApplyTo"},
	"&":      {precFunction, shapePostfix, "Function"},
	"+=":     {precAddTo, shapeRight, "AddTo"},
	"-=":     {precAddTo, shapeRight, "SubtractFrom"},
	"*=":     {precAddTo, shapeRight, "TimesBy"},
	"/=":     {precAddTo, shapeRight, "DivideBy"},
	"/.":     {precReplace, shapeLeft, "ReplaceAll"},
	"//.":    {precReplace, shapeLeft, "ReplaceRepeated"},
	"->":     {precRule, shapeRight, "Rule"},
	":>":     {precRule, shapeRight, "RuleDelayed"},
	"<->":    {precTwoWayRule, shapeRight, "TwoWayRule"},
	"/;":     {precCondition, shapeLeft, "Condition"},
	"~~":     {precStringExpr, shapeFlat, "StringExpression"},
	":":      {precPattern, shapeColon, ""},
	"|":      {precAlternative, shapeFlat, "Alternatives"},
	"..":     {precRepeated, shapePostfix, "Repeated"},
	"...":    {precRepeated, shapePostfix, "RepeatedNull"},
	"\uF3D3": {precConditioned, shapeLeft, "Conditioned"},
	"\uF523": {precImplies, shapeRight, "Implies"},
	"⧦":      {precEquivalent, shapeFlat, "Equivalent"},
	"||":     {precOr, shapeFlat, "Or"},
	"⊽":      {precOr, shapeFlat, "Nor"},
	"⊻":      {precXor, shapeFlat, "Xor"},
	"&&":     {precAnd, shapeFlat, "And"},
	"⊼":      {precAnd, shapeFlat, "Nand"},
	"∈":      {precElement, shapeFlat, "Element"},
	"∉":      {precElement, shapeFlat, "NotElement"},
	"⊂":      {precElement, shapeFlat, "Subset"},
	"⊃":      {precElement, shapeFlat, "Superset"},
	"⊆":      {precElement, shapeFlat, "SubsetEqual"},
	"⊇":      {precElement, shapeFlat, "SupersetEqual"},
	"\uF3D2": {precElement, shapeFlat, "Distributed"},
	"===":    {precSameQ, shapeFlat, "SameQ"},
	"=!=":    {precSameQ, shapeFlat, "UnsameQ"},
	"→":      {precArrow, shapeFlat, "RightArrow"},
	"←":      {precArrow, shapeFlat, "LeftArrow"},
	"↔":      {precArrow, shapeFlat, "LeftRightArrow"},
	"==":     {precCompare, shapeCompare, "Equal"},
	"!=":     {precCompare, shapeCompare, "Unequal"},
	"<":      {precCompare, shapeCompare, "Less"},
	"<=":     {precCompare, shapeCompare, "LessEqual"},
	">":      {precCompare, shapeCompare, "Greater"},
	">=":     {precCompare, shapeCompare, "GreaterEqual"},
	"\uF3D4": {precEdge, shapeRight, "UndirectedEdge"},
	"\uF3D5": {precEdge, shapeRight, "DirectedEdge"},
	";;":     {precSpan, shapeSpan, "Span"},
	"⋃":      {precUnion, shapeFlat, "Union"},
	"⋂":      {precIntersect, shapeFlat, "Intersection"},
	"+":      {precPlus, shapeSum, "Plus"},
	"-":      {precPlus, shapeSum, "Plus"},
	"±":      {precPlus, shapeLeft, "PlusMinus"},
	"∓":      {precPlus, shapeLeft, "MinusPlus"},
	"⊕":      {precCirclePlus, shapeFlat, "CirclePlus"},
	"⊖":      {precCirclePlus, shapeLeft, "CircleMinus"},
	"⋆":      {precStar, shapeFlat, "Star"},
	"*":      {precTimes, shapeProduct, "Times"},
	"·":      {precCenterDot, shapeFlat, "CenterDot"},
	"⊗":      {precCircleTimes, shapeFlat, "CircleTimes"},
	"⋁":      {precVee, shapeFlat, "Vee"},
	"⋀":      {precWedge, shapeFlat, "Wedge"},
	"⋄":      {precDiamond, shapeFlat, "Diamond"},
	"/":      {precDivide, shapeProduct, "Times"},
	".":      {precDot, shapeFlat, "Dot"},
	"\uF3DA": {precTensor, shapeFlat, "TensorProduct"},
	"\uF4A0": {precCross, shapeFlat, "Cross"},
	"\uF3DB": {precCross, shapeFlat, "TensorWedge"},
	"**":     {precNonCommute, shapeFlat, "NonCommutativeMultiply"},
	"⊙":      {precCircleDot, shapeFlat, "CircleDot"},
	"∘":      {precSmallCircle, shapeFlat, "SmallCircle"},
	"^":      {precPower, shapeRight, "Power"},
	"<>":     {precStringJoin, shapeFlat, "StringJoin"},
	"'":      {precDerivative, shapePrime, "Derivative"},
	"\uF3C7": {precTranspose, shapePostfix, "Transpose"},
	"\uF3C8": {precTranspose, shapePostfix, "Conjugate"},
	"\uF3C9": {precTranspose, shapePostfix, "ConjugateTranspose"},
	"!":      {precFactorial, shapePostfix, "Factorial"},
	"!!":     {precFactorial, shapePostfix, "Factorial2"},
	"@@":     {precApply, shapeRight, "Apply"},
	"@@@":    {precApply, shapeRight, "MapApply"},
	"/@":     {precApply, shapeRight, "Map"},
	"//@":    {precApply, shapeRight, "MapAll"},
	"~":      {precTilde, shapeTilde, ""},
	"@":      {precPrefix, shapeCall, ""},
	"/*":     {precRightComp, shapeFlat, "RightComposition"},
	"@*":     {precComposition, shapeFlat, "Composition"},
	"++":     {precIncrement, shapePostfix, "Increment"},
	"--":     {precIncrement, shapePostfix, "Decrement"},
	"[":      {precCall, shapeBracket, ""},
	"⟦":      {precCall, shapeBracket, "Part"},
	"〚":      {precCall, shapeBracket, "Part"},
	"?":      {precPatternTest, shapeLeft, "PatternTest"},
	"::":     {precMessage, shapeMessage, "MessageName"},
}

// prefixOperators by spelling; their operand is read at the precedence given.
var prefixOperators = map[string]infixOperator{
	"!":    {precNot, 0, "Not"},
	"!not": {precNot, 0, "Not"},
	"±":    {precMinus, 0, "PlusMinus"},
	"∓":    {precMinus, 0, "MinusPlus"},
	"√":    {precSqrt, 0, "Sqrt"},
	"++":   {precPreIncr, 0, "PreIncrement"},
	"--":   {precPreIncr, 0, "PreDecrement"},
}

// groups are the brackets that make a call of their contents.
var groups = map[string]struct{ closer, head string }{
	"{":  {"}", "List"},
	"<|": {"|>", "Association"},
	"⌊":  {"⌋", "Floor"},
	"⌈":  {"⌉", "Ceiling"},
}

// longLexemes are the ASCII operators and brackets of two and three characters; the lexer takes the longest that fits.
var longLexemes = map[string]bool{
	">>": true, ">>>": true, ":=": true, "^=": true, "^:=": true, "|->": true, "/:": true, "//": true, "//=": true,
	"+=": true, "-=": true, "*=": true, "/=": true, "/.": true, "//.": true, "->": true, ":>": true, "<->": true,
	"/;": true, "~~": true, "..": true, "...": true, "||": true, "&&": true, "===": true, "=!=": true, "==": true,
	"!=": true, "<=": true, ">=": true, ";;": true, "**": true, "<>": true, "!!": true, "@@": true, "@@@": true,
	"/@": true, "//@": true, "/*": true, "@*": true, "++": true, "--": true, "::": true, "<<": true, "<|": true,
	"|>": true, "__": true, "___": true, "_.": true, "??": true,
}
