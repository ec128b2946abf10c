package openai

import (
	"bytes"
	"encoding/json"
	"strconv"
	"strings"

	"tarsy.dev/tarsy/internal/kit/mock/exchange"
	"tarsy.dev/tarsy/llm"
)

const (
	statusInProgress = "in_progress"
	statusCompleted  = "completed"
	statusIncomplete = "incomplete"
	statusFailed     = "failed"
)

// responseEncoder writes one response.
type responseEncoder struct {
	exchange *exchange.Exchange
	request  *responseRequest
	show     include

	seed seed
	// id is the ID of the response.
	id []byte
	// tail ends every object of the response, up to the usage: the caller's settings.
	tail []byte
	// number counts the events.
	number int64
	items  []item
	// open is the index of the item that is being written, or -1; text is what has been written of it.
	open int
	text strings.Builder
	// cited are sources that no text has cited yet.
	cited []llm.Source
	// signed means that the script's signature has been sent: it belongs to the first reasoning item.
	signed bool
}

func newResponseEncoder(x *exchange.Exchange, request *responseRequest) *responseEncoder {
	return &responseEncoder{exchange: x, request: request, open: -1, show: include{
		secrets: request.includes("reasoning.encrypted_content"),
		outputs: request.includes("code_interpreter_call.outputs"),
		sources: request.includes("web_search_call.action.sources"),
	}}
}

// begin sets what depends on the part of the script that answers.
func (e *responseEncoder) begin() {
	e.seed = seedOf(e.exchange)
	e.id = e.seed.appendID(e.id[:0], "resp_", -1)
	e.tail = e.request.appendSettings(e.tail[:0])
}

// Whole implements exchange.Encoder. The original order is not known, so the items are in the order that models use.
func (e *responseEncoder) Whole(buf []byte, answer llm.Response) []byte {
	e.begin()

	if answer.Thinking != "" || e.exchange.Signature != "" {
		e.add(kindReasoning).text = answer.Thinking
	}

	for _, run := range answer.CodeExecutions {
		i := e.add(kindCode)
		i.text, i.result = run.Code, run.Result
	}

	for _, grounding := range answer.Groundings {
		i := e.add(kindSearch)
		i.queries, i.sources = grounding.Queries, grounding.Sources
		e.cited = append(e.cited, grounding.Sources...)
	}

	if answer.Text != "" || len(e.cited) > 0 || (len(e.items) == 0 && len(answer.ToolCalls) == 0) {
		i := e.add(kindMessage)
		i.text, i.sources = answer.Text, e.cited
	}

	for _, call := range answer.ToolCalls {
		i := e.request.newCall(call)
		i.text = call.Arguments
		e.addItem(i)
	}

	for n := range e.items {
		e.sign(&e.items[n])
	}

	status, reason := statusCompleted, ""
	if answer.End.Reason == llm.StopMaxTokens {
		status, reason = statusIncomplete, "max_output_tokens"
	}

	e.keep()

	return e.appendResponse(buf, status, reason, nil, &answer.Usage)
}

// add starts an item.
func (e *responseEncoder) add(k kind) *item { return e.addItem(item{kind: k}) }

func (e *responseEncoder) addItem(begun item) *item {
	n := len(e.items)
	begun.id = e.seed.appendID(nil, begun.prefix(), n)
	e.items = append(e.items, begun)

	return &e.items[n]
}

// sign sets the encrypted content of reasoning: for the first item the script's signature, if there is one.
func (e *responseEncoder) sign(i *item) {
	if i.kind != kindReasoning {
		return
	}

	if given := e.exchange.Signature; given != "" && !e.signed {
		e.signed = true
		i.secret = exchange.AppendString(i.secret[:0], given)

		return
	}

	i.derive()
}

// appendResponse appends the response object.
func (e *responseEncoder) appendResponse(buf []byte, status, reason string, failure *llm.Error, usage *llm.UsageChunk) []byte {
	created := e.exchange.Entry.Start.Unix()

	buf = append(buf, `{"id":"`...)
	buf = append(buf, e.id...)
	buf = append(buf, `","object":"response","created_at":`...)
	buf = strconv.AppendInt(buf, created, 10)
	buf = append(buf, `,"status":"`...)
	buf = append(buf, status...)
	buf = append(buf, `","background":false,"completed_at":`...)

	if status == statusCompleted {
		buf = strconv.AppendInt(buf, created, 10)
	} else {
		buf = append(buf, "null"...)
	}

	buf = append(buf, `,"error":`...)
	buf = appendResponseError(buf, failure)
	buf = append(buf, `,"incomplete_details":`...)

	if reason == "" {
		buf = append(buf, "null"...)
	} else {
		buf = append(buf, `{"reason":"`...)
		buf = append(buf, reason...)
		buf = append(buf, `"}`...)
	}

	buf = append(buf, `,"output":[`...)

	if status != statusInProgress {
		for n := range e.items {
			buf = append(buf, separator(n, "")...)
			buf = e.items[n].append(buf, e.show, e.statusOf(n, status))
		}
	}

	buf = append(buf, e.tail...)
	buf = appendResponseUsage(buf, usage)

	return append(buf, '}')
}

