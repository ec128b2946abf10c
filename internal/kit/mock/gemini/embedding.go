package gemini

import (
	"errors"
	"fmt"
	"strings"

	"tarsy.dev/tarsy/internal/kit/mock/exchange"
)

const (
	// maxEmbeds is the API's own limit for a batch; maxDimensions limits models that this server does not know.
	maxEmbeds     = 100
	maxDimensions = 4096
)

// embedRequest is the body of embedContent, and an element of the body of batchEmbedContents.
type embedRequest struct {
	Model       string       `json:"model"`
	Content     *content     `json:"content"`
	Dimensions  *int         `json:"outputDimensionality"`
	Dimensions2 *int         `json:"output_dimensionality"`
	Config      *embedConfig `json:"embedContentConfig"`
	Config2     *embedConfig `json:"embed_content_config"`
}

// embedConfig is where newer clients put the settings.
type embedConfig struct {
	Dimensions  *int `json:"outputDimensionality"`
	Dimensions2 *int `json:"output_dimensionality"`
}

type embedBatch struct {
	Requests []embedRequest `json:"requests"`
}

type embedding struct {
	Values []float32 `json:"values"`
}

// embed answers embedContent without the script: the vector depends only on the text.
func embed(x *exchange.Exchange, model string) {
	var request embedRequest

	err := decodeBody(x.Body, &request)

	var made embedding
	if err == nil {
		made, err = request.embed(model, "EmbedContentRequest")
	}

	if err != nil {
		x.Fail(Error, invalid(err))

		return
	}

	x.JSON(map[string]embedding{"embedding": made})
}

// embedAll answers batchEmbedContents.
func embedAll(x *exchange.Exchange, model string) {
	var batch embedBatch

	err := decodeBody(x.Body, &batch)

	switch n := len(batch.Requests); {
	case err != nil:
	case n == 0:
		err = errors.New("* BatchEmbedContentsRequest.requests: requests is not specified")
	case n > maxEmbeds:
		err = fmt.Errorf("* BatchEmbedContentsRequest.requests: at most %d requests can be in one batch", maxEmbeds)
	}

	all := make([]embedding, 0, len(batch.Requests))

	for i := range batch.Requests {
		if err != nil {
			break
		}

		var made embedding

		made, err = batch.Requests[i].embed(model, fmt.Sprintf("BatchEmbedContentsRequest.requests[%d]", i))
		all = append(all, made)
	}

	if err != nil {
		x.Fail(Error, invalid(err))

		return
	}

	x.JSON(map[string][]embedding{"embeddings": all})
}

func (r *embedRequest) embed(model, where string) (embedding, error) {
	if r.Content == nil || len(r.Content.Parts) == 0 {
		return embedding{}, fmt.Errorf("* %s.content: content is not specified", where)
	}

	if r.Model != "" && strings.TrimPrefix(r.Model, "models/") != model {
		return embedding{}, fmt.Errorf("* %s.model: model is '%s', but the path names 'models/%s'", where, r.Model, model)
	}

	for i := range r.Content.Parts {
		if r.Content.Parts[i].empty() {
			return embedding{}, fmt.Errorf("* %s.content.parts[%d].data: required oneof field 'data' must have one initialized field", where, i)
		}
	}

	dimensions := defaultDimensions(model)

	if wanted := r.wanted(); wanted != nil {
		dimensions = *wanted
	}

	if dimensions < 1 || dimensions > maxDimensions {
		return embedding{}, fmt.Errorf("* %s.output_dimensionality: must be between 1 and %d, but is %d", where, maxDimensions, dimensions)
	}

	return embedding{Values: exchange.Vector(r.Content.text(), dimensions)}, nil
}

// wanted returns the length that the caller requests, or nil for the model's own.
func (r *embedRequest) wanted() *int {
	if wanted := either(r.Dimensions, r.Dimensions2); wanted != nil {
		return wanted
	}

	if config := either(r.Config, r.Config2); config != nil {
		return either(config.Dimensions, config.Dimensions2)
	}

	return nil
}

// defaultDimensions returns the length of a model's vectors unless the caller requests another.
func defaultDimensions(model string) int {
	const small, large = 768, 3072

	switch model {
	case "embedding-001", "text-embedding-004", "text-embedding-005":
		return small
	default:
		return large
	}
}
