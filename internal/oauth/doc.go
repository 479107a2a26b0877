// Package oauth is the protocol of the OAuth 2.1 authorization server: which requests for authorization are accepted, what
// codes and tokens are exchanged for, who may register. ory/fosite checks the requests; what it does not have is here: resource
// indicators (RFC 8707), iss (RFC 9207), registration of clients (RFC 7591) and the metadata (RFC 8414, RFC 9728).
//
// It promises that nobody is sent to an address that the client did not register, that a code or refresh token which comes a
// second time ends its grant, and that secrets are kept and logged as hashes only. It answers no page: writeapi does.
package oauth
