package cluster_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"
	"unicode/utf8"

	mcpsdk "github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"tarsy.dev/tarsy/internal/kit/demo/cluster"
)

// roleVariable makes the test binary run the server on its standard streams, as the hidden command does.
const roleVariable = "TARSY_CLUSTER_TEST_ROLE"

func TestMain(m *testing.M) {
	if os.Getenv(roleVariable) != "" {
		if err := cluster.Serve(context.Background(), &mcpsdk.StdioTransport{}); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	goleak.VerifyTestMain(m)
}

func connect(t *testing.T) *mcpsdk.ClientSession {
	t.Helper()
	ours, theirs := mcpsdk.NewInMemoryTransports()
	_, err := cluster.NewServer().Connect(t.Context(), theirs, nil)
	require.NoError(t, err)

	return session(t, ours)
}

func session(t *testing.T, transport mcpsdk.Transport) *mcpsdk.ClientSession {
	t.Helper()
	client := mcpsdk.NewClient(&mcpsdk.Implementation{Name: "test"}, nil)
	session, err := client.Connect(t.Context(), transport, nil)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, session.Close()) })

	return session
}

func call(t *testing.T, session *mcpsdk.ClientSession, tool, arguments string) (string, bool) {
	t.Helper()
	result, err := session.CallTool(t.Context(), &mcpsdk.CallToolParams{Name: tool, Arguments: json.RawMessage(arguments)})
	require.NoError(t, err, "%s %s", tool, arguments)
	require.Len(t, result.Content, 1)
	content, ok := result.Content[0].(*mcpsdk.TextContent)
	require.True(t, ok)

	return content.Text, result.IsError
}

