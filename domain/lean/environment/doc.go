// Package environment is the constants that the declarations of a file introduce.
//
// A constant is found only through a View, and a View has a place: the index of a declaration in file order. It shows the
// constants of declarations before that place and no others. Nothing that a declaration, a literal or a built-in operation
// depends on can therefore be declared later or be the declaration itself.
//
// The constants are those that the file declares, unchecked. Package kernel checks them.
package environment
