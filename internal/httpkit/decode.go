package httpkit

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"reflect"
	"strconv"
)

// valueError says for clients why a value of a body cannot be decoded. The texts of
// encoding/json name Go types.
type valueError struct{ text string }

func (e *valueError) Error() string { return e.text }

// decodeJSON decodes a body that CheckJSON accepts. Its error is a *valueError.
func decodeJSON(data []byte, into any) error {
	err := json.Unmarshal(data, into)
	if err == nil {
		return nil
	}
	refused, ok := errors.AsType[*json.UnmarshalTypeError](err)
	if !ok {
		return &valueError{"a value in the body is not of the type that it must have"}
	}
	where := "a value in the body"
	if refused.Field != "" {
		where = truncate(refused.Field)
	}
	switch refused.Type.Kind() {
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		return &valueError{fmt.Sprintf("%s must be an integer from %d to %d", where, math.MinInt64, math.MaxInt64)}
	case reflect.Float32, reflect.Float64:
		return &valueError{where + " is a number out of the range of IEEE 754 doubles (about ±1.8e308)"}
	default:
		return &valueError{where + " is not of the type that it must have"}
	}
}

// wordBounds is huma.ErrorFormatter: it writes bounds that are integers without exponent.
func wordBounds(format string, values ...any) string {
	for i, value := range values {
		if bound, ok := value.(float64); ok && bound == math.Trunc(bound) && math.Abs(bound) <= 1<<53 {
			values[i] = strconv.FormatInt(int64(bound), 10)
		}
	}
	return fmt.Sprintf(format, values...)
}
