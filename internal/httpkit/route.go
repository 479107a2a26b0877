package httpkit

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"maps"
	"net/http"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"reckon/internal/access"
	"reckon/internal/ratelimit"

	"github.com/danielgtaylor/huma/v2"
	"github.com/uptrace/bunrouter"
)

const routeKey = "reckon"

// Route declares one operation. What it says is what is enforced and what
// /openapi.json describes.
type Route struct {
	Method, Path string // Path in OpenAPI form: /api/runs/{id}
	ID           string // operationId, kebab-case
	Tag          string
	Summary      string
	Description  string

	// Kinds are the problems of this route; those that every route has are added.
	Kinds []Kind
	// Errors maps errors of the handler to kinds of problem.
	Errors []Mapping
	// Limit is the limit that requests of the route count against; nil: there is none.
	Limit *Limit
	// ReturnsToken: answers carry a Consistency-Token.
	ReturnsToken bool
	// SetsCookie says what cookie the 200 answer sets, for the description; empty: none.
	SetsCookie string

	// PublicFor makes answers public: readable cross-origin, with an ETag and this max-age; 0: they are private.
	PublicFor time.Duration
	// FixedBody: the handler answers with the same []byte every time. It is sent without a
	// copy, so that many slow clients share one.
	FixedBody bool
	// UploadBytes makes the body a stream of at most this many bytes (see Upload); 0: the body is JSON.
	UploadBytes int64
	// UploadTypes are the media types of that stream, for the description.
	UploadTypes []string
	// AlsoStatuses lists other statuses that are answered with the body of the 200.
	AlsoStatuses []int
	// EndsCredential: the route may end the credential that it is called with, and answers all the same.
	EndsCredential bool
	// ContentType of the 200 answer; empty: application/json.
	ContentType string
	// Answer is what the bytes of the 200 answer hold as JSON, where the handler answers with bytes; nil: text.
	Answer reflect.Type

	// MissingFieldKinds are the kinds of problem for body fields that are empty, or absent and required, by field.
	MissingFieldKinds map[string]Kind
	// MisnamedFields maps common wrong names of body fields to the right ones, for the problem's detail.
	MisnamedFields map[string]string
	// BodyFields are optional fields of the body that the input type decodes itself and that
	// huma does not see in it.
	BodyFields map[string]*Schema
	// Variants are the forms of the body, for the description; nil: it has one.
	Variants *BodyVariants
	// EitherFields are the sets of body fields of which exactly one is sent, for the description.
	EitherFields []EitherFields

	rule    access.Rule // of Settings.Access
	inParts bool        // a file (HandleFile)
}

// Limit is a limit on requests. Every answer of its routes to a known caller carries the allowance as X-RateLimit-Limit, -Remaining
// and -Reset: what Allowance returns, and what is left once the handler has counted.
type Limit struct {
	// Allowance returns the caller's allowance without counting. Its error is the request's: the handler's own count would fail too, after
	// as long a wait.
	Allowance func(context.Context) (ratelimit.Allowance, error)
	Counts    string // what is counted, in words, for the description: "jobs of the account in a day"
	Exceeded  Kind   // the problem when it is used up
}

// Handle adds an operation. Errors of the handler are translated by route.Errors; I and O
// are huma's input and output structs. It panics for a route that Settings.Access has no row
// for, which is a mistake of the program.
func Handle[I, O any](a *API, route Route, handler func(context.Context, *I) (*O, error)) {
	route.rule = a.ruleOf(route.Method, route.Path)
	input := reflect.TypeFor[I]()
	if _, hasBody := input.FieldByName("Body"); hasBody {
		route.Kinds = slices.Concat(route.Kinds, []Kind{InvalidRequest, UnknownField, InvalidJSON, BodyRequired, NotJSON, TooLarge})
	}
	op := a.operation(route)
	huma.Register(a.huma, op, func(ctx context.Context, in *I) (*O, error) {
		out, err := handler(ctx, in)
		if err == nil {
			return out, nil
		}
		problem := TranslateFor(ctx, err, route.Errors)
		a.recordProblem(ctx, problem)
		return nil, problem
	})
	a.addDeclaredSchemas(route)
	if registered := a.described(route); registered != nil {
		a.refuseEmptyTexts(route, registered)
		describeParameters(registered.Parameters, input)
		a.describeBody(route, registered, input)
		describeHeaders(route, registered)
	}
	for _, status := range route.AlsoStatuses { // huma has filled in the 200 of this very map
		op.Responses[strconv.Itoa(status)] = &huma.Response{Description: http.StatusText(status), Headers: answerHeaders(route, strconv.Itoa(status)), Content: op.Responses["200"].Content}
	}
}

