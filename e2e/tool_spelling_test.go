package e2e

import (
	"testing"

	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/llm"
	"tarsy.dev/tarsy/llm/script"
	"tarsy.dev/tarsy/tarsytest"
)

// spellings are names that code reads as cluster__restart if it trims, folds or splits generously.
var spellings = []string{
	"cluster__restart ", " cluster__restart", "cluster__restart\t", "cluster__restart\n", "\ncluster.restart", "cluster__restart\u00a0", "\u3000cluster__restart",
	"cluster__restart\u200b", "\ufeffcluster__restart", "Cluster__Restart", "CLUSTER.RESTART", "cluster __restart", "cluster__ restart", "cluster___restart",
	"cluster/restart", "cluster:restart", "cluster..restart", "cluster.__restart", "restart", "cluster_\u200b_restart", "\uff43luster__restart", "cluster__\u202erestart",
	"functions.cluster__restart", "cluster__cluster__restart", "\"cluster__restart\"", "cluster__restart()",
}

// A tool that a person must approve, or that must never be called, cannot be called under another spelling of its name.
func TestNoSpellingOfToolNamePassesItsPolicy(t *testing.T) {
	t.Parallel()

	for _, policy := range []string{"ask", "never"} {
		t.Run(policy, func(t *testing.T) {
			t.Parallel()

			cluster := operator()
			app := tarsytest.New(t, tarsytest.Options{
				MCP:    []*tarsytest.MCPServer{cluster},
				Config: fixer + "approvals: {rules: [{server: cluster, tool: restart, policy: " + policy + "}]}\n",
			})

			var attempts []llm.ToolCall
			for _, name := range spellings {
				attempts = append(attempts, llm.ToolCall{Name: name, Arguments: "{}"})
			}

			app.Script.Add(script.Reply{ToolCalls: attempts}, calls("cluster__get_pods"), says("Nothing was restarted."), says("Done."))

			id := app.Submit("test", "restart it")
			app.WaitFor(id, tarsy.SessionCompleted)

			for _, made := range cluster.Calls() {
				require.Equal(t, "get_pods", made.Tool)
			}

			records := app.MCPInteractions(id)
			require.Len(t, records, len(spellings)+1)

			for i, record := range records[:len(spellings)] {
				require.Equal(t, tarsy.CallFailed, record.Status, "%q", spellings[i])
				require.Nil(t, record.Approval, "%q", spellings[i])
				require.Contains(t, record.ToolResult, "tool", "%q", spellings[i])
			}
		})
	}
}
