// Package svg makes a drawing from an untrusted source safe to store and to serve, and cuts curves where they jump.
//
// It promises that what Clean returns holds only the elements, attributes and style properties of its own lists: no
// script, no event handler, no reference to anything outside the drawing. It never repairs a drawing that does
// not parse, and never fetches anything.
package svg
