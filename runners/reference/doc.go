// Package reference runs the examples of the function reference on the engine in force.
//
// An example takes the way of an account's evaluation: the same admission, the same engine in a fresh worker, the same independent checker.
// One that submits a job takes the way of its kind.
// What is concluded from it is domain/reference's to say.
package reference
