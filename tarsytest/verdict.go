package tarsytest

import (
	"context"
	"iter"
	"strings"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/llm"
	"tarsy.dev/tarsy/llm/script"
)

// verdictText is the verdict that the kit writes.
const verdictText = `{"outcome":"inconclusive","cause":"","confidence":"low","confidence_reason":"The test kit wrote this verdict.",` +
	`"impact":"","next_steps":[],"not_checked":[]}`

// verdictPrompt is how the system text of a call for a verdict begins. Over the wire nothing else names it.
const verdictPrompt = "Write the verdict of an incident investigation"

// withVerdicts is a model whose verdicts the kit writes.
type withVerdicts struct {
	llm.Client

	verdicts *script.Script
}

// WithVerdicts returns the model with verdicts that the kit writes: inconclusive ones. Calls for them do not reach the model, so a script
// needs no reply for them and does not count them; summary and verdict are written at the same time, and have no order. A
// model with the method Routed, such as a script, keeps the calls that it accepts: those of Route("VerdictAgent", …), for instance.
//
// New does this for the model of its server. It is for models of other servers, see Connect.
func WithVerdicts(model llm.Client) llm.Client {
	verdicts := script.New(script.Options{Forget: true})
	verdicts.RouteFunc(isVerdict, kitVerdict)

	return withVerdicts{Client: model, verdicts: verdicts}
}

// Generate implements llm.Client.
func (w withVerdicts) Generate(ctx context.Context, req *llm.Request) iter.Seq2[llm.Chunk, error] {
	routes, ok := w.Client.(interface{ Routed(req *llm.Request) bool })
	if !isVerdict(req) || ok && routes.Routed(req) {
		return w.Client.Generate(ctx, req)
	}

	return w.verdicts.Generate(ctx, req)
}

func isVerdict(req *llm.Request) bool {
	return req.Purpose == string(tarsy.InteractionVerdict) ||
		len(req.Messages) > 0 && strings.HasPrefix(req.Messages[0].Content, verdictPrompt)
}

func kitVerdict(*llm.Request, int) script.Reply {
	return script.Reply{Text: verdictText, Usage: &llm.UsageChunk{}}
}
