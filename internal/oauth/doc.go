// Package oauth is the protocol of the OAuth 2.1 authorization server: which requests for authorization are accepted, what
// codes and tokens are exchanged for, who may register: for public clients, codes with PKCE (RFC 6749, RFC 7636), rotating refresh tokens
// (RFC 9700), revocation (RFC 7009), resource indicators (RFC 8707), iss (RFC 9207), registration (RFC 7591), metadata (RFC 8414, RFC 9728).
//
// It promises that nobody is sent to an address that the client did not register, that a code or refresh token which comes a
// second time ends its grant, and that secrets are kept and logged as hashes only. It answers no page: writeapi does.
package oauth
