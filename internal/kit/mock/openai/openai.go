// Package openai implements the OpenAI API, Chat Completions and Responses: it parses requests and writes a script's
// answers. It knows the format of the documented API and the llm contract, and nothing about the client in llm/openai: the
// official SDKs verify both.
//
// Differences from the real API: it keeps responses until the run ends, only for previous_response_id and item references
// (they cannot be retrieved; conversations and background work are rejected), reads nothing but text, answers with one
// choice, sends no log probabilities and no obfuscation, and shows thinking in Chat Completions as reasoning_content, as
// compatible servers do. Code that a script's answer ran cannot be represented in Chat Completions and is left out there.
package openai

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"

	"tarsy.dev/tarsy/internal/kit/mock/exchange"
	"tarsy.dev/tarsy/llm"
)

// Name is the name of this API in the journal.
const Name = "openai"

// eventStream is the content type of streams.
const eventStream = "text/event-stream; charset=utf-8"

// Routes returns the operations of the API, with the prefix /v1 and without it, for clients whose base URL has none.
func Routes() []exchange.Route {
	var routes []exchange.Route

	for _, prefix := range []string{"/v1", ""} {
		routes = append(routes,
			exchange.Route{Pattern: "POST " + prefix + "/chat/completions", Handle: chat},
			exchange.Route{Pattern: "POST " + prefix + "/responses", Handle: respond},
			exchange.Route{Pattern: "POST " + prefix + "/responses/input_tokens", Handle: countTokens},
			exchange.Route{Pattern: "POST " + prefix + "/embeddings", Handle: embed},
			exchange.Route{Pattern: "POST " + prefix + "/moderations", Handle: moderate},
			exchange.Route{Pattern: "GET " + prefix + "/models", Handle: models},
			exchange.Route{Pattern: "GET " + prefix + "/models/{model...}", Handle: model},
		)
	}

	return routes
}

// problem is an error in a request, and its location.
type problem struct {
	param   string
	code    string
	message string
}

func (p *problem) Error() string { return p.message }

func invalid(param, code, format string, values ...any) *problem {
	return &problem{param: param, code: code, message: fmt.Sprintf(format, values...)}
}

func missing(param string) *problem {
	return invalid(param, "missing_required_parameter", "Missing required parameter: '%s'.", param)
}

// refuse answers a request with its problem.
func refuse(x *exchange.Exchange, p *problem) {
	e := &llm.Error{Class: llm.ClassInvalid, Status: http.StatusBadRequest, Code: p.code, Message: p.message}

	x.Fail(func(buf []byte, e *llm.Error) []byte { return appendError(buf, e, p.param) }, e)
}

// name sets the request ID of an answer, which SDKs show.
func name(x *exchange.Exchange) {
	var id [64]byte

	x.Writer.Header()["X-Request-Id"] = []string{string(seedOf(x).appendID(id[:0], "req_", 0))}
}

// decode decodes a request's body.
func decode(body []byte, request any) *problem {
	err := json.Unmarshal(body, request)
	if err == nil {
		return nil
	}

	if wrong, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		if wrong.Field == "" {
			return invalid("", "invalid_type", "Invalid type: expected %s, but got %s instead.", kindOf(wrong.Type), wrong.Value)
		}

		return invalid(wrong.Field, "invalid_type", "Invalid type for '%s': expected %s, but got %s instead (at byte %d).",
			wrong.Field, kindOf(wrong.Type), wrong.Value, wrong.Offset)
	}

	return invalid("", "", "We could not parse the JSON body of your request: %s.", err)
}
