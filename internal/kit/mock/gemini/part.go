package gemini

import (
	"encoding/json"

	"tarsy.dev/tarsy/internal/kit/mock/exchange"
	"tarsy.dev/tarsy/llm"
)

// comma separates a part from the previous ones, the first of which begins at start.
func comma(buf []byte, start int) []byte {
	if len(buf) > start {
		return append(buf, ',')
	}

	return buf
}

func appendText(buf []byte, text, signature string) []byte {
	buf = exchange.AppendString(append(buf, `{"text":`...), text)

	return append(appendSignature(buf, signature), '}')
}

func appendThought(buf []byte, text string) []byte {
	buf = exchange.AppendString(append(buf, `{"text":`...), text)

	return append(buf, `,"thought":true}`...)
}

func appendCall(buf []byte, call llm.ToolCall, signature string) []byte {
	buf = exchange.AppendString(append(buf, `{"functionCall":{"name":`...), call.Name)
	buf = append(append(buf, `,"args":`...), arguments(call.Arguments)...)

	if call.ID != "" {
		buf = exchange.AppendString(append(buf, `,"id":`...), call.ID)
	}

	return append(appendSignature(append(buf, '}'), signature), '}')
}

// arguments returns the arguments that a script gives to a call. The API allows only objects, so other text is wrapped in
// one.
func arguments(text string) string {
	var object map[string]json.RawMessage
	if text == "" || text == "{}" {
		return "{}"
	}

	if err := json.Unmarshal([]byte(text), &object); err != nil || object == nil {
		return string(append(exchange.AppendString([]byte(`{"arguments":`), text), '}'))
	}

	return compact(json.RawMessage(text))
}

func appendCode(buf []byte, run llm.CodeExecutionChunk) []byte {
	buf = exchange.AppendString(append(buf, `{"executableCode":{"language":"PYTHON","code":`...), run.Code)
	buf = append(buf, `}},{"codeExecutionResult":{"outcome":"OUTCOME_OK","output":`...)

	return append(exchange.AppendString(buf, run.Result), `}}`...)
}

func appendSignature(buf []byte, signature string) []byte {
	if signature == "" {
		return buf
	}

	buf = append(buf, `,"thoughtSignature":"`...)

	return append(append(buf, signature...), '"')
}

// appendGroundings writes searches and fetches as two fields of a candidate.
func appendGroundings(buf []byte, groundings []llm.GroundingChunk) []byte {
	var searched, fetched bool

	for _, g := range groundings {
		fetched = fetched || g.Kind == kindFetch
		searched = searched || g.Kind != kindFetch
	}

	if searched {
		buf = append(buf, `,"groundingMetadata":{"searchEntryPoint":{"renderedContent":"<div></div>"},"groundingChunks":[`...)
		buf = eachSource(buf, groundings, false, func(buf []byte, s llm.Source) []byte {
			buf = exchange.AppendString(append(buf, `{"web":{"uri":`...), s.URL)
			buf = exchange.AppendString(append(buf, `,"title":`...), s.Title)

			return append(buf, `}}`...)
		})
		buf = append(buf, `],"groundingSupports":[],"webSearchQueries":[`...)
		start := len(buf)

		for _, g := range groundings {
			for _, query := range g.Queries {
				buf = exchange.AppendString(comma(buf, start), query)
			}
		}

		buf = append(buf, `]}`...)
	}

	if fetched {
		buf = append(buf, `,"urlContextMetadata":{"urlMetadata":[`...)
		buf = eachSource(buf, groundings, true, func(buf []byte, s llm.Source) []byte {
			buf = exchange.AppendString(append(buf, `{"retrievedUrl":`...), s.URL)

			return append(buf, `,"urlRetrievalStatus":"URL_RETRIEVAL_STATUS_SUCCESS"}`...)
		})
		buf = append(buf, `]}`...)
	}

	return buf
}

// kindFetch is the kind of groundings that fetched pages; every other kind searched.
const kindFetch = "url_context"

func eachSource(buf []byte, groundings []llm.GroundingChunk, fetched bool, add func([]byte, llm.Source) []byte) []byte {
	start := len(buf)

	for _, g := range groundings {
		if (g.Kind == kindFetch) != fetched {
			continue
		}

		for _, source := range g.Sources {
			buf = add(comma(buf, start), source)
		}
	}

	return buf
}
