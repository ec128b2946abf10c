// Package anthropic implements the Anthropic Messages API: it parses requests and writes a script's answers, whole or as a
// stream. It knows the llm contract and the wire format, and nothing about the caller or the content of the script.
package anthropic

import (
	"net/http"
	"strings"

	"tarsy.dev/tarsy/internal/kit/mock/exchange"
	"tarsy.dev/tarsy/llm"
	"tarsy.dev/tarsy/llm/script"
)

// Name is the name of this API in the journal.
const Name = "anthropic"

// Routes returns the operations of the API, with the prefix /v1 and without it, for SDKs that expect it in the base URL.
// GET /v1/models is not among them: see Models.
func Routes() []exchange.Route {
	var routes []exchange.Route

	for _, prefix := range []string{"/v1", ""} {
		routes = append(routes,
			exchange.Route{Pattern: "POST " + prefix + "/messages", Handle: messages},
			exchange.Route{Pattern: "POST " + prefix + "/messages/count_tokens", Handle: countTokens},
		)
	}

	return routes
}

// messages answers a model call.
func messages(x *exchange.Exchange) {
	r, ok := read(x, false)
	if !ok {
		return
	}

	decoded := r.decode()
	x.Answer(exchange.Call{
		Request: decoded, Stream: r.Stream, ContentType: "text/event-stream; charset=utf-8", Event: "content_block_delta",
		Encoder: r.encoder(x, decoded),
	})
}

// encoder returns the encoder of the answer to the request.
func (r *request) encoder(x *exchange.Exchange, decoded *llm.Request) *encoder {
	e := &encoder{exchange: x, id: identify(x), request: decoded, firstCode: r.runsPython(), compacts: r.Compaction != nil}
	if r.Thread != nil {
		e.threaded = r
	}

	return e
}

// countTokens answers with the size of a conversation. It does not use the script.
func countTokens(x *exchange.Exchange) {
	r, ok := read(x, true)
	if !ok {
		return
	}

	x.Entry.Model = r.Model
	x.JSON(struct {
		InputTokens int `json:"input_tokens"`
	}{script.InputTokens(r.decode())})
}

// read parses a request, or answers with its error.
func read(x *exchange.Exchange, counting bool) (*request, bool) {
	if !admitted(x) {
		return nil, false
	}

	r, err := parse(x.Body)
	if err == nil {
		err = r.resume(x)
	}

	if err == nil {
		r.interleaved = strings.Contains(strings.Join(x.Request.Header.Values("Anthropic-Beta"), ","), "interleaved-thinking-")
		err = r.check(counting)
	}

	if err != nil {
		fail(x, err)

		return nil, false
	}

	return r, true
}

// admitted reports whether a request has a key and an API version, and otherwise answers it with an error. Any key is
// accepted.
func admitted(x *exchange.Exchange) bool {
	header := x.Request.Header

	switch {
	case header.Get("X-Api-Key") == "" && header.Get("Authorization") == "":
		fail(x, &llm.Error{
			Class: llm.ClassAuth, Status: http.StatusUnauthorized, Code: "authentication_error", Message: "x-api-key header is required",
		})
	case header.Get("Anthropic-Version") == "":
		fail(x, invalid("anthropic-version: header is required"))
	default:
		return true
	}

	return false
}

func fail(x *exchange.Exchange, err *llm.Error) {
	x.Fail((&encoder{exchange: x, id: identify(x)}).Error, err)
}

// invalid returns the error of a request that the API rejects.
func invalid(message string) *llm.Error {
	return &llm.Error{Class: llm.ClassInvalid, Status: http.StatusBadRequest, Code: "invalid_request_error", Message: message}
}
