package chain

import (
	"fmt"
	"strings"
)

// Prefixes for the needs of a session and the features of a server.
const (
	chainPrefix    = "chain:"
	serverPrefix   = "mcp:"
	providerPrefix = "llm:"
	featurePrefix  = "feature:"
	// needToolRules keeps sessions whose agents have tool rules away from releases that do not support such rules.
	needToolRules = featurePrefix + "tool-rules"
)

// NeedChain is the need of a session without a recipe, which an earlier release stored.
func NeedChain(id string) string { return chainPrefix + id }

func needServer(id string) string { return serverPrefix + id }

func needProvider(name string) string { return providerPrefix + name }

// DescribeNeeds describes needs for people.
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
