// Package offheap allocates large blocks of memory outside Go's heap, so that giving one back returns it to the system at
// once. On the heap a block of a gigabyte lives on until the next collection, beside the one that follows it.
package offheap
