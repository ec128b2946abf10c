package gemini

import (
	"context"
	"errors"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"time"

	"google.golang.org/genai"

	"tarsy.dev/tarsy/llm"
)

// failure converts any error of a call.
func (c *Client) failure(ctx context.Context, log *exchange, err error) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}

	if known, ok := errors.AsType[*llm.Error](err); ok {
		known.Message = c.shown(known.Message)

		return known
	}

	if refused, ok := errors.AsType[genai.APIError](err); ok {
		return c.refusal(log, refused)
	}

	if !log.made {
		// The SDK did not even send the request.
		return &llm.Error{Class: llm.ClassInvalid, Message: c.shown(err.Error()), Err: err}
	}

	if log.err != nil {
		err = log.err
	}

	broken := llm.Transient(ctx, err)
	if known, ok := errors.AsType[*llm.Error](broken); ok {
		known.Message = c.shown(known.Message)
	}

	return broken
}

// refusal converts an error that the API reported, instead of an answer or in the middle of one.
func (c *Client) refusal(log *exchange, refused genai.APIError) error {
	status := log.status
	if status < http.StatusBadRequest {
		status = refused.Code
	}

	if status < http.StatusBadRequest {
		status = statusCode(refused.Status)
	}

	details := readDetails(refused)

	code := details.reason
	if code == "" && canonical.MatchString(refused.Status) {
		code = refused.Status
	}

	e := llm.ErrorOfStatus(status, log.header, code, c.shown(refused.Message))
	if details.retryDelay > 0 {
		e.RetryAfter = details.retryDelay
	}

	if e.Class == llm.ClassContextTooLong {
		return e
	}

	switch {
	case blockReasons.MatchString(details.reason):
		e.Class, e.Retryable = llm.ClassSafety, false
	case details.spent || noMoney.MatchString(details.reason+" "+refused.Message):
		e.Class, e.Retryable = llm.ClassQuota, false
		e.Hint = "check the plan and the billing of the provider's project, or configure a fallback provider"
	case badKey.MatchString(details.reason), status == http.StatusBadRequest && badKeyText.MatchString(refused.Message):
		// Google returns 400 for an invalid key.
		e.Class, e.Retryable = llm.ClassAuth, false
	case refused.Status == "RESOURCE_EXHAUSTED":
		e.Class, e.Retryable = llm.ClassQuota, true
	case refused.Status == "CANCELLED" || refused.Status == "ABORTED" || refused.Status == "UNAVAILABLE":
		e.Class, e.Retryable = llm.ClassTransient, true
	}

	return e
}

var (
	canonical    = regexp.MustCompile(`^[A-Z_]+$`)
	blockReasons = regexp.MustCompile(`^(SAFETY|RECITATION|BLOCKLIST|PROHIBITED_CONTENT|SPII|MODEL_ARMOR|JAILBREAK|IMAGE_SAFETY)$`)
	badKey       = regexp.MustCompile(`^(API_KEY_|ACCESS_TOKEN_|CREDENTIALS_MISSING|CONSUMER_INVALID|SERVICE_DISABLED)`)
	badKeyText   = regexp.MustCompile(`(?i)\bAPI key (not valid|expired|not found)`)
	// Every rate limit error contains "check your plan and billing details", so that proves nothing.
	noMoney = regexp.MustCompile(`(?i)\bBILLING_DISABLED\b|enable billing|credits? (is|are) depleted|billing account`)
)

// details is what the API reports about an error beyond its message.
type details struct {
	reason     string
	retryDelay time.Duration
	// spent reports that a daily limit is used up, so that waiting for minutes does not help.
	spent bool
}

func readDetails(refused genai.APIError) details {
	var d details

	for _, detail := range refused.Details {
		kind, _ := detail["@type"].(string)

		switch {
		case strings.HasSuffix(kind, "google.rpc.ErrorInfo"):
			d.reason, _ = detail["reason"].(string)
		case strings.HasSuffix(kind, "google.rpc.RetryInfo"):
			text, _ := detail["retryDelay"].(string)
			if delay, err := time.ParseDuration(text); err == nil {
				d.retryDelay = max(delay, 0)
			}
		case strings.HasSuffix(kind, "google.rpc.QuotaFailure"):
			violations, _ := detail["violations"].([]any)
			d.spent = slices.ContainsFunc(violations, perDay)
		}
	}

	return d
}

func perDay(violation any) bool {
	fields, _ := violation.(map[string]any)
	id, _ := fields["quotaId"].(string)

	return strings.Contains(id, "PerDay")
}

// statusCode returns the HTTP status of an error that came without one, in the middle of a stream.
func statusCode(status string) int {
	switch status {
	case "INVALID_ARGUMENT", "FAILED_PRECONDITION", "OUT_OF_RANGE":
		return http.StatusBadRequest
	case "UNAUTHENTICATED":
		return http.StatusUnauthorized
	case "PERMISSION_DENIED":
		return http.StatusForbidden
	case "NOT_FOUND":
		return http.StatusNotFound
	case "RESOURCE_EXHAUSTED":
		return http.StatusTooManyRequests
	default:
		return http.StatusInternalServerError
	}
}

// shown returns text as it can be shown: shortened, and without the key.
func (c *Client) shown(text string) string { return llm.Brief(c.secrets.Replace(text)) }