// ruleOf is the table's row of a route.
func (a *API) ruleOf(method, path string) access.Rule {
	rule, ok := a.settings.Access.Of(method, path)
	if !ok {
		panic(fmt.Sprintf("httpkit: nobody says who may call %s %s: add a row to the table of internal/access", method, path))
	}
	return rule
}

// ruleOfUndescribed is the table's row of a route that cannot stand in the description.
func (a *API) ruleOfUndescribed(method, path string) access.Rule {
	rule := a.ruleOf(method, path)
	if rule.Undescribed == "" {
		panic(fmt.Sprintf("httpkit: the description cannot have %s %s: the table of internal/access must say why", method, path))
	}
	return rule
}

// operation returns the route as an operation of huma.
func (a *API) operation(route Route) huma.Operation {
	op := huma.Operation{
		Method: route.Method, Path: route.Path, OperationID: route.ID,
		Summary: route.Summary, Description: describe(route), Tags: []string{route.Tag}, Hidden: route.rule.Undescribed != "",
		MaxBodyBytes:     MaxJSONBytes + 1, // readJSON has bounded the body; huma refuses at its limit, not above it
		BodyReadTimeout:  -1,               // huma's would end the whole request after five seconds
		SkipValidateBody: true,             // admit looks for its faults
		Metadata:         map[string]any{routeKey: route},
		Responses:        a.responses(route),
		// A misspelt filter must not return the unfiltered list. Public routes accept
		// unknown parameters: health checks and caches add some.
		RejectUnknownQueryParameters: route.rule.Who != access.Public,
	}
	if route.UploadBytes > 0 {
		op.RequestBody = &huma.RequestBody{Required: true, Content: map[string]*huma.MediaType{}}
		for _, media := range route.UploadTypes {
			op.RequestBody.Content[media] = &huma.MediaType{Schema: &huma.Schema{Type: huma.TypeString, Format: "binary"}}
		}
	}
	op.Security = security(route.rule)
	return op
}

// describe is the route's description with the scope that it needs.
func describe(route Route) string {
	if !route.rule.HasScope() {
		return route.Description
	}
	return strings.TrimSpace(fmt.Sprintf("%s A token with scopes needs the scope %s.", route.Description, route.rule.Scope))
}

// security describes a rule: credentials of which one is needed.
func security(rule access.Rule) []map[string][]string {
	switch rule.Who {
	case access.Public:
		return []map[string][]string{}
	case access.TokenOnly:
		return []map[string][]string{{"bearer": {}}, {"oauth": {string(rule.Scope)}}}
	case access.Scoped:
		return []map[string][]string{{"bearer": {}}, {"oauth": {string(rule.Scope)}}, {"session": {}}}
	case access.FirstParty:
		return []map[string][]string{{"bearer": {}}, {"session": {}}}
	}
	return []map[string][]string{{"session": {}}}
}

// responses returns the description of the 200 answer and of the problems, by status with their codes.
func (a *API) responses(route Route) map[string]*huma.Response {
	kinds := slices.Concat(route.Kinds, []Kind{InvalidParameter, AmbiguousRequest, MalformedRequest, UnsupportedVersion, Internal})
	switch route.rule.Who {
	case access.Scoped, access.TokenOnly:
		kinds = append(kinds, Unauthenticated, InvalidToken, InsufficientScope)
	case access.FirstParty, access.BrowserOnly:
		kinds = append(kinds, Unauthenticated, InvalidToken, FirstPartyOnly)
	}
	if route.Method == http.MethodPost {
		kinds = append(kinds, BodyTimeout)
	}
	if route.Method != http.MethodGet {
		kinds = append(kinds, CrossOrigin)
	}
	if route.Limit != nil {
		kinds = append(kinds, route.Limit.Exceeded)
	}
	problemSchema := a.huma.OpenAPI().Components.Schemas.Schema(problemGoType, true, "Problem")
	responses := map[string]*huma.Response{}
	for _, kind := range kinds {
		status := strconv.Itoa(kind.Status)
		response := responses[status]
		if response == nil {
			response = &huma.Response{
				Description: http.StatusText(kind.Status) + ":",
				Content:     map[string]*huma.MediaType{problemType: {Schema: problemSchema}},
			}
			responses[status] = response
		}
		if code := "`" + kind.Code + "`"; !strings.Contains(response.Description, code) {
			response.Description += " " + code
		}
	}
	ok := &huma.Response{Description: http.StatusText(http.StatusOK)}
	if route.ContentType != "" {
		schema := &huma.Schema{Type: huma.TypeString}
		if route.Answer != nil {
			schema = a.huma.OpenAPI().Components.Schemas.Schema(route.Answer, true, route.Answer.Name())
		}
		ok.Content = map[string]*huma.MediaType{route.ContentType: {Schema: schema}}
	}
	responses["200"] = ok
	for status, response := range responses {
		response.Headers = answerHeaders(route, status)
	}
	return responses
}

