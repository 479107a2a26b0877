package oauth

// IsPublic is isPublic, for tests.
var IsPublic = isPublic
