// Package elaborate has an operator's Lean toolchain turn source into an export.
//
// It promises that what a source makes Lean do — elaboration runs arbitrary code
// — happens in a process that reads nothing but the toolchain and the system's
// libraries, writes nothing but a folder of its own, reaches no network and no
// other process, and is killed at its limits. It never judges a proof: what it
// hands on is an export like any other, for the kernel.
package elaborate
