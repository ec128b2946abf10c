package anthropic

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"strings"

	sdk "github.com/anthropics/anthropic-sdk-go"

	"tarsy.dev/tarsy/llm"
)

// failure is what a caller is told of an error.
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

	reported, ok := errors.AsType[*sdk.Error](err)
	if !ok {
		return llm.Transient(ctx, errors.New(c.public(err.Error())))
	}

	return c.reported(reported)
}

// reported is the Error that the API's own stands for.
func (c *Client) reported(reported *sdk.Error) *llm.Error {
	var body struct {
		Error struct {
			Type    string `json:"type"`
			Message string `json:"message"`
		} `json:"error"`
	}

	// What is no such JSON comes from something before the API, and is shown as it is.
	_ = json.Unmarshal([]byte(reported.RawJSON()), &body)

	message := body.Error.Message
	if message == "" {
		message = reported.RawJSON()
	}

	if message == "" {
		message = http.StatusText(reported.StatusCode)
	}

	status := reported.StatusCode

	var header http.Header
	if reported.Response != nil {
		header = reported.Response.Header
	}

	// An error within a stream comes after the status, which then says nothing of it.
	inStream := status < http.StatusBadRequest
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

// refine sets the class by what the API says. Some things it says only in words.
func refine(e *llm.Error, message string) {
	says := func(sign string) bool { return strings.Contains(strings.ToLower(message), sign) }

	switch {
	case e.Class == llm.ClassContextTooLong:
	case e.Code == "request_too_large" || e.Status == http.StatusRequestEntityTooLarge || says("exceed context limit"):
		e.Class, e.Retryable = llm.ClassContextTooLong, false
	case e.Code == string(sdk.ErrorTypeBillingError) || says("credit balance is too low") || says("reached your specified api usage limits"):
		e.Class, e.Retryable = llm.ClassQuota, false
		e.Hint = "check the plan, the credit and the spend limits of the Anthropic account, or configure a fallback provider"
	case says("blocked by content filtering policy"):
		e.Class, e.Retryable = llm.ClassSafety, false
	default:
		byType(e)
	}
}

// byType sets the class by the API's name for the error, which holds where a gateway has changed the status.
func byType(e *llm.Error) {
	switch sdk.ErrorType(e.Code) {
	case sdk.ErrorTypeAuthenticationError, sdk.ErrorTypePermissionError:
		e.Class, e.Retryable = llm.ClassAuth, false
	case sdk.ErrorTypeRateLimitError:
		e.Class, e.Retryable = llm.ClassQuota, true
	case sdk.ErrorTypeOverloadedError, sdk.ErrorTypeAPIError, sdk.ErrorTypeTimeoutError:
		e.Class, e.Retryable = llm.ClassTransient, true
	case sdk.ErrorTypeNotFoundError, sdk.ErrorTypeInvalidRequestError:
		e.Class, e.Retryable = llm.ClassInvalid, false
	default:
	}
}

// statusOf is the status that an error within a stream would have had.
func statusOf(code string) int {
	switch sdk.ErrorType(code) {
	case sdk.ErrorTypeInvalidRequestError, sdk.ErrorTypeNotFoundError, sdk.ErrorTypeBillingError:
		return http.StatusBadRequest
	case sdk.ErrorTypeAuthenticationError, sdk.ErrorTypePermissionError:
		return http.StatusUnauthorized
	case sdk.ErrorTypeRateLimitError:
		return http.StatusTooManyRequests
	default:
		return http.StatusInternalServerError
	}
}

// public is a message as it may be shown: without the key, and not all of a long one.
func (c *Client) public(message string) string { return llm.Brief(c.secrets.Replace(message)) }
