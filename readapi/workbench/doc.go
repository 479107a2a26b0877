// Package workbench serves the pages that people use the service by.
//
// It promises that a page reads and writes only as its reader could over the API: every value on it is the answer of a route, asked in
// the name of the page's own request with the same credential, limits and refusals (httpkit.API.ServeFor). What comes from a route is
// shown as text. Pages run the service's own scripts only; what they need scripts for, they say.
//
// It never opens a store, folds a stream or decides who may do what.
package workbench
