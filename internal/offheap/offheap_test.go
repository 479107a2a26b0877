package offheap

import "testing"

func TestAllocate(t *testing.T) {
	for _, size := range []int{1, 4096, 10 << 20} {
		memory, free, err := Allocate(size)
		if err != nil || len(memory) != size {
			t.Fatalf("%d bytes: %d, %v", size, len(memory), err)
		}
		for i := 0; i < size; i += 1000 {
			if memory[i] != 0 {
				t.Fatalf("byte %d is %d", i, memory[i])
			}
			memory[i] = 1
		}
		free()
	}
	if _, _, err := Allocate(-1); err == nil {
		t.Error("a negative size is allocated")
	}
}
