package gemini

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"

	"google.golang.org/genai"

	"tarsy.dev/tarsy/llm"
)

// answer assembles the events of a stream.
type answer struct {
	names llm.ToolNames
	by    string
	// ids are the ids of the conversation's calls, next is the number of calls: new ids continue from there.
	ids  map[string]bool
	next int

	layout layout
	calls  int
	// code is code that was run and whose result has not arrived yet.
	code    *string
	search  llm.GroundingChunk
	fetched llm.GroundingChunk
	usage   *genai.GenerateContentResponseUsageMetadata
	// candidate reports whether there was any answer at all.
	candidate bool
	reason    genai.FinishReason
	message   string
}

func newAnswer(req *llm.Request, names llm.ToolNames, by string) *answer {
	a := &answer{
		names: names, by: by, ids: map[string]bool{},
		search: llm.GroundingChunk{Kind: "google_search"}, fetched: llm.GroundingChunk{Kind: "url_context"},
	}

	for _, message := range req.Messages {
		for _, call := range message.ToolCalls {
			a.ids[call.ID] = true
			a.next++
		}
	}

	return a
}

// read handles one event and passes on its chunks.
func (a *answer) read(event *genai.GenerateContentResponse, pass func(llm.Chunk) bool) error {
	if event.UsageMetadata != nil {
		a.usage = event.UsageMetadata // each event counts all tokens so far
	}

	if blocked := event.PromptFeedback; blocked != nil && blocked.BlockReason != "" {
		return withheld("the question was blocked", string(blocked.BlockReason), blocked.BlockReasonMessage)
	}

	if len(event.Candidates) == 0 || event.Candidates[0] == nil {
		return nil
	}

	candidate := event.Candidates[0]
	a.candidate = true

	if candidate.Content != nil {
		for _, part := range candidate.Content.Parts {
			if part == nil {
				continue
			}

			if chunk := a.part(part); chunk != nil && !pass(chunk) {
				return errStopped
			}
		}
	}

	a.grounding(candidate)

	if candidate.FinishReason != "" {
		a.reason, a.message = candidate.FinishReason, candidate.FinishMessage
	}

	return nil
}

// part returns the chunk for a part, or nil.
func (a *answer) part(part *genai.Part) llm.Chunk {
	switch {
	case part.FunctionCall != nil:
		return llm.ToolCallChunk{Call: a.call(part)}
	case part.ExecutableCode != nil:
		before := a.code
		a.code = &part.ExecutableCode.Code

		if before != nil {
			return llm.CodeExecutionChunk{Code: *before}
		}
	case part.CodeExecutionResult != nil:
		return a.ran(part.CodeExecutionResult)
	case part.Thought:
		a.layout.thought(part.Text, part.ThoughtSignature)

		if part.Text != "" {
			return llm.ThinkingChunk{Text: part.Text}
		}
	case part.InlineData != nil || part.FileData != nil || part.ToolCall != nil || part.ToolResponse != nil:
	default:
		a.layout.text(len(part.Text), part.ThoughtSignature)

		if part.Text != "" {
			return llm.TextChunk{Text: part.Text}
		}
	}

	return nil
}

// call returns a call with an id that no other call of the conversation has: the API's own, or the next number.
func (a *answer) call(part *genai.Part) llm.ToolCall {
	a.calls++
	a.next++

	id := part.FunctionCall.ID
	for id == "" || a.ids[id] {
		id = "call_" + strconv.Itoa(a.next)
		if a.ids[id] {
			a.next++
		}
	}

	a.ids[id] = true
	a.layout.call(id, part.ThoughtSignature)

	return llm.ToolCall{ID: id, Name: a.names.Name(part.FunctionCall.Name), Arguments: object(part.FunctionCall.Args)}
}

func object(args map[string]any) string {
	if len(args) == 0 {
		return "{}"
	}

	var buf bytes.Buffer

	encoder := json.NewEncoder(&buf)
	encoder.SetEscapeHTML(false)

	if err := encoder.Encode(args); err != nil { // cannot fail: args was decoded from JSON
		return "{}"
	}

	return string(bytes.TrimSpace(buf.Bytes()))
}

func (a *answer) ran(result *genai.CodeExecutionResult) llm.Chunk {
	chunk := llm.CodeExecutionChunk{Result: result.Output}
	if a.code != nil {
		chunk.Code, a.code = *a.code, nil
	}

	if chunk.Result == "" && result.Outcome != genai.OutcomeOK {
		chunk.Result = string(result.Outcome)
	}

	return chunk
}

