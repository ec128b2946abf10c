package llm_test

import (
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"tarsy.dev/tarsy/llm"
)

var wireForm = regexp.MustCompile(`^[a-zA-Z_][a-zA-Z0-9_-]{0,63}$`)

// names generates tool names chosen without regard to providers.
func names() *rapid.Generator[string] {
	return rapid.OneOf(
		rapid.StringMatching(`[a-z]{1,10}(__|\.|/)[a-z_-]{1,80}`),
		rapid.StringMatching(`[a-zA-Z_][a-zA-Z0-9_-]{0,63}`),
		rapid.String(),
		rapid.Map(rapid.SliceOf(rapid.Byte()), func(b []byte) string { return string(b) }),
		// Long names that differ only at the end.
		rapid.Map(rapid.StringMatching(`[ab]{0,3}`), func(s string) string { return strings.Repeat("x", 64) + s }),
	)
}

func TestEveryToolHasAcceptedNameAndRoundTrips(t *testing.T) {
	t.Parallel()

	rapid.Check(t, func(t *rapid.T) {
		var req llm.Request
		for _, name := range rapid.SliceOf(names()).Draw(t, "names") {
			req.Tools = append(req.Tools, llm.Tool{Name: name})
		}

		mapped := llm.NewToolNames(&req)
		given := map[string]string{}

		for _, tool := range req.Tools {
			wire := mapped.Wire(tool.Name)
			if !wireForm.MatchString(wire) {
				t.Fatalf("%q became %q, which providers refuse", tool.Name, wire)
			}

			if other, ok := given[wire]; ok && other != tool.Name {
				t.Fatalf("%q and %q both became %q", other, tool.Name, wire)
			}

			given[wire] = tool.Name

			if back := mapped.Name(wire); back != tool.Name {
				t.Fatalf("%q became %q and came back as %q", tool.Name, wire, back)
			}
		}
	})
}

func TestAcceptedNameIsUnchanged(t *testing.T) {
	t.Parallel()

	rapid.Check(t, func(t *rapid.T) {
		name := rapid.StringMatching(`[a-zA-Z_][a-zA-Z0-9_-]{0,63}`).Draw(t, "name")
		if wire := llm.NewToolNames(&llm.Request{Tools: []llm.Tool{{Name: name}}}).Wire(name); wire != name {
			t.Fatalf("%q became %q", name, wire)
		}
	})
}

func TestToolNamedLikeMappedNameIsDistinguished(t *testing.T) {
	t.Parallel()

	alone := llm.NewToolNames(&llm.Request{Tools: []llm.Tool{{Name: "shop.pay"}}})
	twin := alone.Wire("shop.pay")

	for _, order := range [][]string{{"shop.pay", twin}, {twin, "shop.pay"}} {
		mapped := llm.NewToolNames(&llm.Request{Tools: []llm.Tool{{Name: order[0]}, {Name: order[1]}}})
		require.NotEqual(t, mapped.Wire(order[0]), mapped.Wire(order[1]))

		for _, name := range order {
			require.Regexp(t, wireForm, mapped.Wire(name))
			require.Equal(t, name, mapped.Name(mapped.Wire(name)))
		}
	}
}

func TestConversationNamesAreAlsoMapped(t *testing.T) {
	t.Parallel()

	mapped := llm.NewToolNames(&llm.Request{Messages: []llm.Message{
		{Role: llm.RoleAssistant, ToolCalls: []llm.ToolCall{{Name: "a.b"}}}, {Role: llm.RoleTool, ToolName: "c.d"},
	}})
	require.Equal(t, "a.b", mapped.Name(mapped.Wire("a.b")))
	require.Equal(t, "c.d", mapped.Name(mapped.Wire("c.d")))
	require.Regexp(t, wireForm, mapped.Wire("never.seen"))
	require.Equal(t, "invented", mapped.Name("invented"), "a name that was never given stays what it is")
}

func TestToolKeepsItsNameThroughoutConversation(t *testing.T) {
	t.Parallel()

	first := llm.NewToolNames(&llm.Request{Tools: []llm.Tool{{Name: "a.b"}}})
	second := llm.NewToolNames(&llm.Request{Tools: []llm.Tool{{Name: "z.z"}, {Name: "a.b"}}})
	require.Equal(t, first.Wire("a.b"), second.Wire("a.b"))
}
