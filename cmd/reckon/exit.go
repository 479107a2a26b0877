package main

import "strconv"

// exitStatus is an error whose message was already printed; main exits with its value.
type exitStatus int

func (s exitStatus) Error() string { return "exit status " + strconv.Itoa(int(s)) }
