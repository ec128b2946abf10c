package llmtest

import (
	"context"
	"encoding/json"
	"iter"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"tarsy.dev/tarsy/llm"
	"tarsy.dev/tarsy/llm/script"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const (
	modelKey      = "sk-right"
	modelVariable = "TARSY_LLMTEST_KEY"
)

func TestRealAPIIsCalledOnlyOnRequestWithKey(t *testing.T) {
	t.Parallel()

	const runs, skips, fails = "runs", "skips", "fails"

	for name, c := range map[string]struct {
		env  map[string]string
		want string
	}{
		"neither":                 {nil, skips},
		"not asked":               {map[string]string{modelVariable: modelKey}, skips},
		"asked in other words":    {map[string]string{RealVariable: "yes", modelVariable: modelKey}, skips},
		"no key":                  {map[string]string{RealVariable: "1"}, fails},
		"key of another provider": {map[string]string{RealVariable: "1", keyVariables()[1]: "sk"}, skips},
		"asked with key":          {map[string]string{RealVariable: "1", modelVariable: modelKey}, runs},
	} {
		key, skip, fail := realKey(func(variable string) string { return c.env[variable] }, "x", modelVariable)

		require.Equal(t, c.want == runs, key == modelKey, name)
		require.Equal(t, c.want == skips, skip != "", name)
		require.Equal(t, c.want == fails, fail != "", name)

		if c.want != runs {
			require.Contains(t, skip+fail, RealVariable+"=1", name)
			require.Contains(t, skip+fail, modelVariable, name)
		}
	}
}

// The cases against real APIs are rarely run; this shows that a correct client and model pass them.
func TestRealCasesPassWithObedientModel(t *testing.T) {
	t.Setenv(RealVariable, "1")
	t.Setenv(modelVariable, modelKey)

	RunReal(t, RealProvider{
		Name: "obedient", KeyVariable: modelVariable, Model: "m-1", Effort: "high",
		New: func(_ *testing.T, key string) llm.Client { return newObedient(key) },
	})
}

// obedient is a model that follows its instructions.
type obedient struct {
	key    string
	script *script.Script
}

func newObedient(key string) *obedient {
	o := &obedient{key: key, script: script.New(script.Options{})}
	o.script.RouteFunc(func(*llm.Request) bool { return true }, func(req *llm.Request, _ int) script.Reply { return o.reply(req) })

	return o
}

// Generate implements llm.Client.
func (o *obedient) Generate(ctx context.Context, req *llm.Request) iter.Seq2[llm.Chunk, error] {
	return o.script.Generate(ctx, req)
}

func (o *obedient) reply(req *llm.Request) script.Reply {
	last := req.Messages[len(req.Messages)-1]
	end := llm.EndChunk{Reason: llm.StopEnd}
	usage := llm.UsageChunk{InputTokens: 10, OutputTokens: 5}

	var chunks []llm.Chunk

	switch {
	case o.key != modelKey:
		return script.Reply{Err: llm.ErrorOfStatus(http.StatusUnauthorized, nil, "", "wrong key")}
	case req.Model != "m-1":
		return script.Reply{Err: llm.ErrorOfStatus(http.StatusNotFound, nil, "", "no such model")}
	case req.MaxOutputTokens == 64:
		chunks, end.Reason = []llm.Chunk{llm.TextChunk{Text: "Lighthouses are"}}, llm.StopMaxTokens
	case req.ResponseSchema != nil:
		chunks = []llm.Chunk{llm.TextChunk{Text: `{"score":3,"why":"a guess"}`}}
	case last.Role == llm.RoleTool:
		chunks = []llm.Chunk{llm.TextChunk{Text: "It is 31.7 degrees."}}
	case len(req.Tools) == 1:
		end.Reason = llm.StopToolCalls

		for _, city := range []string{"Brno", "Oslo", "Quito"} {
			if strings.Contains(last.Content, city) {
				call := llm.ToolCall{ID: "call_" + city, Name: req.Tools[0].Name, Arguments: `{"city":"` + city + `"}`}
				chunks = append(chunks, llm.ToolCallChunk{Call: call})
			}
		}
	case req.ReasoningEffort != "":
		end.Signature = &llm.Signature{By: "obedient/m-1", Data: json.RawMessage(`"s"`)}
		chunks = []llm.Chunk{llm.ThinkingChunk{Text: "20 + 8 - 2"}, llm.TextChunk{Text: "26"}}
	default:
		chunks = []llm.Chunk{llm.TextChunk{Text: "one "}, llm.TextChunk{Text: "two"}}
	}

	return script.Reply{Chunks: append(chunks, usage, end)}
}