// describeHeaders describes the headers that go with parameters of the route, or with single answers of it.
func describeHeaders(route Route, op *huma.Operation) {
	text := &huma.Schema{Type: huma.TypeString}
	ok := op.Responses["200"].Headers
	if route.SetsCookie != "" {
		ok["Set-Cookie"] = &huma.Param{Description: route.SetsCookie, Schema: text}
	}
	if slices.ContainsFunc(op.Parameters, func(p *huma.Param) bool { return p.In == "header" && p.Name == TokenHeader }) {
		ok[ConsistencyHeader] = &huma.Param{Description: "stale: the list may lack writes of yours; ask again. Left out otherwise", Schema: &huma.Schema{Type: huma.TypeString, Enum: []any{Stale}}}
	}
	if route.inParts {
		describeParts(route, op)
	}
	if route.PublicFor == 0 {
		return
	}
	ok["ETag"] = &huma.Param{Description: "Name of this very answer; send it as If-None-Match to be answered with 304 while it is the same", Schema: text}
	ok["Cache-Control"] = &huma.Param{Description: "How long anybody may keep the answer", Schema: text}
	unchanged := &huma.Response{Description: http.StatusText(http.StatusNotModified) + ": the answer that If-None-Match names", Headers: answerHeaders(route, "304")}
	unchanged.Headers["ETag"], unchanged.Headers["Cache-Control"] = ok["ETag"], ok["Cache-Control"]
	op.Responses["304"] = unchanged
	op.Parameters = append(op.Parameters, &huma.Param{Name: ifNoneMatch, In: "header", Description: "ETags of answers that the client has", Schema: text})
}

// answerHeaders describes the headers of a route's answers of a status.
func answerHeaders(route Route, status string) map[string]*huma.Param {
	headers := map[string]*huma.Param{
		versionHeader:  {Description: "Version of the interface that answered", Schema: &huma.Schema{Type: huma.TypeString, Enum: []any{Version}}},
		"X-Request-Id": {Description: "Name of this request in the service's own logs", Schema: &huma.Schema{Type: huma.TypeString}},
	}
	if route.Limit != nil {
		maps.Copy(headers, rateLimitHeaders(route.Limit.Counts))
	}
	if route.ReturnsToken && status == "200" {
		headers[TokenHeader] = &huma.Param{Description: "Send it with a list to see this write in it", Schema: &huma.Schema{Type: huma.TypeString}}
	}
	switch code, _ := strconv.Atoi(status); {
	case code == http.StatusForbidden && route.rule.HasScope():
		headers["WWW-Authenticate"] = &huma.Param{Description: "With `insufficient_scope`: the scope that is needed (RFC 6750)", Schema: &huma.Schema{Type: huma.TypeString}}
	case route.ReturnsToken && (code == http.StatusRequestTimeout || code == http.StatusUnprocessableEntity):
		headers[TokenHeader] = &huma.Param{Description: "Send it with a list to see the logged run in it; left out where none was logged", Schema: &huma.Schema{Type: huma.TypeString}}
	case code == http.StatusUnauthorized:
		headers["WWW-Authenticate"] = &huma.Param{Description: "How to authenticate (RFC 6750)", Schema: &huma.Schema{Type: huma.TypeString}}
	case mayPass(code):
		headers["Retry-After"] = &huma.Param{Description: "Seconds after which to try again", Schema: &huma.Schema{Type: huma.TypeInteger, Minimum: new(1.0)}}
	}
	return headers
}

func rateLimitHeaders(counted string) map[string]*huma.Param {
	integer := &huma.Schema{Type: huma.TypeInteger, Minimum: new(0.0)}
	return map[string]*huma.Param{
		"X-RateLimit-Limit":     {Description: "The limit of the route: number of " + counted + ". Left out where the request is refused before its caller is known", Schema: integer},
		"X-RateLimit-Remaining": {Description: "How many of them are left", Schema: integer},
		"X-RateLimit-Reset":     {Description: "When all of them are there again, in seconds since 1970-01-01 UTC", Schema: integer},
	}
}