// statusOf returns the status of an item: the last item of a truncated or failed response is incomplete.
func (e *responseEncoder) statusOf(n int, status string) string {
	if status != statusCompleted && n == len(e.items)-1 && (e.items[n].kind == kindMessage || e.items[n].kind.isCall()) {
		return statusIncomplete
	}

	return statusCompleted
}

func appendResponseError(buf []byte, failure *llm.Error) []byte {
	if failure == nil {
		return append(buf, "null"...)
	}

	code := errorCode(failure)

	switch {
	case code != "":
	case failure.Class == llm.ClassQuota:
		code = "rate_limit_exceeded"
	default:
		code = "server_error"
	}

	buf = append(buf, `{"code":`...)
	buf = exchange.AppendString(buf, code)
	buf = append(buf, `,"message":`...)
	buf = exchange.AppendString(buf, failure.Message)

	return append(buf, '}')
}

func appendResponseUsage(buf []byte, usage *llm.UsageChunk) []byte {
	if usage == nil {
		return append(buf, "null"...)
	}

	output := usage.OutputTokens + usage.ThinkingTokens

	buf = append(buf, `{"input_tokens":`...)
	buf = strconv.AppendInt(buf, int64(usage.InputTokens), 10)
	buf = append(buf, `,"input_tokens_details":{"cached_tokens":`...)
	buf = strconv.AppendInt(buf, int64(usage.CachedTokens), 10)
	buf = append(buf, `,"cache_write_tokens":0},"output_tokens":`...)
	buf = strconv.AppendInt(buf, int64(output), 10)
	buf = append(buf, `,"output_tokens_details":{"reasoning_tokens":`...)
	buf = strconv.AppendInt(buf, int64(usage.ThinkingTokens), 10)
	buf = append(buf, `},"total_tokens":`...)
	buf = strconv.AppendInt(buf, int64(usage.InputTokens+output), 10)

	return append(buf, '}')
}

// appendSettings appends the response from the end of its output up to its usage.
func (r *responseRequest) appendSettings(buf []byte) []byte {
	buf = append(buf, `],"instructions":`...)

	if r.Instructions == nil {
		buf = append(buf, "null"...)
	} else {
		buf = exchange.AppendString(buf, *r.Instructions)
	}

	buf = append(buf, `,"max_output_tokens":`...)

	if r.MaxOutputTokens == nil {
		buf = append(buf, "null"...)
	} else {
		buf = strconv.AppendInt(buf, int64(whole(r.MaxOutputTokens)), 10)
	}

	buf = append(buf, `,"max_tool_calls":null,"model":`...)
	buf = exchange.AppendString(buf, r.Model)
	buf = append(buf, `,"parallel_tool_calls":`...)
	buf = strconv.AppendBool(buf, r.ParallelToolCalls == nil || *r.ParallelToolCalls)
	buf = append(buf, `,"previous_response_id":`...)
	buf = appendNullable(buf, r.PreviousResponseID)
	buf = append(buf, `,"prompt_cache_key":`...)
	buf = appendNullable(buf, r.PromptCacheKey)
	buf = appendRaw(buf, "reasoning", r.Reasoning, `{"effort":null,"summary":null}`)
	buf = append(buf, `,"safety_identifier":`...)
	buf = appendNullable(buf, r.SafetyIdentifier)
	buf = append(buf, `,"access_programs":{"cyber":"standard"},"service_tier":"default","store":`...)
	buf = strconv.AppendBool(buf, r.Store == nil || *r.Store)
	buf = appendRaw(buf, "temperature", r.Temperature, "1.0")
	buf = appendRaw(buf, "text", r.Text, `{"format":{"type":"text"},"verbosity":"medium"}`)
	buf = appendRaw(buf, "tool_choice", r.ToolChoice, `"auto"`)
	buf = appendRaw(buf, "tools", r.Tools, "[]")
	buf = append(buf, `,"top_logprobs":0`...)
	buf = appendRaw(buf, "top_p", r.TopP, "1.0")
	buf = append(buf, `,"truncation":`...)

	if r.Truncation == "" {
		buf = append(buf, `"disabled"`...)
	} else {
		buf = exchange.AppendString(buf, r.Truncation)
	}

	buf = append(buf, `,"user":`...)
	buf = appendNullable(buf, r.User)
	buf = appendRaw(buf, "metadata", r.Metadata, "{}")

	return append(buf, `,"usage":`...)
}

// appendRaw appends a setting as it was sent, on one line, or a default if it was not sent.
func appendRaw(buf []byte, name string, raw json.RawMessage, otherwise string) []byte {
	buf = append(buf, `,"`...)
	buf = append(buf, name...)
	buf = append(buf, `":`...)

	if !given(raw) {
		return append(buf, otherwise...)
	}

	line := bytes.NewBuffer(buf)
	if json.Compact(line, raw) != nil {
		return append(buf, otherwise...)
	}

	return line.Bytes()
}
