package agent

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/plaintext"
	"tarsy.dev/tarsy/llm"
	"tarsy.dev/tarsy/llm/script"
)

// misspelled changes a name the way models and attackers do.
func misspelled(t *rapid.T, name string) string {
	blank := rapid.SampledFrom([]string{" ", "\t", "\n", "\u00a0", "\u3000", "\u200b", "\ufeff", "\x00", "."})

	switch rapid.IntRange(0, 7).Draw(t, "spelling") {
	case 0:
		return blank.Draw(t, "before") + name
	case 1:
		return name + blank.Draw(t, "behind")
	case 2:
		return strings.ToUpper(name)
	case 3:
		return strings.Replace(name, "__", ".", 1)
	case 4:
		return strings.Replace(name, ".", "__", 1)
	case 5:
		return strings.ReplaceAll(name, "_", "\uff3f")
	default:
		return name
	}
}

// Whatever the names of servers and tools, and however a model spells a name: the tool that is called is the one that the policy was
// asked about, with exactly this name, or there is none.
func TestOnlyCheckedToolIsCalled(t *testing.T) {
	t.Parallel()

	part := rapid.StringMatching(`[ab]?(__|_|\.)?[ab]`)

	rapid.Check(t, func(rt *rapid.T) {
		tools := rapid.SliceOfNDistinct(rapid.Custom(func(rt *rapid.T) Tool {
			return Tool{Server: part.Draw(rt, "server"), Name: part.Draw(rt, "tool"), ReadOnly: rapid.Bool().Draw(rt, "reads")}
		}), 1, 6, func(tool Tool) [2]string { return [2]string{tool.Server, tool.Name} }).Draw(rt, "tools")
		policies := rapid.SliceOfN(rapid.SampledFrom([]Policy{PolicyNever, PolicyAsk, PolicyAlways}), len(tools), len(tools)).Draw(rt, "policies")
		meant := rapid.SampledFrom(tools).Draw(rt, "meant")
		written := misspelled(rt, rapid.SampledFrom([]string{meant.WireName(), meant.textName(), meant.Name}).Draw(rt, "form"))

		// Characters that cannot be stored are removed from names first.
		exact := plaintext.Clean(written)

		b := newBench(t)
		b.tools.list, b.spec.Approvals.ExpiresAfter = tools, time.Hour

		for i, tool := range tools {
			b.spec.Approvals.Rules = append(b.spec.Approvals.Rules,
				ApprovalRule{Name: fmt.Sprint(i), Server: tool.Server, Tool: tool.Name, Policy: policies[i]})
		}

		b.answers(script.Reply{ToolCalls: []llm.ToolCall{{ID: "1", Name: written, Arguments: "{}"}}}, script.Reply{Text: "done"})
		err := b.run(t.Context())

		var possible []int

		for i, tool := range tools {
			if exact == tool.WireName() || exact == tool.textName() {
				possible = append(possible, i)
			}
		}

		record := b.ledger.state.MCPInteractions[0]
		called := slices.DeleteFunc(slices.Clone(b.tools.calls), func(call Call) bool { return call.Server == "" && call.Tool == "" })

		if len(possible) != 1 {
			require.NoError(rt, err)
			require.Empty(rt, called, "a name that means no tool, or several, calls nothing")
			require.Nil(rt, record.Approval, "nobody is asked about a tool that is not there")

			return
		}

		tool, policy := tools[possible[0]], policies[possible[0]]
		require.Equal(rt, [2]string{tool.Server, tool.Name}, [2]string{record.ServerName, record.ToolName})

		switch policy {
		case PolicyNever:
			require.Empty(rt, called)
		case PolicyAsk:
			require.ErrorIs(rt, err, ErrWaiting)
			require.Empty(rt, called)
			require.Equal(rt, tarsy.CallWaiting, record.Status)
		case PolicyAlways:
			require.Len(rt, called, 1)
			require.Equal(rt, [2]string{tool.Server, tool.Name}, [2]string{called[0].Server, called[0].Tool})
		}
	})
}

// The list of a server may change between a person's decision and the call.
func TestApprovedCallIsNotMadeWithAnotherTool(t *testing.T) {
	t.Parallel()

	b := newBench(t)
	b.tools.list = []Tool{{Server: "a", Name: "_b"}}
	b.spec.Approvals = Approvals{Rules: []ApprovalRule{{Name: "rule", Server: "a", Policy: PolicyAsk}}, ExpiresAfter: time.Hour}
	b.answers(script.Reply{ToolCalls: []llm.ToolCall{{ID: "1", Name: "a___b", Arguments: "{}"}}}, script.Reply{Text: "done"})
	err := b.run(t.Context())
	require.ErrorIs(t, err, ErrWaiting)

	b.ledger.state.MCPInteractions[0].Approval.Status = tarsy.ApprovalApproved
	b.tools.list = []Tool{{Server: "a_", Name: "b"}}
	b.finish()

	for _, call := range b.tools.calls {
		require.Empty(t, call.Server+call.Tool)
	}
}

// A refusal suggests names. Suggesting a forbidden tool would be an invitation.
func TestToolThatIsNeverCalledIsNotSuggested(t *testing.T) {
	t.Parallel()

	b := newBench(t)
	b.spec.Approvals = Approvals{Rules: []ApprovalRule{{Server: "box", Tool: "change", Policy: PolicyNever}}}
	b.answers(script.Reply{ToolCalls: []llm.ToolCall{toolCall("1", "chang", `{}`), toolCall("2", "look", `{}`)}}, script.Reply{Text: "done"})
	b.finish()

	require.Equal(t, []string{"box__look", "box__broken"}, b.tools.calls[0].Shown)
	require.Empty(t, b.tools.calls[1].Shown, "it means a tool")
}
