// Package slips finds what people write when they mean something else: sin(x), Integrate with a small i, 2x+3=7, 17 mod 5.
//
// It reads the words of a text and says what was probably meant, and where. It never changes a text, and it keeps quiet about
// a name that the text itself defines or uses as a variable. A text without slips yields nothing; a suggestion is a question
// to a person and proves nothing.
package slips