// Each story's evidence, and the tool call that finds it.
func TestEveryStoryCanBeDiagnosed(t *testing.T) {
	t.Parallel()
	s := connect(t)
	for _, c := range []struct{ tool, arguments, want string }{
		{"list_namespaces", `{}`, "reporting"},
		{"get_pods", `{}`, "CrashLoopBackOff"},

		{"get_pods", `{"namespace":"shop"}`, "OOMKilled"},
		{"describe_pod", `{"namespace":"shop","name":"checkout-6f7d9c8b54-k2x7p"}`, "Exit Code:    137"},
		{"get_pod_logs", `{"namespace":"shop","name":"checkout-6f7d9c8b54-k2x7p"}`, "price cache has no limit"},
		{"get_pod_logs", `{"namespace":"shop","name":"checkout-6f7d9c8b54-k2x7p","previous":true}`, "pause_ms=1730"},
		{"get_events", `{"namespace":"shop","involved_object":"checkout"}`, "Back-off restarting"},
		{"get_events", `{"namespace":"shop"}`, "Memory cgroup out of memory"},
		{"get_deployment", `{"namespace":"shop","name":"checkout"}`, "release v2.31.0: in-process price cache"},
		{"get_configmap", `{"namespace":"shop","name":"checkout-config"}`, "PRICE_CACHE_MAX_ENTRIES:  0"},
		{"get_metrics", `{"namespace":"shop","workload":"checkout","metric":"memory"}`, "rollout of v2.31.0 at 18:06"},

		{"describe_pod", `{"namespace":"payments","name":"payments-api-5b8f6d7c9-hx2rv"}`, "CrashLoopBackOff"},
		{"get_pod_logs", `{"namespace":"payments","name":"payments-api-5b8f6d7c9-hx2rv"}`, "payments-db.paymnets.svc"},
		{"get_pod_logs", `{"namespace":"payments","name":"payments-api-5b8f6d7c9-hx2rv","previous":true}`, "no such host"},
		{"get_pod_logs", `{"namespace":"payments","name":"payments-api-74c6f9d5b8-2kq8s"}`, "payments-db.payments.svc"},
		{"get_events", `{"namespace":"payments"}`, "pipeline 8841"},
		{"get_deployment", `{"namespace":"payments","name":"payments-api"}`, "ProgressDeadlineExceeded"},
		{"get_configmap", `{"namespace":"payments","name":"payments-api-config"}`, "payments-db.paymnets.svc"},
		{"get_metrics", `{"namespace":"payments","workload":"payments-api","metric":"cpu"}`, "one pod fewer"},

		{"get_certificate", `{"namespace":"shop","name":"ingress-tls"}`, "2026-03-18T21:42:00Z   (in 36h)"},
		{"get_certificate", `{"namespace":"shop","name":"ingress-tls"}`, "ingressClassName: nginx-old"},
		{"get_events", `{"namespace":"shop","involved_object":"challenge/"}`, "wrong status code '404'"},
		{"get_events", `{"namespace":"ingress-nginx"}`, "retire class nginx-old"},
		{"get_pod_logs", `{"namespace":"cert-manager","name":"cert-manager-58d9c7b6f4-9rw2x"}`, "order is invalid"},
		{"get_pod_logs", `{"namespace":"ingress-nginx","name":"ingress-nginx-controller-78b9c6d5f-5nmhx"}`, "nginx-old"},

		{"get_job", `{"namespace":"reporting","name":"batch-reports-29561880"}`, "CompletionsReached"},
		{"get_pods", `{"namespace":"reporting"}`, "Completed"},
		{"describe_pod", `{"namespace":"reporting","name":"batch-reports-29561880-7xk2d"}`, "Exit Code:    0"},
		{"get_pod_logs", `{"namespace":"reporting","name":"batch-reports-29561880-7xk2d"}`, "failed=0"},
		{"get_metrics", `{"namespace":"reporting","workload":"batch-reports","metric":"cpu"}`, "same shape every night"},
		{"get_events", `{"namespace":"reporting"}`, "Job completed"},

		{"get_events", `{"namespace":"shop","involved_object":"catalog-search"}`, "pipeline 8836"},
		{"get_deployment", `{"namespace":"shop","name":"catalog-search"}`, "release v3.8.2"},
		{"get_configmap", `{"namespace":"shop","name":"catalog-search-config"}`, "REINDEX_WORKERS:          16"},
		{"get_secret", `{"namespace":"shop","name":"catalog-search-db"}`, `last-rotated: "2026-02-04T10:15:00Z"`},
		{"get_pod_logs", `{"namespace":"shop","name":"catalog-search-5d8c7f9b6d-x2n4k","tail_lines":20}`, "db pool exhausted"},
		{"get_pod_logs", `{"namespace":"shop","name":"catalog-db-0"}`, "as reindex"},
		{"get_metrics", `{"namespace":"shop","workload":"catalog-search","metric":"cpu"}`, "mostly wait"},
		{"get_metrics", `{"namespace":"shop","workload":"catalog-db","metric":"cpu"}`, "far from its limit"},

		{"get_pods", `{"namespace":"media"}`, "Pending"},
		{"get_events", `{"namespace":"media"}`, "untolerated taint {node.kubernetes.io/unreachable: }"},
		{"get_events", `{"namespace":"default","involved_object":"node/node-f"}`, "no space left on device"},
		{"describe_pod", `{"namespace":"media","name":"image-resizer-7b9c5d6f84-2lqfx"}`, "Node-Selectors:   pool=media"},
		{"describe_node", `{"name":"node-f"}`, "Kubelet stopped posting node status."},
		{"describe_node", `{"name":"node-f"}`, "media/thumbnailer-5f6b8c9d74-n3v8r  Terminating"},
		{"describe_node", `{"name":"node-b"}`, "kubelet is posting ready status"},
		{"get_deployment", `{"namespace":"media","name":"image-resizer"}`, "keep originals on disk for retries"},

		{"rollout_restart", `{"namespace":"shop","name":"checkout"}`, "nothing was changed"},
		{"describe_pod", `{"namespace":"kube-system","name":"coredns-6799fbcd5-8xw4j"}`, "Deployment/coredns"},
		{"get_deployment", `{"namespace":"kube-system","name":"coredns"}`, "2 desired | 2 updated"},
		{"get_metrics", `{"namespace":"kube-system","workload":"coredns","metric":"memory"}`, "No remarkable change"},
	} {
		text, failed := call(t, s, c.tool, c.arguments)
		require.False(t, failed, "%s %s: %s", c.tool, c.arguments, text)
		require.Contains(t, text, c.want, "%s %s", c.tool, c.arguments)
		require.True(t, utf8.ValidString(text))
		require.NotContains(t, text, "{{", "%s %s: every placeholder is filled", c.tool, c.arguments)
		lines := strings.Count(strings.TrimSpace(text), "\n") + 1
		require.Less(t, lines, 60, "%s %s", c.tool, c.arguments)
		again, _ := call(t, s, c.tool, c.arguments)
		require.Equal(t, text, again, "the cluster stands still")
	}
}

func TestEveryListedPodCanBeDescribed(t *testing.T) {
	t.Parallel()
	s := connect(t)
	table, _ := call(t, s, "get_pods", `{}`)
	rows := strings.Split(strings.TrimSpace(table), "\n")[1:]
	require.Len(t, rows, 40)
	for _, row := range rows {
		fields := strings.Fields(row)
		arguments := fmt.Sprintf(`{"namespace":%q,"name":%q}`, fields[0], fields[1])
		described, failed := call(t, s, "describe_pod", arguments)
		require.False(t, failed, row)
		require.Contains(t, described, fields[1])
		require.NotContains(t, described, "{{")
		log, failed := call(t, s, "get_pod_logs", arguments)
		require.Equal(t, fields[3] == "Pending" || fields[3] == "Terminating", failed, row)
		require.NotEmpty(t, log)
	}
}

