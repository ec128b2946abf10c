package tarsytest

import (
	"context"
	"iter"
	"strings"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/llm"
	"tarsy.dev/tarsy/llm/script"
)

// verdictText is the kit's verdict.
const verdictText = `{"outcome":"inconclusive","cause":"","confidence":"low","confidence_reason":"The test kit wrote this verdict.",` +
	`"impact":"","next_steps":[],"not_checked":[]}`

// verdictPrompt is the beginning of a verdict call's system text. On the wire nothing else identifies such a call.
const verdictPrompt = "Write the verdict of an incident investigation"

// withVerdicts is a model with verdicts written by the kit.
type withVerdicts struct {
	llm.Client

	verdicts *script.Script
}

// WithVerdicts returns the model with verdicts written by the kit, which are inconclusive. Verdict calls do not reach the
// model, so a script needs no reply for them and does not count them; summary and verdict are written at the same time, in
// no fixed order. If the model has a method Routed, as a script does, the calls that it accepts do reach the model, such as
// those of Route("VerdictAgent", …).
//
// New does this for the model of its server. Use it for the models of other servers, see Connect.
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
