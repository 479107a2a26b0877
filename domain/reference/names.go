package reference

import (
	_ "embed"
	"strings"
	"sync"
)

//go:embed names.txt
var nameList string

var names = sync.OnceValue(func() map[string]bool {
	set := map[string]bool{}
	for _, name := range strings.Fields(nameList) {
		set[name] = true
	}
	return set
})

// InEngine tells whether a name is one of those that the engine lists (Names["*"]); it need not do anything with it.
func InEngine(name string) bool { return names()[name] }
