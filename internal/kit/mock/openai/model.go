package openai

import (
	"tarsy.dev/tarsy/internal/kit/mock/anthropic"
	"tarsy.dev/tarsy/internal/kit/mock/exchange"
)

// modelObject is what the API reports about a model.
type modelObject struct {
	ID      string `json:"id"`
	Object  string `json:"object"`
	Created int64  `json:"created"`
	OwnedBy string `json:"owned_by"`
}

type modelList struct {
	Object string        `json:"object"`
	Data   []modelObject `json:"data"`
}

// wellKnown returns the models that are listed. Every other model works too.
func wellKnown() []string {
	return []string{"gpt-5.1", "gpt-5", "gpt-5-mini", "gpt-4.1", "gpt-4o", "o4-mini"}
}

// models lists the models. Another API has the same path, and clients that send its version.
func models(x *exchange.Exchange) {
	if forAnthropic(x) {
		anthropic.Models(x)

		return
	}

	ids := x.Models
	if len(ids) == 0 {
		ids = wellKnown()
	}

	list := modelList{Object: "list", Data: make([]modelObject, 0, len(ids))}
	for _, id := range ids {
		list.Data = append(list.Data, objectOf(id))
	}

	x.JSON(list)
}

// model describes one model; every model exists.
func model(x *exchange.Exchange) {
	id := x.Request.PathValue("model")

	if forAnthropic(x) {
		anthropic.Model(x, id)

		return
	}

	x.JSON(objectOf(id))
}

func forAnthropic(x *exchange.Exchange) bool { return x.Request.Header.Get("Anthropic-Version") != "" }

func objectOf(id string) modelObject {
	const created = 1735689600

	return modelObject{ID: id, Object: "model", Created: created, OwnedBy: "system"}
}
