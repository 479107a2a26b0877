package view

import "reckon/domain/scope"

// Scopes are the scopes of an API token as it is answered: nil, which is null, for the empty set, with which a token may do
// everything that the account may.
func Scopes(s scope.Set) []scope.Scope {
	if s.IsEmpty() {
		return nil
	}
	return s.Scopes()
}
