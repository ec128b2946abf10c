package provider

import (
	"context"
	"time"

	"tarsy.dev/tarsy/llm"
)

// Check is the result of one tiny call to a provider.
type Check struct {
	Model string
	// FirstChunk and Total are measured from the start of the call.
	FirstChunk time.Duration
	Total      time.Duration
	Usage      llm.UsageChunk
	Err        error
}

// Check asks a provider for a single word.
func (p *Providers) Check(ctx context.Context, name string) Check {
	// Thinking models need tokens for thinking before the word.
	const enough = 512

	check := Check{Model: p.cfg.Providers[name].Model}
	started := time.Now()

	response, err := llm.Collect(p.Generate(ctx, &llm.Request{
		Provider: name, Model: check.Model, MaxOutputTokens: enough, Purpose: "check",
		Messages: []llm.Message{{Role: llm.RoleUser, Content: "Answer with the single word: ready"}},
	}), func(llm.Chunk) error {
		if check.FirstChunk == 0 {
			check.FirstChunk = time.Since(started)
		}

		return nil
	})

	check.Total, check.Usage, check.Err = time.Since(started), response.Usage, err

	return check
}
