package openai

import (
	"bytes"
	"encoding/json"
	"net/http"
	"strconv"
	"strings"

	"tarsy.dev/tarsy/llm"
	"tarsy.dev/tarsy/llm/internal/wire"
)

// report is what a server reports about an error.
type report struct {
	code, kind, message string
}

// readError reads the body of an error. OpenAI has an object under "error"; compatible servers have a string there, or use
// other names, and proxies return anything.
func readError(body []byte) report {
	var answer struct {
		Error   json.RawMessage `json:"error"`
		Code    json.RawMessage `json:"code"`
		Type    json.RawMessage `json:"type"`
		Message json.RawMessage `json:"message"`
		Detail  json.RawMessage `json:"detail"`
	}

	if json.Unmarshal(body, &answer) != nil {
		return report{message: string(body)}
	}

	if raw := bytes.TrimSpace(answer.Error); len(raw) > 0 && raw[0] == '{' {
		nested := readError(raw)
		if nested.code == "" {
			nested.code = plain(answer.Code)
		}

		return nested
	}

	rep := report{code: plain(answer.Code), kind: plain(answer.Type)}
	for _, raw := range []json.RawMessage{answer.Error, answer.Message, answer.Detail, body} {
		if rep.message = plain(raw); rep.message != "" {
			break
		}
	}

	return rep
}

// plain returns a JSON value as text: a string without its quotes, nothing for null.
func plain(raw json.RawMessage) string {
	var text string
	if json.Unmarshal(raw, &text) == nil {
		return text
	}

	return string(bytes.TrimSpace(raw))
}

// statusError converts a response with an error status. The part of its body that could be read is more useful than the reason
// why the rest could not.
func (c *Client) statusError(answer *wire.StatusError) *llm.Error {
	rep := readError(answer.Body)
	if rep.message == "" {
		rep.message = http.StatusText(answer.Status)
	}

	e := llm.ErrorOfStatus(answer.Status, answer.Header, c.hide(rep.code), c.hide(rep.message))
	refine(e, rep)
	e.Message = llm.Brief(strings.TrimSpace(e.Message))
	e.Code = llm.Brief(strings.TrimSpace(e.Code))

	return e
}

// streamError converts an error in the middle of an answer. It has no status, so its code decides; with some servers the code
// is a status.
func (c *Client) streamError(rep report) *llm.Error {
	status, err := strconv.Atoi(rep.code)
	if err != nil || http.StatusText(status) == "" {
		status = 0
	}

	e := llm.ErrorOfStatus(status, nil, c.hide(rep.code), c.hide(rep.message))

	switch {
	case status >= http.StatusBadRequest:
	case e.Class == llm.ClassContextTooLong:
	case rep.code == "rate_limit_exceeded":
		e.Class, e.Retryable = llm.ClassQuota, true
	case rep.code == "invalid_api_key":
		e.Class = llm.ClassAuth
	case rep.kind == "invalid_request_error" || rep.code == "invalid_prompt" || strings.HasPrefix(rep.code, "invalid_"):
		e.Class = llm.ClassInvalid
	default:
		e.Class, e.Retryable = llm.ClassTransient, true
	}

	refine(e, rep)
	e.Message = llm.Brief(strings.TrimSpace(e.Message))
	e.Code = llm.Brief(strings.TrimSpace(e.Code))

	return e
}

// refine corrects the class of an error based on the server's report.
func refine(e *llm.Error, rep report) {
	message := strings.ToLower(rep.message)

	switch rep.code {
	case "insufficient_quota", "billing_hard_limit_reached", "billing_not_active", "insufficient_balance":
		e.Class, e.Retryable, e.Hint = llm.ClassQuota, false, noBudgetHint

		return
	case "content_filter", "content_policy_violation", "bio_policy", "misalignment_policy_violation", "cyber_policy":
		e.Class, e.Retryable = llm.ClassSafety, false

		return
	case "string_above_max_length":
		e.Class, e.Retryable = llm.ClassContextTooLong, false

		return
	case "model_not_found", "deploymentnotfound", "DeploymentNotFound":
		e.Class, e.Retryable = llm.ClassInvalid, false

		return
	}

	switch {
	case rep.kind == "insufficient_quota":
		e.Class, e.Retryable, e.Hint = llm.ClassQuota, false, noBudgetHint
	case strings.Contains(message, "request too large"):
		// The request exceeds the limit per minute: waiting does not help, a shorter conversation does.
		e.Class, e.Retryable = llm.ClassContextTooLong, false
	case strings.Contains(message, "incorrect api key") || strings.Contains(message, "invalid api key"):
		e.Class, e.Retryable = llm.ClassAuth, false
	case strings.Contains(message, "/v1/responses") && e.Class == llm.ClassInvalid:
		// Newer models do not support tools with Chat Completions.
		e.Hint = "set api: responses for this provider"
	case rep.code == "invalid_prompt" && strings.Contains(message, "polic"):
		e.Class, e.Retryable = llm.ClassSafety, false
	}
}

// noBudgetHint is the hint for an account without remaining budget.
const noBudgetHint = "the account has nothing left to spend: add credit or raise its limit, or configure a fallback provider"

// refused returns the error for an answer in which the model refuses to answer.
func (c *Client) refused(code, message string) *llm.Error {
	return &llm.Error{Class: llm.ClassSafety, Code: code, Message: llm.Brief(strings.TrimSpace(c.hide(message)))}
}

// hide removes the key and the values of the headers from a text.
func (c *Client) hide(text string) string { return c.secrets.Replace(text) }
