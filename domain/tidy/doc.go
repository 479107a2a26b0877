// Package tidy writes formulas as the language does: exact fractions without common divisors, one sign to a term, equal terms and equal
// powers collected, everything in one order. An engine that writes 2/4*x*sqrt(-x^2+1)+1/2*asin(x) thereby answers x*Sqrt[1 - x^2]/2 + ArcSin[x]/2.
//
// It promises that the formula it gives has the same value as the one it was given for all complex values of the variables at which both
// are defined: it uses a+a = 2a, x^a x^b = x^(a+b), (x y)^n = x^n y^n and (x^a)^n = x^(a n) for whole n, (c x)^r = c^r x^r for positive c,
// E^(c Log[x]) = x^c, and the symmetry of the odd and even functions. It expands no product of sums but to collect like terms, computes no
// function and knows nothing of what names mean.
package tidy
