package builtin

// ID names a built-in constant.
type ID uint8

// The built-in constants, each after those it is recognised by.
const (
	Nat ID = iota
	NatZero
	NatSucc
	Bool
	BoolFalse
	BoolTrue
	NatAdd
	NatPred
	NatSub
	NatMul
	NatPow
	NatBeq
	NatBle
	NatDiv
	NatMod
	NatGcd
	NatLog2
	NatBitwise
	NatLand
	NatLor
	NatXor
	NatShiftLeft
	NatShiftRight
	List
	ListNil
	ListCons
	Char
	CharOfNat
	String
	StringOfList
	StringMk
	Eq
	EqRefl
	Quot
	QuotMk
	QuotLift
	QuotInd
	EagerReduce
	ReduceBool
	ReduceNat
	OutParam
	SemiOutParam
	OptParam
	AutoParam
	False
	True
	Not
	And
	Or
	Iff
	Exists
	HEq
	Ne
	Nonempty
	Decidable

	Count // how many there are
)

// Evidence says how a file's constant is recognised as Lean's constant of that name.
type Evidence uint8

const (
	// ByStructure: the declaration equals the expected one, constructors and types included.
	ByStructure Evidence = iota
	// ByEquations: the kernel proves, for free variables, equations that determine the operation on all numbers.
	ByEquations
	// ByType: the type is the expected one; no reduction depends on the value.
	ByType
	// ByContent: the kernel treats it as any other constant; package check compares it with the reference tables.
	ByContent
)

// Row describes a built-in constant.
type Row struct {
	Name          string // of plain components joined by dots
	Evidence      Evidence
	Prerequisites []ID // what has to be visible and genuine for it to be recognised
}

var (
	unaryNat   = []ID{Nat, NatZero, NatSucc}
	natAndBool = []ID{Nat, NatZero, NatSucc, Bool, BoolFalse, BoolTrue}
)

// Table has the row of each constant.
var Table = [Count]Row{
	Nat:           {"Nat", ByStructure, []ID{NatZero, NatSucc}},
	NatZero:       {"Nat.zero", ByStructure, []ID{Nat, NatSucc}},
	NatSucc:       {"Nat.succ", ByStructure, []ID{Nat, NatZero}},
	Bool:          {"Bool", ByStructure, []ID{BoolFalse, BoolTrue}},
	BoolFalse:     {"Bool.false", ByStructure, []ID{Bool, BoolTrue}},
	BoolTrue:      {"Bool.true", ByStructure, []ID{Bool, BoolFalse}},
	NatAdd:        {"Nat.add", ByEquations, unaryNat},
	NatPred:       {"Nat.pred", ByEquations, unaryNat},
	NatSub:        {"Nat.sub", ByEquations, append(unaryNat[:3:3], NatPred)},
	NatMul:        {"Nat.mul", ByEquations, append(unaryNat[:3:3], NatAdd)},
	NatPow:        {"Nat.pow", ByEquations, append(unaryNat[:3:3], NatMul)},
	NatBeq:        {"Nat.beq", ByEquations, natAndBool},
	NatBle:        {"Nat.ble", ByEquations, natAndBool},
	NatDiv:        {"Nat.div", ByEquations, unaryNat},
	NatMod:        {"Nat.mod", ByEquations, unaryNat},
	NatGcd:        {"Nat.gcd", ByEquations, unaryNat},
	NatLog2:       {"Nat.log2", ByEquations, unaryNat},
	NatBitwise:    {"Nat.bitwise", ByEquations, natAndBool},
	NatLand:       {"Nat.land", ByEquations, append(natAndBool[:6:6], NatBitwise)},
	NatLor:        {"Nat.lor", ByEquations, append(natAndBool[:6:6], NatBitwise)},
	NatXor:        {"Nat.xor", ByEquations, append(natAndBool[:6:6], NatBitwise)},
	NatShiftLeft:  {"Nat.shiftLeft", ByEquations, append(unaryNat[:3:3], NatMul)},
	NatShiftRight: {"Nat.shiftRight", ByEquations, append(unaryNat[:3:3], NatDiv)},
	List:          {"List", ByStructure, []ID{ListNil, ListCons}},
	ListNil:       {"List.nil", ByStructure, []ID{List, ListCons}},
	ListCons:      {"List.cons", ByStructure, []ID{List, ListNil}},
	Char:          {"Char", ByType, nil},
	CharOfNat:     {"Char.ofNat", ByType, append(unaryNat[:3:3], Char)},
	String:        {"String", ByType, nil},
	StringOfList:  {"String.ofList", ByType, []ID{String, List, Char}},
	StringMk:      {"String.mk", ByStructure, []ID{String, List, Char}},
	Eq:            {"Eq", ByStructure, []ID{EqRefl}},
	EqRefl:        {"Eq.refl", ByStructure, []ID{Eq}},
	Quot:          {"Quot", ByStructure, nil},
	QuotMk:        {"Quot.mk", ByStructure, []ID{Quot}},
	QuotLift:      {"Quot.lift", ByStructure, []ID{Quot, QuotMk, Eq}},
	QuotInd:       {"Quot.ind", ByStructure, []ID{Quot, QuotMk}},
	EagerReduce:   {"eagerReduce", ByContent, nil}, // steers the search, never the answer
	ReduceBool:    {"Lean.reduceBool", ByType, []ID{Bool, BoolFalse, BoolTrue}},
	ReduceNat:     {"Lean.reduceNat", ByType, unaryNat},
	OutParam:      {"outParam", ByStructure, nil},
	SemiOutParam:  {"semiOutParam", ByStructure, nil},
	OptParam:      {"optParam", ByStructure, nil},
	AutoParam:     {"autoParam", ByStructure, nil},
	False:         {"False", ByContent, nil},
	True:          {"True", ByContent, nil},
	Not:           {"Not", ByContent, nil},
	And:           {"And", ByContent, nil},
	Or:            {"Or", ByContent, nil},
	Iff:           {"Iff", ByContent, nil},
	Exists:        {"Exists", ByContent, nil},
	HEq:           {"HEq", ByContent, nil},
	Ne:            {"Ne", ByContent, nil},
	Nonempty:      {"Nonempty", ByContent, nil},
	Decidable:     {"Decidable", ByContent, nil},
}

func (id ID) String() string { return Table[id].Name }

// NatLiteral lists the constants of the expression that a numeral abbreviates: Nat.succ (… Nat.zero).
var NatLiteral = []ID{Nat, NatZero, NatSucc}

// StringLiteral lists the constants of the expression that a string literal abbreviates: maker [Char.ofNat …, …]. Lean's
// kernel uses the maker String.ofList since 4.26, and used the constructor String.mk before.
func StringLiteral(maker ID) []ID {
	return append([]ID{String, maker, List, ListNil, ListCons, Char, CharOfNat}, NatLiteral...)
}

// Basis are the constants that the types of the core axioms and the connectives of statements speak of, and what those
// are made of. They are the same in all versions of Lean 4.
var Basis = []ID{False, True, Not, And, Or, Iff, Exists, Eq, HEq, Ne, Nonempty, Decidable, Nat, Bool, Quot, QuotMk, QuotLift, QuotInd}
