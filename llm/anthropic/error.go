package anthropic

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"strings"

	"tarsy.dev/tarsy/llm"
	"tarsy.dev/tarsy/llm/internal/wire"
)

// The API's types of errors.
const (
	invalidRequestError = "invalid_request_error"
	authenticationError = "authentication_error"
	billingError        = "billing_error"
	permissionError     = "permission_error"
	notFoundError       = "not_found_error"
	rateLimitError      = "rate_limit_error"
	timeoutError        = "timeout_error"
	overloadedError     = "overloaded_error"
	apiError            = "api_error"
)

// failure converts any error of a call to the one returned to the caller.
func (c *Client) failure(ctx context.Context, err error) error {
	if errors.Is(err, errStopped) {
		return err
	}

	if ctx.Err() != nil {
		return context.Cause(ctx)
	}

	if known, ok := errors.AsType[*llm.Error](err); ok {
		return known
	}

	// A truncated error body proves nothing.
	if answer, ok := errors.AsType[*wire.StatusError](err); ok && answer.Err == nil {
		return c.reported(answer.Status, answer.Header, answer.Body)
	}

	return llm.Transient(ctx, errors.New(c.public(err.Error())))
}

// reported converts an error that the API reported. Status is zero for an error within a stream.
func (c *Client) reported(status int, header http.Header, data []byte) *llm.Error {
	var body struct {
		Error struct {
			Type    string `json:"type"`
			Message string `json:"message"`
		} `json:"error"`
	}

	// A body that is not such JSON comes from something in front of the API, and is shown as it is.
	_ = json.Unmarshal(data, &body)

	message := body.Error.Message
	if message == "" {
		message = string(data)
	}

	if message == "" {
		message = http.StatusText(status)
	}

	// An error within a stream arrives after the status, which therefore does not reflect it.
	inStream := status == 0
	if inStream {
		status = statusOf(body.Error.Type)
	}

	e := llm.ErrorOfStatus(status, header, body.Error.Type, c.public(message))
	refine(e, message)

	if inStream {
		e.Status = 0
	}

	if header.Get("X-Should-Retry") == "false" {
		e.Retryable = false
	}

	return e
}

// refine sets the class based on what the API reports. Some conditions are recognizable only by the message.
func refine(e *llm.Error, message string) {
	says := func(sign string) bool { return strings.Contains(strings.ToLower(message), sign) }

	switch {
	case e.Class == llm.ClassContextTooLong:
	case e.Code == "request_too_large" || e.Status == http.StatusRequestEntityTooLarge || says("exceed context limit"):
		e.Class, e.Retryable = llm.ClassContextTooLong, false
	case e.Code == billingError || says("credit balance is too low") || says("reached your specified api usage limits"):
		e.Class, e.Retryable = llm.ClassQuota, false
		e.Hint = "check the plan, the credit and the spend limits of the Anthropic account, or configure a fallback provider"
	case says("blocked by content filtering policy"):
		e.Class, e.Retryable = llm.ClassSafety, false
	default:
		byType(e)
	}
}

// byType sets the class based on the API's type of the error, which is valid even if a gateway has changed the status.
func byType(e *llm.Error) {
	switch e.Code {
	case authenticationError, permissionError:
		e.Class, e.Retryable = llm.ClassAuth, false
	case rateLimitError:
		e.Class, e.Retryable = llm.ClassQuota, true
	case overloadedError, apiError, timeoutError:
		e.Class, e.Retryable = llm.ClassTransient, true
	case notFoundError, invalidRequestError:
		e.Class, e.Retryable = llm.ClassInvalid, false
	default:
	}
}

// statusOf returns the status that an error within a stream would have had.
func statusOf(code string) int {
	switch code {
	case invalidRequestError, notFoundError, billingError:
		return http.StatusBadRequest
	case authenticationError, permissionError:
		return http.StatusUnauthorized
	case rateLimitError:
		return http.StatusTooManyRequests
	default:
		return http.StatusInternalServerError
	}
}

// public returns a message as it can be shown: without the key, and shortened if it is long.
func (c *Client) public(message string) string { return llm.Brief(c.secrets.Replace(message)) }
