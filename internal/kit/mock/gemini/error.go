package gemini

import (
	"math"
	"net/http"
	"strconv"
	"strings"

	"tarsy.dev/tarsy/internal/kit/mock/exchange"
	"tarsy.dev/tarsy/llm"
)

// Error writes an error in the API's format. Its status is Code if that is one of Google's own; any other Code becomes the
// reason. RetryAfter becomes a detail, as in Google's errors.
func Error(buf []byte, e *llm.Error) []byte {
	status := e.Code
	reason := ""

	if !canonical(status) {
		status, reason = statusOf(e.Status), e.Code
	}

	if e.Class == llm.ClassSafety {
		reason = withheld(e)
	}

	buf = strconv.AppendInt(append(buf, `{"error":{"code":`...), int64(code(e.Status)), 10)
	buf = exchange.AppendString(append(buf, `,"message":`...), e.Message)
	buf = append(append(append(buf, `,"status":"`...), status...), '"')

	if reason != "" || e.RetryAfter > 0 {
		buf = append(buf, `,"details":[`...)
		start := len(buf)

		if reason != "" {
			buf = append(buf, `{"@type":"type.googleapis.com/google.rpc.ErrorInfo","reason":`...)
			buf = exchange.AppendString(buf, reason)
			buf = append(buf, `,"domain":"googleapis.com","metadata":{"service":"generativelanguage.googleapis.com"}}`...)
		}

		if e.RetryAfter > 0 {
			buf = append(comma(buf, start), `{"@type":"type.googleapis.com/google.rpc.RetryInfo","retryDelay":"`...)
			buf = strconv.AppendFloat(buf, e.RetryAfter.Seconds(), 'f', -1, 64)
			buf = append(buf, `s"}`...)
		}

		buf = append(buf, ']')
	}

	return append(buf, `}}`...)
}

func code(status int) int {
	if status == 0 {
		return http.StatusInternalServerError
	}

	return min(status, math.MaxInt16)
}

// canonical reports whether a code is one of Google's status codes.
func canonical(code string) bool {
	switch code {
	case "CANCELLED", "UNKNOWN", "INVALID_ARGUMENT", "DEADLINE_EXCEEDED", "NOT_FOUND", "ALREADY_EXISTS", "PERMISSION_DENIED",
		"UNAUTHENTICATED", "RESOURCE_EXHAUSTED", "FAILED_PRECONDITION", "ABORTED", "OUT_OF_RANGE", "UNIMPLEMENTED", "INTERNAL",
		"UNAVAILABLE", "DATA_LOSS":
		return true
	default:
		return false
	}
}

func statusOf(status int) string {
	switch status {
	case http.StatusUnauthorized:
		return "UNAUTHENTICATED"
	case http.StatusForbidden:
		return "PERMISSION_DENIED"
	case http.StatusNotFound:
		return "NOT_FOUND"
	case http.StatusConflict:
		return "ABORTED"
	case http.StatusTooManyRequests:
		return "RESOURCE_EXHAUSTED"
	case http.StatusNotImplemented:
		return "UNIMPLEMENTED"
	case http.StatusGatewayTimeout:
		return "DEADLINE_EXCEEDED"
	case http.StatusInternalServerError, 0:
		return "INTERNAL"
	}

	if status > http.StatusInternalServerError {
		return "UNAVAILABLE"
	}

	return "INVALID_ARGUMENT"
}

// withheld returns the finish reason with which the API withholds an answer, or "" if it has none for the error.
func withheld(e *llm.Error) string {
	switch code := strings.ToUpper(e.Code); code {
	case "SAFETY", "RECITATION", "LANGUAGE", "OTHER", "BLOCKLIST", "PROHIBITED_CONTENT", "SPII", "MALFORMED_FUNCTION_CALL",
		"UNEXPECTED_TOOL_CALL", "TOO_MANY_TOOL_CALLS":
		return code
	}

	if e.Class == llm.ClassSafety {
		return "SAFETY"
	}

	return ""
}
