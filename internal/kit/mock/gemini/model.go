package gemini

import (
	"tarsy.dev/tarsy/internal/kit/mock/exchange"
	"tarsy.dev/tarsy/llm/script"
)

// model is what the API reports about a model.
type model struct {
	Name             string   `json:"name"`
	Version          string   `json:"version"`
	DisplayName      string   `json:"displayName"`
	Description      string   `json:"description"`
	InputTokenLimit  int      `json:"inputTokenLimit"`
	OutputTokenLimit int      `json:"outputTokenLimit"`
	Methods          []string `json:"supportedGenerationMethods"`
	Temperature      float64  `json:"temperature"`
	TopP             float64  `json:"topP"`
	TopK             int      `json:"topK"`
	MaxTemperature   float64  `json:"maxTemperature"`
	Thinking         bool     `json:"thinking"`
}

// newModel describes any model: all of them exist here.
func newModel(id string) model {
	return model{
		Name: "models/" + id, Version: "001", DisplayName: id, Description: "Answers from a script.",
		InputTokenLimit: 1 << 20, OutputTokenLimit: 1 << 16, Methods: []string{"generateContent", "countTokens", "embedContent", "batchEmbedContents"},
		Temperature: 1, TopP: 0.95, TopK: 64, MaxTemperature: 2, Thinking: true,
	}
}

func listModels(x *exchange.Exchange) {
	var list struct {
		Models []model `json:"models"`
	}

	ids := x.Models
	if len(ids) == 0 {
		ids = []string{"gemini-2.5-flash", "gemini-2.5-flash-lite", "gemini-2.5-pro", "gemini-3-flash-preview", "gemini-3.1-pro-preview"}
	}

	for _, id := range ids {
		list.Models = append(list.Models, newModel(id))
	}

	x.JSON(list)
}

func getModel(x *exchange.Exchange) { x.JSON(newModel(x.Request.PathValue("model"))) }

type modality struct {
	Modality string `json:"modality"`
	Tokens   int    `json:"tokenCount"`
}

type tokenCount struct {
	Total   int        `json:"totalTokens"`
	Details []modality `json:"promptTokensDetails"`
}

// countTokens estimates the tokens of a prompt, or of a whole request.
func countTokens(x *exchange.Exchange) {
	request, err := readRequest(x.Body)
	if err != nil {
		x.Fail(Error, invalid(err))

		return
	}

	if whole := either(request.Counted, request.Counted2); whole != nil {
		request = whole
	}

	decoded, err := request.decode("counted")
	if err != nil {
		x.Fail(Error, invalid(err))

		return
	}

	tokens := script.InputTokens(decoded)
	x.JSON(tokenCount{Total: tokens, Details: []modality{{Modality: "TEXT", Tokens: tokens}}})
}
