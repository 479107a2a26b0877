// Package httpkit is what every HTTP route of Reckon has in common: routing
// (bunrouter), typed operations and the OpenAPI description (huma), problem
// details (RFC 9457), strict JSON, conditional and cacheable public answers,
// rate-limit and consistency headers, and the refusal of cross-origin writes.
//
// It promises that no handler sees a byte that was not bounded and checked
// first, that every error answer is a problem document with a stable code, and
// that the description served is made from the Go types that serve it. It never
// knows what a route means: accounts, the log and the read models are the
// business of internal/auth, writeapi and readapi.
package httpkit
