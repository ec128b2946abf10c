// Package gemini implements the Gemini API, and the same API on Vertex AI: it parses requests of the generateContent family
// and writes a script's answers. It knows nothing about the client with which TARSy calls the real API: the two share only
// Google's documentation.
//
// Differences from the real API: usage is only in the last event of a stream, unknown fields are ignored instead of
// rejected, and no key is required.
package gemini

import (
	"fmt"
	"net/http"
	"strings"

	"tarsy.dev/tarsy/internal/kit/mock/exchange"
	"tarsy.dev/tarsy/llm"
)

// Name is the name of this API in the journal.
const Name = "gemini"

// Routes returns the operations of the API. The version can be left out, for SDKs that expect it in the base URL.
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

// call runs the method that the last part of the path names after its colon.
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

// invalid returns the error of a request that the API rejects.
func invalid(err error) *llm.Error {
	return &llm.Error{Status: http.StatusBadRequest, Message: err.Error()}
}