// grounding collects what the provider searched and fetched: events repeat it, but it is reported once, as a whole.
func (a *answer) grounding(candidate *genai.Candidate) {
	if found := candidate.GroundingMetadata; found != nil {
		for _, query := range append(slices.Clone(found.WebSearchQueries), found.RetrievalQueries...) {
			if !slices.Contains(a.search.Queries, query) {
				a.search.Queries = append(a.search.Queries, query)
			}
		}

		for _, chunk := range found.GroundingChunks {
			switch {
			case chunk == nil:
			case chunk.Web != nil:
				addSource(&a.search, chunk.Web.Title, chunk.Web.URI)
			case chunk.RetrievedContext != nil:
				addSource(&a.search, chunk.RetrievedContext.Title, chunk.RetrievedContext.URI)
			}
		}
	}

	if found := candidate.URLContextMetadata; found != nil {
		for _, page := range found.URLMetadata {
			if page != nil && page.URLRetrievalStatus == genai.URLRetrievalStatusSuccess {
				addSource(&a.fetched, "", page.RetrievedURL)
			}
		}
	}
}

func addSource(chunk *llm.GroundingChunk, title, url string) {
	if source := (llm.Source{Title: title, URL: url}); !slices.Contains(chunk.Sources, source) {
		chunk.Sources = append(chunk.Sources, source)
	}
}

func (a *answer) ended() bool { return a.reason != "" }

// end passes on what is known only at the end of the stream.
func (a *answer) end(pass func(llm.Chunk) bool) (stopped bool, err error) {
	if !a.candidate {
		return false, errors.New("the provider sent an empty answer")
	}

	reason, err := a.stopReason()
	if err != nil {
		return false, err
	}

	var last []llm.Chunk
	if a.code != nil {
		last = append(last, llm.CodeExecutionChunk{Code: *a.code})
	}

	for _, grounding := range []llm.GroundingChunk{a.search, a.fetched} {
		if len(grounding.Queries)+len(grounding.Sources) > 0 {
			last = append(last, grounding)
		}
	}

	last = append(last, a.counts(), llm.EndChunk{Reason: reason, Signature: a.layout.signature(a.by)})

	for _, chunk := range last {
		if !pass(chunk) {
			return true, nil
		}
	}

	return false, nil
}

// counts returns the token counts. What the provider's own tools add to the prompt also counts as input.
func (a *answer) counts() llm.UsageChunk {
	if a.usage == nil {
		return llm.UsageChunk{}
	}

	return llm.UsageChunk{
		InputTokens:    int(a.usage.PromptTokenCount) + int(a.usage.ToolUsePromptTokenCount),
		OutputTokens:   int(a.usage.CandidatesTokenCount),
		ThinkingTokens: int(a.usage.ThoughtsTokenCount),
		CachedTokens:   int(a.usage.CachedContentTokenCount),
	}
}

// stopReason returns why the model stopped, or an error if that is the reason. The API does not distinguish a stop sequence
// from an end.
func (a *answer) stopReason() (llm.StopReason, error) {
	switch a.reason {
	case "":
		return "", errors.New("the stream ended before the answer did")
	case genai.FinishReasonStop:
		if a.calls > 0 {
			return llm.StopToolCalls, nil
		}

		return llm.StopEnd, nil
	case genai.FinishReasonMaxTokens, genai.FinishReasonContinuation:
		return llm.StopMaxTokens, nil
	case genai.FinishReasonSafety, genai.FinishReasonRecitation, genai.FinishReasonBlocklist, genai.FinishReasonProhibitedContent,
		genai.FinishReasonSPII, genai.FinishReasonImageSafety, genai.FinishReasonImageProhibitedContent, genai.FinishReasonImageRecitation:
		return "", withheld("the answer was withheld", string(a.reason), a.message)
	case genai.FinishReasonLanguage:
		return "", &llm.Error{Class: llm.ClassInvalid, Code: string(a.reason), Message: "the model does not speak the language"}
	default:
		// The model may avoid its mistake, such as a malformed call, the next time.
		message := "the model stopped without an answer"
		if a.message != "" {
			message += ": " + a.message
		}

		return "", &llm.Error{Class: llm.ClassTransient, Code: string(a.reason), Message: message, Retryable: true}
	}
}

func withheld(what, reason, message string) error {
	if message != "" {
		what = fmt.Sprintf("%s: %s", what, message)
	}

	return &llm.Error{Class: llm.ClassSafety, Code: reason, Message: what}
}
