package reference

// Aliases are names that mathematics and other languages use, in lower case.
var Aliases = map[string]string{
	"ln": "Log", "asin": "ArcSin", "acos": "ArcCos", "atan": "ArcTan", "arcsec": "ArcSec", "tg": "Tan", "ctg": "Cot", "cotg": "Cot", "cosec": "Csc",
	"sh": "Sinh", "ch": "Cosh", "th": "Tanh", "asinh": "ArcSinh", "acosh": "ArcCosh", "atanh": "ArcTanh", "arsinh": "ArcSinh", "arcosh": "ArcCosh",
	"artanh": "ArcTanh", "integral": "Integrate", "int": "Integrate", "diff": "D", "deriv": "D", "derivative": "D", "lim": "Limit", "fact": "Factorial",
	"nintegral": "NIntegrate", "ncr": "Binomial", "choose": "Binomial", "ceil": "Ceiling", "signum": "Sign", "sgn": "Sign", "determinant": "Det",
	"inv": "Inverse", "eig": "Eigenvalues", "cbrt": "CubeRoot", "avg": "Mean", "average": "Mean", "std": "StandardDeviation", "isprime": "PrimeQ",
	"arctg": "ArcTan", "arcctg": "ArcCot", "primefactors": "FactorInteger", "length": "Length", "len": "Length", "rand": "RandomReal", "dsolve": "DSolve", "nroots": "NSolve",
	"mode": "Commonest", "stdev": "StandardDeviation", "stddev": "StandardDeviation", "stdv": "StandardDeviation", "var": "Variance", "rref": "RowReduce", "fib": "Fibonacci",
	"pow": "Power", "rem": "Mod", "transp": "Transpose", "eigenvals": "Eigenvalues", "factorint": "FactorInteger", "lg": "Log10", "differentiate": "D",
}
