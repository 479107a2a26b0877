// Package environment is the constants that the declarations of a file introduce.
//
// It promises that a constant is only ever looked up from a place in the order of declarations: the only way to it is a
// View, and a View shows what comes before its place and nothing else. What a declaration, a literal or a built-in
// operation rests on can therefore never come later, or be itself.
//
// Nothing in it is checked or trusted: it holds what the file says. Package kernel decides whether that is right.
package environment
