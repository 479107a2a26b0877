package circuit

import (
	"bytes"
	"io"
	"maps"
	"slices"
)

// MaxShotMemoryBytes bounds the text of a result's memory.
const MaxShotMemoryBytes = 64 << 20

// WithMemory returns the circuit with a request for the key of each shot.
func (c Circuit) WithMemory() (Circuit, error) {
	c.memory = true
	return c, c.checkShotMemory()
}

// shotMemoryBytes is the length of the keys of all shots as JSON.
func (c Circuit) shotMemoryBytes() int64 {
	if !c.memory {
		return 0
	}
	return int64(c.shots) * int64(len(c.keyLayout().template)+3)
}

func (c Circuit) checkShotMemory() error {
	if n := c.shotMemoryBytes(); n > MaxShotMemoryBytes {
		return refuse(CodeShotMemory, "the keys of %d shots are %d MiB of text; at most %d MiB are listed as memory", c.shots, n>>20, MaxShotMemoryBytes>>20)
	}
	return nil
}

// memorySeed separates the numbers drawn for the order of shots from those drawn for counts.
const memorySeed = 0x73686f74_6d656d6f

// shotMemory lists the outcome of every shot. Shots are independent, or may be exchanged with one another, so that every order of
// the same outcomes is equally likely: it is drawn by Fisher and Yates from a generator of its own.
func shotMemory(counts map[string]int, shots int, seed uint64) []string {
	list := make([]string, 0, shots)
	for _, key := range slices.Sorted(maps.Keys(counts)) {
		for range counts[key] {
			list = append(list, key)
		}
	}
	rng := newRandom(seed ^ memorySeed)
	for i := len(list) - 1; i > 0; i-- {
		j := int(rng.float64() * float64(i+1))
		list[i], list[j] = list[j], list[i]
	}
	return list
}

// writeMemory adds the list to an object that has been written up to its closing brace, one key at a time.
func writeMemory(w io.Writer, list []string, indent string) error {
	first, next, colon, last := "", ",", `":[`, "]}"
	if indent != "" {
		line := "\n" + indent + indent
		first, next, colon, last = line, ","+line, `": [`, "\n"+indent+"]\n}"
	}
	entry := []byte(`,`)
	if indent != "" {
		entry = append(entry, "\n"+indent...)
	}
	entry = append(entry, `"memory`+colon+first...)
	for _, key := range list {
		entry = append(append(append(entry, '"'), key...), '"') // zeros, ones and spaces
		if err := write(w, entry); err != nil {
			return err
		}
		entry = append(entry[:0], next...)
	}
	return write(w, []byte(last))
}

// beforeBrace cuts the closing brace of an object, and the line it stands on.
func beforeBrace(object []byte) []byte {
	return bytes.TrimSuffix(bytes.TrimSuffix(object, []byte("}")), []byte("\n"))
}
