// Package anthropic speaks the form of the Anthropic Messages API: it reads requests and writes a script's answers, in one
// piece or as a stream. It knows the llm contract and the wire form, and nothing of who asks or of what the script holds.
package anthropic

import (
	"net/http"
	"strings"

	"tarsy.dev/tarsy/internal/kit/mock/exchange"
	"tarsy.dev/tarsy/llm"
	"tarsy.dev/tarsy/llm/script"
)

// Name is what the journal calls this API.
const Name = "anthropic"

// Routes are the operations of the API, with the prefix /v1 and, for SDKs whose base URL is expected to end with it, without.
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

// messages answers a call of a model.
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

// encoder writes the answer to the request.
func (r *request) encoder(x *exchange.Exchange, decoded *llm.Request) *encoder {
	e := &encoder{exchange: x, id: identify(x), request: decoded, firstCode: r.runsPython(), compacts: r.Compaction != nil}
	if r.Thread != nil {
		e.threaded = r
	}

	return e
}

// countTokens answers how long a conversation is. The script is not asked.
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

// read reads a request, or answers what is wrong with it.
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

// admitted answers a request that does not say who asks, or which version of the API it speaks. Any key will do.
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

// invalid is the error of a request that the API does not understand.
func invalid(message string) *llm.Error {
	return &llm.Error{Class: llm.ClassInvalid, Status: http.StatusBadRequest, Code: "invalid_request_error", Message: message}
}