type headerKey struct{}

// AnswerHeader returns the header of the answer of a request. What a handler sets there
// (rate limits, tokens, cookies) is sent with its error too.
func AnswerHeader(ctx context.Context) http.Header {
	header, ok := ctx.Value(headerKey{}).(http.Header)
	if !ok {
		return http.Header{}
	}
	return header
}

// integerText is an integer as JSON writes it: one text for each number.
var integerText = regexp.MustCompile(`^(0|-?[1-9][0-9]*)$`)

// refuseParameters returns the problem of a parameter of the operation that is given without a value, which huma takes for absent,
// of a header that is given twice, or of an integer that is written as no answer of the service writes it (+1, 01).
func refuseParameters(r bunrouter.Request, op *huma.Operation) *Problem {
	query := r.URL.Query()
	for _, parameter := range op.Parameters {
		var given []string
		switch parameter.In {
		case "query":
			given = query[parameter.Name] // checkAddress refuses a second one
		case "path":
			given = []string{r.Param(parameter.Name)}
		case "header":
			given = r.Header.Values(parameter.Name)
		}
		if slices.Contains(validatorLists, parameter.Name) {
			continue // it may be empty, and given in several lines
		}
		location := parameter.In + "." + parameter.Name
		switch {
		case len(given) > 1:
			return InvalidParameter.Problem("%s: given more than once", location).WithField(location, "given more than once")
		case len(given) == 1 && given[0] == "":
			return InvalidParameter.Problem("%s: is empty; leave it out to say nothing", location).WithField(location, "is empty")
		case len(given) == 1 && parameter.Schema != nil && parameter.Schema.Type == huma.TypeInteger && !integerText.MatchString(given[0]):
			return InvalidParameter.Problem("%s: must be an integer, in digits without a plus sign or a leading zero", location).WithField(location, "is no integer")
		}
	}
	return nil
}

// admit authenticates the request, then reads and checks its body: in this order, so that
// a client without a credential cannot make the service read MaxJSONBytes.
func (a *API) admit(w http.ResponseWriter, asked bunrouter.Request, op *huma.Operation, body *huma.Schema, route Route) (*http.Request, *admission, *Problem) {
	r, needs := asked.Request, route.rule
	if d := delegationOf(r.Context()); d != nil && d.Route.Path != "" {
		needs = a.ruleOf(d.Route.Method, d.Route.Path)
	}
	ctx, let, problem := a.authenticate(r, needs, route.Errors)
	if problem != nil {
		return nil, nil, problem
	}
	if route.Limit != nil {
		allowance, err := route.Limit.Allowance(ctx)
		if err != nil {
			return nil, nil, TranslateFor(ctx, err, route.Errors)
		}
		SetRateLimit(w.Header(), allowance)
	}
	if problem := refuseParameters(asked, op); problem != nil {
		return nil, nil, problem
	}
	ctx = context.WithValue(ctx, headerKey{}, w.Header())
	admitted := r.WithContext(ctx)
	switch {
	case route.UploadBytes > 0 && r.ContentLength > route.UploadBytes:
		return nil, nil, refuseLength(r, route.UploadBytes)
	case route.UploadBytes > 0:
		upload := newUpload(r, route.UploadBytes)
		admitted = r.WithContext(context.WithValue(ctx, uploadKey{}, upload))
	case op.RequestBody != nil:
		limitBytes := int64(MaxJSONBytes)
		if route.rule.Who == access.Public {
			limitBytes = maxPublicBytes
		}
		data, problem := readJSON(r, limitBytes)
		if problem != nil {
			return nil, nil, problem
		}
		if problem := a.checkBody(data, body, route); problem != nil {
			return nil, nil, problem
		}
		admitted.Body = io.NopCloser(bytes.NewReader(data))
		admitted.Header.Set("Content-Type", "application/json") // as huma compares it; isJSON heeds RFC 9110 section 8.3.1
	}
	return admitted, let, nil
}

// checkBody returns the problem of a body that its schema refuses; nil: none.
func (a *API) checkBody(data []byte, schema *huma.Schema, route Route) *Problem {
	if schema == nil {
		return nil
	}
	var decoded any
	if err := decodeJSON(data, &decoded); err != nil {
		return InvalidRequest.Problem("body: %s", err.Error()).WithField("body", err.Error())
	}
	if faults := faultsIn(a.huma.OpenAPI().Components.Schemas, schema, decoded); len(faults) > 0 {
		return fromHuma(route, http.StatusBadRequest, "", faults)
	}
	return nil
}
