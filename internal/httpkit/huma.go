package httpkit

import (
	"cmp"
	"fmt"
	"net/http"
	"reflect"
	"sort"
	"strings"
	"sync"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/validation"
)

var problemGoType = reflect.TypeFor[Problem]()

// configureHuma sets what huma keeps as package variables. It happens once, when
// the first API is made: field names are exact, our arrays are never null, and
// errors are our problems.
var configureHuma = sync.OnceFunc(func() {
	huma.ValidateStrictCasing = true
	huma.DefaultArrayNullable = false
	huma.ErrorFormatter = wordBounds
	huma.NewError = func(status int, message string, errs ...error) huma.StatusError {
		return fromHuma(Route{}, status, message, errs)
	}
	huma.NewErrorWithContext = func(ctx huma.Context, status int, message string, errs ...error) huma.StatusError {
		route, _ := ctx.Operation().Metadata[routeKey].(Route)
		problem := fromHuma(route, status, message, errs)
		problem.RequestID = RequestOf(ctx.Context()).ID
		return problem
	}
})

// fromHuma returns the problem of a request that huma refused. Its status is 400 also
// where huma says 422, which is kept for expressions that the engine could not finish.
func fromHuma(route Route, status int, message string, errs []error) *Problem {
	fields := fieldErrors(errs)
	switch {
	case status >= http.StatusInternalServerError:
		return Internal.Problem("something went wrong here; it is in the log under this request_id")
	case len(fields) == 0:
		return InvalidRequest.Problem("%s", message)
	}
	problem := problemOfFault(route, fields)
	problem.Errors = fields
	return problem
}

// maxFaultBytes bounds the message of one fault, which lists the values of an enumeration in full.
const maxFaultBytes = 2048

// fieldErrors returns the location and message of each fault, without the value, which may be a password.
func fieldErrors(errs []error) []FieldError {
	fields := make([]FieldError, 0, len(errs))
	for _, err := range errs {
		detailer, ok := err.(huma.ErrorDetailer)
		if !ok {
			continue
		}
		detail := detailer.ErrorDetail()
		fields = append(fields, FieldError{Location: truncate(detail.Location), Message: shorten(detail.Message, maxFaultBytes)})
	}
	// huma reports the faults of maps in random order. Unknown fields come first: a
	// misnamed field is often why another one is missing.
	sort.SliceStable(fields, func(i, j int) bool {
		if a, b := isUnknown(fields[i]), isUnknown(fields[j]); a != b {
			return a
		}
		return cmp.Or(cmp.Compare(fields[i].Location, fields[j].Location), cmp.Compare(fields[i].Message, fields[j].Message)) < 0
	})
	return fields[:min(len(fields), maxFaults)]
}

func isUnknown(f FieldError) bool { return f.Message == validation.MsgUnexpectedProperty }

// missing names the field that the body needs and has not; empty where there are several, or none.
func missing(all []FieldError) (field string) {
	before, after, _ := strings.Cut(validation.MsgExpectedRequiredProperty, "%s")
	for _, f := range all {
		name, ends := strings.CutSuffix(f.Message, after)
		if name, begins := strings.CutPrefix(name, before); begins && ends && f.Location == "body" {
			if field != "" {
				return ""
			}
			field = name
		}
	}
	return field
}

// problemOfFault returns the problem, with kind and detail, of the first of the faults of a request.
func problemOfFault(route Route, all []FieldError) *Problem {
	f := all[0]
	where, name, _ := strings.Cut(f.Location, ".")
	if where != "body" {
		return InvalidParameter.Problem("%s: %s", f.Location, f.Message)
	}
	if isUnknown(f) {
		if right, ok := route.MisnamedFields[name]; ok {
			return UnknownField.Problem("the body has no field %q: the field is %q", name, right)
		}
		if needed := missing(all); needed != "" {
			return UnknownField.Problem("the body has no field %q; it needs the field %q", name, needed)
		}
		return UnknownField.Problem("the body has no field %q", name)
	}
	for field, kind := range route.MissingFieldKinds {
		missing := name == "" && f.Message == fmt.Sprintf(validation.MsgExpectedRequiredProperty, field)
		empty := name == field && f.Message == fmt.Sprintf(validation.MsgExpectedMinLength, 1)
		if missing || empty {
			return kind.Problem("%s", kind.Help)
		}
	}
	return InvalidRequest.Problem("%s: %s", f.Location, f.Message)
}
