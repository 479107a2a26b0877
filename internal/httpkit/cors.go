package httpkit

import "net/http"

// allowAnyOrigin lets pages of every site read the answers of a public route, its problems included.
func allowAnyOrigin(header http.Header) {
	header.Set("Access-Control-Allow-Origin", "*")
	header.Set("Access-Control-Expose-Headers", "ETag, API-Version, X-Request-Id, Retry-After")
}

// allowPreflight answers a preflight (Fetch standard, "CORS-preflight request") for a public
// route: which methods and headers pages of other sites may send.
func allowPreflight(header http.Header) {
	header.Set("Access-Control-Allow-Methods", "GET, HEAD")
	header.Set("Access-Control-Allow-Headers", "API-Version, If-None-Match, X-Request-Id")
	header.Set("Access-Control-Max-Age", "86400") // seconds; browsers have lower limits of their own
}