func TestLogsCanBeLimitedToTail(t *testing.T) {
	t.Parallel()
	s := connect(t)
	text, failed := call(t, s, "get_pod_logs", `{"namespace":"payments","name":"payments-api-5b8f6d7c9-hx2rv","tail_lines":2}`)
	require.False(t, failed)
	require.Equal(t, 1, strings.Count(text, "\n"))
	require.True(t, strings.HasSuffix(text, "FATAL startup failed exit_code=1"))
}

func TestOneLogIsLongAndContainsSecrets(t *testing.T) {
	t.Parallel()
	s := connect(t)
	text, failed := call(t, s, "get_pod_logs", `{"namespace":"shop","name":"catalog-search-5d8c7f9b6d-x2n4k"}`)
	require.False(t, failed)
	require.Greater(t, strings.Count(text, "\n"), 200)
	require.Contains(t, text, "authorization=\"Bearer ey")
	require.Contains(t, text, "postgres://search:")
	require.Contains(t, text, "reindex started full=true items=1840000 workers=16 pool_size=20")
}

func TestUnknownNamesFailLikeKubectl(t *testing.T) {
	t.Parallel()
	s := connect(t)
	for _, c := range []struct{ tool, arguments, want string }{
		{"get_pods", `{"namespace":"nope"}`, `Error from server (NotFound): namespaces "nope" not found`},
		{"get_events", `{"namespace":"NAME"}`, `Error from server (NotFound): namespaces "NAME" not found`},
		{"describe_pod", `{"namespace":"shop","name":"x"}`, `Error from server (NotFound): pods "x" not found`},
		{"describe_pod", `{"namespace":"nope","name":"x"}`, `Error from server (NotFound): namespaces "nope" not found`},
		{"get_pod_logs", `{"namespace":"shop","name":"x"}`, `Error from server (NotFound): pods "x" not found`},
		{"get_pod_logs", `{"namespace":"shop","name":"cart-redis-0","previous":true}`, `previous terminated container "cart-redis"`},
		{"get_pod_logs", `{"namespace":"media","name":"media-api-6c8d9f7b5c-7tjkg"}`, `does not have a host assigned`},
		{"get_pod_logs", `{"namespace":"media","name":"media-api-6c8d9f7b5c-4hx9t"}`, `https://node-f:10250/containerLogs/media/`},
		{"describe_node", `{"name":"node-x"}`, `Error from server (NotFound): nodes "node-x" not found`},
		{"get_deployment", `{"namespace":"shop","name":"x"}`, `Error from server (NotFound): deployments.apps "x" not found`},
		{"get_configmap", `{"namespace":"shop","name":"../../pods"}`, `Error from server (NotFound): configmaps "../../pods" not found`},
		{"get_certificate", `{"namespace":"payments","name":"ingress-tls"}`, `certificates.cert-manager.io "ingress-tls" not found`},
		{"get_secret", `{"namespace":"shop","name":"x"}`, `Error from server (NotFound): secrets "x" not found`},
		{"get_job", `{"namespace":"reporting","name":"batch-reports"}`, `Error from server (NotFound): jobs.batch "batch-reports" not found`},
		{"get_metrics", `{"namespace":"shop","workload":"x","metric":"cpu"}`, `Error from server (NotFound): workloads "x" not found`},
		{"get_metrics", `{"namespace":"shop","workload":"checkout","metric":"disk"}`, `not one of: cpu, memory`},
		{"rollout_restart", `{"namespace":"shop","name":"cart-redis"}`, `deployments.apps "cart-redis" not found`},
	} {
		text, failed := call(t, s, c.tool, c.arguments)
		require.True(t, failed, "%s %s", c.tool, c.arguments)
		require.Contains(t, text, c.want)
	}
}

func TestOnlyRolloutRestartWrites(t *testing.T) {
	t.Parallel()
	s := connect(t)
	require.Equal(t, cluster.Instructions, s.InitializeResult().Instructions)
	listed, err := s.ListTools(t.Context(), nil)
	require.NoError(t, err)
	require.Len(t, listed.Tools, 13)
	for _, tool := range listed.Tools {
		require.Greater(t, len(tool.Description), 40, tool.Name)
		schema, ok := tool.InputSchema.(map[string]any)
		require.True(t, ok, tool.Name)
		require.Equal(t, "object", schema["type"])
		reads := tool.Annotations != nil && tool.Annotations.ReadOnlyHint
		require.Equal(t, tool.Name != "rollout_restart", reads, tool.Name)
	}
}

func TestServerWorksAsSubprocess(t *testing.T) {
	t.Parallel()
	binary, err := os.Executable()
	require.NoError(t, err)
	command := exec.Command(binary)
	command.Env = append(os.Environ(), roleVariable+"=1")
	s := session(t, &mcpsdk.CommandTransport{Command: command})
	text, failed := call(t, s, "get_pods", `{"namespace":"payments"}`)
	require.False(t, failed)
	require.Contains(t, text, "CrashLoopBackOff")
}
