package openai

import (
	"net/http"
	"reflect"

	"tarsy.dev/tarsy/internal/kit/mock/exchange"
	"tarsy.dev/tarsy/llm"
)

// Error appends the body of an error.
func Error(buf []byte, e *llm.Error) []byte { return appendError(buf, e, "") }

func appendError(buf []byte, e *llm.Error, param string) []byte {
	buf = append(buf, `{"error":`...)
	buf = appendErrorObject(buf, e, param)

	return append(buf, '}')
}

// appendErrorObject appends the value of "error".
func appendErrorObject(buf []byte, e *llm.Error, param string) []byte {
	code := errorCode(e)

	buf = append(buf, `{"message":`...)
	buf = exchange.AppendString(buf, e.Message)
	buf = append(buf, `,"type":"`...)
	buf = append(buf, errorType(e, code)...)
	buf = append(buf, `","param":`...)
	buf = appendNullable(buf, param)
	buf = append(buf, `,"code":`...)
	buf = appendNullable(buf, code)

	return append(buf, '}')
}

// errorCode returns the API's code for an error; a code from the script takes precedence.
func errorCode(e *llm.Error) string {
	switch {
	case e.Code != "":
		return e.Code
	case e.Class == llm.ClassContextTooLong:
		return "context_length_exceeded"
	case e.Class == llm.ClassSafety:
		return "content_filter"
	case e.Status == http.StatusUnauthorized:
		return "invalid_api_key"
	case e.Class == llm.ClassQuota && !e.Retryable:
		return "insufficient_quota"
	case e.Status == http.StatusTooManyRequests:
		return "rate_limit_exceeded"
	default:
		return ""
	}
}

func errorType(e *llm.Error, code string) string {
	switch {
	case code == "insufficient_quota":
		return code
	case e.Status == http.StatusTooManyRequests || (e.Status == 0 && e.Class == llm.ClassQuota):
		return "requests"
	case e.Status >= http.StatusInternalServerError || (e.Status == 0 && (e.Class == llm.ClassTransient || e.Class == llm.ClassUnknown)):
		return "server_error"
	case e.Status == http.StatusForbidden:
		return "permission_error"
	default:
		return "invalid_request_error"
	}
}

func appendNullable(buf []byte, text string) []byte {
	if text == "" {
		return append(buf, "null"...)
	}

	return exchange.AppendString(buf, text)
}

// kindOf returns the JSON name of a type.
func kindOf(t reflect.Type) string {
	switch t.Kind() {
	case reflect.Bool:
		return "a boolean"
	case reflect.String:
		return "a string"
	case reflect.Slice, reflect.Array:
		return "an array"
	case reflect.Struct, reflect.Map, reflect.Pointer:
		return "an object"
	default:
		return "a number"
	}
}
