// Package gemini speaks the form of the Gemini API, and of the same API on Vertex AI: it reads requests of the
// generateContent family and writes a script's answers. It knows nothing of the client that TARSy calls the real API
// with; the two agree on what Google documents, and on nothing else.
//
// What differs from the real API: usage stands in the last event of a stream only, fields that are not known are
// ignored instead of refused, and no key is asked for.
package gemini

import (
	"fmt"
	"net/http"
	"strings"

	"tarsy.dev/tarsy/internal/kit/mock/exchange"
	"tarsy.dev/tarsy/llm"
)

// Name is what the journal calls this API.
const Name = "gemini"

// Routes are the operations of the API. SDKs whose base URL is expected to end with the version may leave it out.
func Routes() []exchange.Route {
	const publisher = "/publishers/google/models/{call}"

	return []exchange.Route{
		{Pattern: "GET /v1beta/models", Handle: listModels},
		{Pattern: "GET /v1beta/models/{model}", Handle: getModel},
		{Pattern: "POST /v1beta/models/{call}", Handle: call},
		{Pattern: "POST /v1/models/{call}", Handle: call},
		{Pattern: "POST /models/{call}", Handle: call},
		{Pattern: "POST /v1beta1" + publisher, Handle: call},
		{Pattern: "POST /v1beta1/projects/{project}/locations/{location}" + publisher, Handle: call},
		{Pattern: "POST /v1/projects/{project}/locations/{location}" + publisher, Handle: call},
	}
}

// call does what the last part of the path names after its colon.
func call(x *exchange.Exchange) {
	model, method, _ := strings.Cut(x.Request.PathValue("call"), ":")
	x.Entry.Model = model

	switch method {
	case "generateContent":
		generate(x, model, false)
	case "streamGenerateContent":
		generate(x, model, true)
	case "countTokens":
		countTokens(x)
	case "embedContent":
		embed(x, model)
	case "batchEmbedContents":
		embedAll(x, model)
	default:
		x.Entry.Unexpected = true
		x.Fail(Error, &llm.Error{
			Status:  http.StatusNotFound,
			Message: fmt.Sprintf("models/%s is not found for API version v1beta, or is not supported for %s. Call ListModels to see the list of available models and their supported methods.", model, method),
		})
	}
}

func generate(x *exchange.Exchange, model string, stream bool) {
	request, err := readRequest(x.Body)
	if err != nil {
		x.Fail(Error, invalid(err))

		return
	}

	decoded, err := request.decode(model)
	if err != nil {
		x.Fail(Error, invalid(err))

		return
	}

	form := formArray
	contentType := "application/json"

	if x.Request.URL.Query().Get("alt") == "sse" {
		form = formEvents
		contentType = "text/event-stream"
	}

	x.Answer(exchange.Call{
		Request: decoded, Stream: stream, ContentType: contentType,
		Encoder: &encoder{model: model, exchange: x, form: form, thoughts: request.wantsThoughts()},
	})
}

// invalid is the error of a request that the API does not understand.
func invalid(err error) *llm.Error {
	return &llm.Error{Status: http.StatusBadRequest, Message: err.Error()}
}
