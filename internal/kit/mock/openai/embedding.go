package openai

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"math"
	"slices"
	"strings"

	"tarsy.dev/tarsy/internal/kit/mock/exchange"
	"tarsy.dev/tarsy/llm"
	"tarsy.dev/tarsy/llm/script"
)

const (
	formatFloat  = "float"
	formatBase64 = "base64"

	// maxInputs is the API's own limit; maxDimensions limits models that this server does not know.
	maxInputs     = 2048
	maxDimensions = 4096
)

// embeddingRequest has the supported fields of a request for embeddings.
type embeddingRequest struct {
	Model          string         `json:"model"`
	Input          embeddingInput `json:"input"`
	Dimensions     *int           `json:"dimensions"`
	EncodingFormat string         `json:"encoding_format"`
}

// embeddingInput is a text, a list of texts, a list of tokens, or a list of lists of tokens. A list of tokens is embedded
// as its text: this server has no tokenizer.
type embeddingInput struct {
	texts []string
	set   bool
	wrong bool
}

// UnmarshalJSON implements json.Unmarshaler.
func (in *embeddingInput) UnmarshalJSON(data []byte) error {
	var tokens []uint32

	switch {
	case data[0] == 'n':
		return nil
	case data[0] == '"':
		in.set, in.texts = true, make([]string, 1)

		return json.Unmarshal(data, &in.texts[0])
	case json.Unmarshal(data, &tokens) == nil && len(tokens) > 0:
		in.set, in.texts = true, []string{tokenText(data)}

		return nil
	}

	in.set = true

	var each []json.RawMessage

	in.wrong = json.Unmarshal(data, &each) != nil

	for _, one := range each {
		var text string

		switch {
		case json.Unmarshal(one, &text) == nil && one[0] == '"':
		case json.Unmarshal(one, &tokens) == nil && len(tokens) > 0:
			text = tokenText(one)
		default:
			in.wrong = true

			return nil
		}

		in.texts = append(in.texts, text)
	}

	return nil
}

func tokenText(list []byte) string {
	var text bytes.Buffer
	if json.Compact(&text, list) != nil {
		return string(list)
	}

	return text.String()
}

// embed answers a request for embeddings without the script: the vectors depend only on the texts.
func embed(x *exchange.Exchange) {
	name(x)

	var request embeddingRequest

	p := decode(x.Body, &request)
	if p == nil {
		p = request.check()
	}

	if p != nil {
		refuse(x, p)

		return
	}

	x.Entry.Model = request.Model
	x.JSON(request.answer())
}

func (r *embeddingRequest) check() *problem {
	switch {
	case r.Model == "":
		return missing("model")
	case !r.Input.set:
		return missing("input")
	case r.Input.wrong:
		return invalid("input", "invalid_type",
			"Invalid type for 'input': expected a string, an array of strings, an array of tokens, or an array of arrays of tokens.")
	case len(r.Input.texts) == 0 || len(r.Input.texts) > maxInputs:
		return invalid("input", "invalid_value", "Invalid 'input': expected 1 to %d inputs, but got %d.", maxInputs, len(r.Input.texts))
	case r.EncodingFormat != "" && r.EncodingFormat != formatFloat && r.EncodingFormat != formatBase64:
		return invalid("encoding_format", "invalid_value",
			"Invalid value: '%s'. Supported values are: 'float' and 'base64'.", r.EncodingFormat)
	}

	if slices.Contains(r.Input.texts, "") {
		return invalid("input", "invalid_value", "Invalid 'input': an input must not be an empty string.")
	}

	return r.checkDimensions()
}

func (r *embeddingRequest) checkDimensions() *problem {
	if r.Dimensions == nil {
		return nil
	}

	most := maxDimensions
	if natural, known := defaultDimensions(r.Model); known {
		most = natural
	}

	switch {
	case strings.HasPrefix(r.Model, "text-embedding-ada"):
		return invalid("dimensions", "invalid_value", "This model does not support specifying dimensions.")
	case *r.Dimensions < 1 || *r.Dimensions > most:
		return invalid("dimensions", "invalid_value", "Invalid value for 'dimensions': expected 1 to %d for this model, but got %d.", most, *r.Dimensions)
	default:
		return nil
	}
}

// defaultDimensions returns the length of a model's vectors unless the caller requests shorter ones, and whether the model
// is known.
func defaultDimensions(model string) (int, bool) {
	const small, large = 1536, 3072

	switch {
	case strings.HasPrefix(model, "text-embedding-3-large"):
		return large, true
	case strings.HasPrefix(model, "text-embedding-3-small"), strings.HasPrefix(model, "text-embedding-ada"):
		return small, true
	default:
		return small, false
	}
}

// embedding is one vector of an answer; Embedding is a list of numbers, or base64.
type embedding struct {
	Object    string `json:"object"`
	Index     int    `json:"index"`
	Embedding any    `json:"embedding"`
}

type embeddingUsage struct {
	PromptTokens int `json:"prompt_tokens"`
	TotalTokens  int `json:"total_tokens"`
}

type embeddingList struct {
	Object string         `json:"object"`
	Data   []embedding    `json:"data"`
	Model  string         `json:"model"`
	Usage  embeddingUsage `json:"usage"`
}

func (r *embeddingRequest) answer() embeddingList {
	dimensions, _ := defaultDimensions(r.Model)
	if r.Dimensions != nil {
		dimensions = *r.Dimensions
	}

	list := embeddingList{Object: "list", Model: r.Model, Data: make([]embedding, 0, len(r.Input.texts))}

	for i, text := range r.Input.texts {
		made := embedding{Object: "embedding", Index: i}

		vector := exchange.Vector(text, dimensions)
		if r.EncodingFormat == formatBase64 {
			made.Embedding = packed(vector)
		} else {
			made.Embedding = vector
		}

		list.Data = append(list.Data, made)
		list.Usage.PromptTokens += script.InputTokens(&llm.Request{Messages: []llm.Message{{Content: text}}})
	}

	list.Usage.TotalTokens = list.Usage.PromptTokens

	return list
}

// packed returns the base64 of a vector's little-endian float32 values.
func packed(vector []float32) string {
	const size = 4

	data := make([]byte, 0, size*len(vector))
	for _, value := range vector {
		data = binary.LittleEndian.AppendUint32(data, math.Float32bits(value))
	}

	return base64.StdEncoding.EncodeToString(data)
}
