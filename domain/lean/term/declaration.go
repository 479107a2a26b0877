package term

// DeclarationKind says which record of an export declares something.
type DeclarationKind uint8

// The kinds of declaration.
const (
	Axiom DeclarationKind = iota
	Definition
	Theorem
	Opaque
	Quotient
	Inductive
)

func (k DeclarationKind) String() string {
	return [...]string{"axiom", "definition", "theorem", "opaque", "quotient", "inductive"}[k]
}

// Hint is the eagerness of unfolding a definition. It steers the search, never the answer.
type Hint uint8

// The hints of a definition, least eager first.
const (
	HintOpaque Hint = iota
	HintRegular
	HintAbbrev
)

// QuotKind says which of the four quotient constants a record declares.
type QuotKind string

// The kinds of quotient constant, as lean4export spells them.
const (
	QuotType QuotKind = "type" // Quot
	QuotCtor QuotKind = "ctor" // Quot.mk
	QuotLift QuotKind = "lift" // Quot.lift
	QuotInd  QuotKind = "ind"  // Quot.ind
)

// Declaration is one declaring record, as written: nothing in it is trusted.
type Declaration struct {
	Kind        DeclarationKind
	Line        int    // of the export, from 1
	Name        Name   // of the first type for Inductive
	LevelParams []Name // not set for Inductive
	Type        Expr
	Value       Expr     // Definition, Theorem, Opaque
	Hint        Hint     // Definition
	Unsafe      bool     // marked unsafe
	Partial     bool     // marked partial
	QuotKind    QuotKind // Quotient
	Block       *Block   // Inductive
}

// Block is a group of mutually inductive types with their constructors and recursors.
type Block struct {
	Types        []InductiveType
	Constructors []Constructor
	Recursors    []Recursor
}

// InductiveType is one type of a block.
type InductiveType struct {
	Name                             Name
	LevelParams                      []Name
	Type                             Expr
	NumParams, NumIndices, NumNested uint32
	All, Constructors                []Name
	IsRec, IsReflexive, Unsafe       bool
}

// Constructor is one constructor of a block.
type Constructor struct {
	Name                        Name
	LevelParams                 []Name
	Type                        Expr
	Inductive                   Name
	Index, NumParams, NumFields uint32
	Unsafe                      bool
}

// Recursor is one recursor of a block.
type Recursor struct {
	Name                                         Name
	LevelParams                                  []Name
	Type                                         Expr
	All                                          []Name
	NumParams, NumIndices, NumMotives, NumMinors uint32
	Rules                                        []Rule
	K, Unsafe                                    bool
}

// Rule is the rule of a recursor for one constructor: Value is applied to parameters, motives, minor premises and fields.
type Rule struct {
	Constructor Name
	NumFields   uint32
	Value       Expr
}
