package anthropic

import (
	"net/http"
	"strings"

	"tarsy.dev/tarsy/internal/kit/mock/exchange"
	"tarsy.dev/tarsy/llm"
)

// Error implements exchange.Encoder.
func (e *encoder) Error(buf []byte, failure *llm.Error) []byte {
	e.name()

	return appendError(buf, failure, string(e.id.append(nil, "req_", 0)))
}

// Error appends the body of an error for a request that this API did not process.
func Error(buf []byte, e *llm.Error) []byte { return appendError(buf, e, "") }

func appendError(buf []byte, e *llm.Error, request string) []byte {
	buf = append(buf, `{"type":"error","error":{"type":`...)
	buf = exchange.AppendString(buf, errorType(e))
	buf = append(buf, `,"message":`...)
	buf = exchange.AppendString(buf, errorMessage(e))

	// Thread errors have a code from which callers know that they have to send everything.
	if strings.HasPrefix(e.Code, "thread_") {
		buf = append(exchange.AppendString(append(buf, `,"details":{"error_code":`...), e.Code), '}')
	}

	buf = append(buf, '}')
	if request != "" {
		buf = exchange.AppendString(append(buf, `,"request_id":`...), request)
	}

	return append(buf, '}')
}

// errorMessage returns the script's message. The API has no type for some classes, which callers recognize by the message:
// there it starts like the API's own.
func errorMessage(e *llm.Error) string {
	sign := ""

	switch e.Class {
	case llm.ClassContextTooLong:
		sign = "prompt is too long"
	case llm.ClassSafety:
		sign = "Output blocked by content filtering policy"
	default:
	}

	switch {
	case strings.Contains(strings.ToLower(e.Message), strings.ToLower(sign)):
		return e.Message
	case e.Message == "":
		return sign
	default:
		return sign + ": " + e.Message
	}
}

// errorType returns the API's name for an error: the script's code if it is such a name, otherwise derived from status and
// class.
func errorType(e *llm.Error) string {
	switch e.Code {
	case "invalid_request_error", "authentication_error", "billing_error", "permission_error", "not_found_error",
		"request_too_large", "rate_limit_error", "timeout_error", "api_error", "overloaded_error":
		return e.Code
	}

	// Retrying does not help a caller with nothing left to spend.
	if e.Class == llm.ClassQuota && !e.Retryable {
		return "billing_error"
	}

	switch e.Status {
	case http.StatusUnauthorized:
		return "authentication_error"
	case http.StatusPaymentRequired:
		return "billing_error"
	case http.StatusForbidden:
		return "permission_error"
	case http.StatusNotFound:
		return "not_found_error"
	case http.StatusRequestEntityTooLarge:
		return "request_too_large"
	case http.StatusTooManyRequests:
		return "rate_limit_error"
	case http.StatusGatewayTimeout:
		return "timeout_error"
	case statusOverloaded:
		return "overloaded_error"
	}

	return typeOfClass(e)
}

// statusOverloaded is the API's status when it is overloaded.
const statusOverloaded = 529

func typeOfClass(e *llm.Error) string {
	switch {
	case e.Status >= http.StatusInternalServerError:
		return "api_error"
	case e.Status >= http.StatusBadRequest:
		return "invalid_request_error"
	case e.Class == llm.ClassAuth:
		return "authentication_error"
	case e.Class == llm.ClassQuota:
		return "rate_limit_error"
	case e.Class == llm.ClassTransient:
		return "overloaded_error"
	case e.Class == llm.ClassInvalid, e.Class == llm.ClassContextTooLong, e.Class == llm.ClassSafety:
		return "invalid_request_error"
	default:
		return "api_error"
	}
}
