package chain

import (
	"fmt"
	"strings"
)

// The names of what a session needs, and of what a server has configured.
const (
	chainPrefix    = "chain:"
	serverPrefix   = "mcp:"
	providerPrefix = "llm:"
	featurePrefix  = "feature:"
	// needToolRules keeps sessions whose agents have rules about tools away from releases that do not know such rules.
	needToolRules = featurePrefix + "tool-rules"
)

// NeedChain is what a session without a recipe needs: one that an earlier release stored.
func NeedChain(id string) string { return chainPrefix + id }

func needServer(id string) string { return serverPrefix + id }

func needProvider(name string) string { return providerPrefix + name }

// DescribeNeeds names needs for people.
func DescribeNeeds(needs []string) string {
	words := make([]string, len(needs))

	for i, need := range needs {
		words[i] = fmt.Sprintf("%q", need)

		for prefix, what := range map[string]string{chainPrefix: "chain", serverPrefix: "MCP server", providerPrefix: "LLM provider", featurePrefix: "feature"} {
			if name, ok := strings.CutPrefix(need, prefix); ok {
				words[i] = fmt.Sprintf("%s %q", what, name)
			}
		}
	}

	return strings.Join(words, " and ")
}
