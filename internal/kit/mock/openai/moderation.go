package openai

import (
	"encoding/json"

	"tarsy.dev/tarsy/internal/kit/mock/exchange"
)

// moderationRequest has the supported fields of a request for a moderation.
type moderationRequest struct {
	Model string          `json:"model"`
	Input moderationInput `json:"input"`
}

// moderationInput is a text, a list of texts, or the parts of one content.
type moderationInput struct {
	// results is the number of results in the answer.
	results int
	images  bool
	set     bool
	wrong   bool
}

// UnmarshalJSON implements json.Unmarshaler.
func (in *moderationInput) UnmarshalJSON(data []byte) error {
	if data[0] == 'n' {
		return nil
	}

	in.set = true

	var texts []string

	switch {
	case data[0] == '"':
		in.results = 1
	case json.Unmarshal(data, &texts) == nil:
		in.results = len(texts)
	default:
		in.readParts(data)
	}

	return nil
}

// readParts decodes a content that is moderated as a whole.
func (in *moderationInput) readParts(data []byte) {
	var parts []part

	in.wrong = json.Unmarshal(data, &parts) != nil
	in.results = min(len(parts), 1)

	for _, p := range parts {
		in.images = in.images || p.Type == "image_url"
		in.wrong = in.wrong || (p.Type != "text" && p.Type != "image_url")
	}
}

// moderation is the body of the answer.
type moderation struct {
	ID      string             `json:"id"`
	Model   string             `json:"model"`
	Results []moderationResult `json:"results"`
}

type moderationResult struct {
	Flagged    bool                `json:"flagged"`
	Categories map[string]bool     `json:"categories"`
	Scores     map[string]float64  `json:"category_scores"`
	InputTypes map[string][]string `json:"category_applied_input_types"`
}

// categories maps the API's categories to whether they apply to images.
var categories = map[string]bool{
	"harassment": false, "harassment/threatening": false, "hate": false, "hate/threatening": false, "illicit": false,
	"illicit/violent": false, "self-harm": true, "self-harm/intent": true, "self-harm/instructions": true, "sexual": true,
	"sexual/minors": false, "violence": true, "violence/graphic": true,
}

// moderate answers that nothing is wrong with the input, without the script.
func moderate(x *exchange.Exchange) {
	name(x)

	request := moderationRequest{Model: "omni-moderation-latest"}

	p := decode(x.Body, &request)

	switch {
	case p != nil:
	case !request.Input.set:
		p = missing("input")
	case request.Input.wrong:
		p = invalid("input", "invalid_type", "Invalid type for 'input': expected a string, an array of strings, or an array of text and image parts.")
	case request.Input.results == 0:
		p = invalid("input", "empty_array", "Invalid 'input': empty array. Expected an array with minimum length 1.")
	}

	if p != nil {
		refuse(x, p)

		return
	}

	x.Entry.Model = request.Model
	answer := moderation{ID: string(seedOf(x).appendID(nil, "modr-", 0)), Model: request.Model}

	for range request.Input.results {
		answer.Results = append(answer.Results, newModerationResult(request.Input.images))
	}

	x.JSON(answer)
}

// newModerationResult returns the result for harmless input.
func newModerationResult(images bool) moderationResult {
	const harmless = 1e-6

	result := moderationResult{Categories: map[string]bool{}, Scores: map[string]float64{}, InputTypes: map[string][]string{}}

	for category, looksAtImages := range categories {
		result.Categories[category], result.Scores[category] = false, harmless
		result.InputTypes[category] = []string{"text"}

		if images && looksAtImages {
			result.InputTypes[category] = []string{"text", "image"}
		}
	}

	return result
}
