package engine

import "path/filepath"

// Python is the interpreter of an environment made by Install.
func Python(environment string) string { return filepath.Join(environment, "bin", "python") }
