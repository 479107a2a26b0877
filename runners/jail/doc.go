// Package jail runs a foreign program that an operator has named on what strangers sent.
//
// It promises that the program reads nothing but the files it is given and the system's libraries, writes nothing but a
// folder of its own, reaches no network and no other process, and is killed at its limits. It knows nothing of what the
// program does.
package jail
