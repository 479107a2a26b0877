package access

import "reckon/domain/scope"

// Routes are the routes of the API.
func Routes() Table {
	public, firstParty, browserOnly := Rule{Who: Public}, Rule{Who: FirstParty}, Rule{Who: BrowserOnly}
	scoped := func(s scope.Scope) Rule { return Rule{Who: Scoped, Scope: s} }
	return Table{
		"GET /healthz":            public,
		"GET /readyz":             public,
		"GET /docs":               public,
		"GET /docs/errors":        public,
		"GET /docs/reference.js":  public,
		"GET /docs/reference.css": public,
		"GET /openapi.json":       public,
		"GET /llms.txt":           public,
		"GET /agents.md":          public,
		"GET /billing/plans":      public,

		"GET /billing/subscription": firstParty,
		"GET /billing/invoices":     firstParty,
		"POST /billing/payments":    public, // what calls it signs each call

		"GET /.well-known/service-keys.json": public,

		"POST /auth/register": public,
		"POST /auth/login":    public,
		"POST /auth/logout":   browserOnly,
		"POST /auth/password": browserOnly,
		"POST /auth/close":    browserOnly,

		"GET /api/sign-ins":         browserOnly,
		"DELETE /api/sign-ins/{id}": browserOnly,

		"GET /api/tokens":         firstParty,
		"POST /api/tokens":        browserOnly,
		"DELETE /api/tokens/{id}": firstParty,

		"GET /api/connections":         browserOnly,
		"DELETE /api/connections/{id}": browserOnly,

		"GET /oauth/authorize":  public,
		"POST /oauth/authorize": public,
		"POST /oauth/token":     public,
		"POST /oauth/revoke":    public,
		"POST /oauth/register":  public,

		"GET /.well-known/oauth-authorization-server":   public,
		"GET /.well-known/oauth-protected-resource":     public,
		"GET /.well-known/oauth-protected-resource/mcp": public,

		"POST /mcp": {Who: TokenOnly, Scope: scope.MCP},

		"POST /api/evaluate":        scoped(scope.Evaluate),
		"POST /api/public/evaluate": public,

		"POST /api/verify":       scoped(scope.Verify),
		"GET /api/history":       scoped(scope.HistoryRead),
		"GET /api/plots/{id}":    scoped(scope.HistoryRead),
		"GET /api/receipts/{id}": scoped(scope.ReceiptsRead),
		"GET /api/bursts":        scoped(scope.HistoryRead),
		"GET /api/bursts/locate": scoped(scope.HistoryRead),
		"GET /api/bursts/{id}":   scoped(scope.HistoryRead),

		"GET /api/sessions":         scoped(scope.SessionsWrite),
		"DELETE /api/sessions/{id}": scoped(scope.SessionsWrite),

		"GET /api/jobs":                      scoped(scope.JobsRead),
		"GET /api/jobs/{id}":                 scoped(scope.JobsRead),
		"GET /api/jobs/{id}/statevector.npy": scoped(scope.JobsRead),
		"POST /api/jobs":                     scoped(scope.JobsWrite),
		"DELETE /api/jobs/{id}":              scoped(scope.JobsWrite),

		"POST /api/proofs":                  scoped(scope.ProofsWrite),
		"POST /api/proofs/validate":         scoped(scope.ProofsWrite),
		"POST /api/proofs/elaborate":        scoped(scope.ProofsWrite),
		"GET /api/certificates":             scoped(scope.JobsRead),
		"GET /api/certificates/{id}":        scoped(scope.JobsRead),
		"GET /api/certificates/{id}/public": public,
	}
}
