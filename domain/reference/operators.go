package reference

// operators are the symbols that signs of the language stand for, and those that other signs of mathematics mean. A sign that other systems
// use for something else (% is Mod there) is found as that first: what entries say of other systems counts more.
var operators = map[string]string{
	"/@": "Map", "@@": "Apply", "@@@": "MapApply", "//@": "MapAll", "->": "Rule", "→": "Rule", ":>": "RuleDelayed", "=": "Set", ":=": "SetDelayed", "^=": "UpSet",
	"^:=": "UpSetDelayed", "=.": "Unset", "/.": "ReplaceAll", "//.": "ReplaceRepeated", "/;": "Condition", "@*": "Composition", "/*": "RightComposition",
	"<>": "StringJoin", "~~": "StringExpression", "++": "Increment", "--": "Decrement", "+=": "AddTo", "-=": "SubtractFrom", "*=": "TimesBy", "/=": "DivideBy",
	"==": "Equal", "!=": "Unequal", "≠": "Unequal", "===": "SameQ", "=!=": "UnsameQ", "<": "Less", "<=": "LessEqual", "≤": "LessEqual", ">": "Greater",
	">=": "GreaterEqual", "≥": "GreaterEqual", "&&": "And", "∧": "And", "||": "Or", "∨": "Or", "!": "Not", "¬": "Not", "+": "Plus", "-": "Subtract", "*": "Times",
	"×": "Times", "/": "Divide", "÷": "Divide", "^": "Power", ".": "Dot", "**": "NonCommutativeMultiply", "!!": "Factorial2", "'": "Derivative", "#": "Slot",
	"##": "SlotSequence", "&": "Function", "%": "Out", ";": "CompoundExpression", ";;": "Span", "|": "Alternatives", "..": "Repeated", "...": "RepeatedNull",
	"_": "Blank", "__": "BlankSequence", "___": "BlankNullSequence", "?": "PatternTest", "::": "MessageName", "<|": "Association", "{}": "List", "[[": "Part",
	"[[]]": "Part", "√": "Sqrt", "π": "Pi", "∞": "Infinity", "∑": "Sum", "Σ": "Sum", "∏": "Product", "∫": "Integrate", "∂": "D", "∇": "Grad", "∈": "Element", "∪": "Union",
	"∩": "Intersection", "°": "Degree", "∀": "ForAll", "∃": "Exists", "⊗": "KroneckerProduct",
}
