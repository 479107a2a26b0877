// Package adapter makes the evaluation engine and the independent checker what
// commands ask for: the ports commands.Engine and commands.Checker.
//
// It promises that a verdict is about the expression the engine evaluated: where
// the engine reads the text otherwise than the service's parser, the check is
// inconclusive. It never decides what is logged.
package adapter
