// Package export reads the files lean4export writes: format 3.1, one JSON object a line.
//
// It promises: the reader is a stream reader, bounded in bytes, line length, records and nesting before it allocates;
// JSON is read strictly (RFC 8259, no duplicate keys in what matters, valid UTF-8, no lone surrogates); indices may be
// sparse and unordered, but each is defined once and before its use; every refusal names the line.
//
// It never judges what it reads: declarations come out as they are written, for package kernel to check.
package export
