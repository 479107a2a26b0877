// Package auth authenticates requests: it mints and reads API tokens and turns the
// credential of a request into a Principal, or into a problem of status 401 or 403.
//
// It promises that a revoked token, an ended browser session and a closed
// account are refused by the very next request: the token's and the account's
// streams are folded every time, nothing is cached. It never stores a secret
// and never logs one.
package auth
