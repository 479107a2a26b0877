package engine

import (
	"slices"
	"testing"

	"github.com/elastic/go-seccomp-bpf/arch"
)

// Every name of the lists must exist on the architectures the engine's packages come for, or starting fails there.
func TestSystemCallNamesExistOnEveryArchitecture(t *testing.T) {
	t.Parallel()
	both := slices.Concat(allowed, allowedToReaders, []string{"mmap", "mprotect", "prlimit64", "tgkill", "openat", "ioctl", "clone", "clone3", "set_robust_list", "rseq"})
	for goarch, name := range map[string]string{"amd64": "x86_64", "arm64": "aarch64"} {
		info, err := arch.GetInfo(name)
		if err != nil {
			t.Fatal(err)
		}
		for _, call := range slices.Concat(both, readersOnlyOn[goarch]) {
			if _, found := info.SyscallNames[call]; !found {
				t.Errorf("%s has no system call %s", name, call)
			}
		}
	}
}

func TestSystemCallProgramFitsTheKernel(t *testing.T) {
	t.Parallel()
	const kernelLimit = 4096 // BPF_MAXINSNS
	for _, readsFiles := range []bool{false, true} {
		program, err := seccompProgram(readsFiles, !readsFiles)
		if err != nil {
			t.Fatal(err)
		}
		if len(program)%8 != 0 || len(program)/8 > kernelLimit || len(program) == 0 {
			t.Errorf("readsFiles=%t: %d bytes", readsFiles, len(program))
		}
	}
}
