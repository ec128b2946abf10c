package cluster

import (
	"context"
	"fmt"

	mcpsdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// Now is the moment at which the cluster is frozen.
const Now = "2026-03-17T09:42:00Z"

// Instructions tell agents how to use the server.
const Instructions = `This server shows one Kubernetes cluster, as it stood at ` + Now + `.
- Start with an overview (get_pods, get_events of the namespace in the alert), then look at the one object that stands out.
- A container that restarted keeps the log of its last run: get_pod_logs with previous=true.
- Compare what changed and when: get_deployment shows the rollout history, get_configmap the last change, get_metrics a trend.
- Name the evidence for each conclusion. If everything works as configured, say that the alert was false.
- All tools only read, except rollout_restart: propose it, and do not call it unless you were asked to.`

// NewServer creates the MCP server. It is stateless: rollout_restart changes nothing either.
func NewServer() *mcpsdk.Server {
	server := mcpsdk.NewServer(
		&mcpsdk.Implementation{Name: "demo-cluster", Title: "Simulated Kubernetes cluster", Version: "1"},
		&mcpsdk.ServerOptions{Instructions: Instructions},
	)
	reads(server, "list_namespaces", "List the namespaces of the cluster with their labels.", listNamespaces)
	reads(server, "get_pods", "List pods with readiness, status, restarts, age, IP and node, like kubectl get pods -o wide. "+
		"Leave out namespace to see all.", getPods)
	reads(server, "describe_pod", "Describe one pod: containers with state, last state and exit code, limits, conditions and events, "+
		"like kubectl describe pod.", describePod)
	reads(server, "describe_node", "Describe one node: labels, taints, conditions, capacity, its pods and events, like kubectl describe node.",
		describeNode)
	reads(server, "get_pod_logs", "Read the log of a pod's container. previous=true reads the run before the last restart; "+
		"tail_lines limits the answer to the last lines.", getPodLogs)
	reads(server, "get_events", "List the events of a namespace, newest first, like kubectl get events. "+
		"involved_object narrows them to objects whose kind/name contains the text.", getEvents)
	reads(server, "get_deployment", "Describe one deployment: images, limits, conditions and its rollout history with change causes.",
		getDeployment)
	reads(server, "get_configmap", "Show the data of one ConfigMap and who changed it last.", getConfigMap)
	reads(server, "get_secret", "Show one Secret as YAML, with its annotations and the data as it is stored, like kubectl get secret -o yaml.",
		getSecret)
	reads(server, "get_metrics", "Show how much CPU (cores) or memory (MiB) a workload used over time, per pod at the peak, "+
		"as a sparkline and a table.", getMetrics)
	reads(server, "get_certificate", "Describe one cert-manager Certificate: validity, renewal, and the state of its order and challenge.",
		getCertificate)
	reads(server, "get_job", "Describe one Job: start, completion, result, and the CronJob it belongs to.", getJob)
	add(server, &mcpsdk.Tool{
		Name: "rollout_restart",
		Description: "Restart the pods of one deployment, one after another, like kubectl rollout restart. " +
			"In this simulated cluster it says what it would do.",
	}, rolloutRestart)

	return server
}

// Serve serves one client over transport until the client disconnects or ctx ends.
func Serve(ctx context.Context, transport mcpsdk.Transport) error {
	if err := NewServer().Run(ctx, transport); err != nil && ctx.Err() == nil {
		return fmt.Errorf("serve demo cluster: %w", err)
	}

	return nil
}

// reads adds a read-only tool.
func reads[In any](server *mcpsdk.Server, name, description string, answer func(In) (string, error)) {
	add(server, &mcpsdk.Tool{
		Name:        name,
		Description: description,
		Annotations: &mcpsdk.ToolAnnotations{ReadOnlyHint: true, IdempotentHint: true},
	}, answer)
}

// add adds a tool. The SDK turns an error of answer into content with isError.
func add[In any](server *mcpsdk.Server, tool *mcpsdk.Tool, answer func(In) (string, error)) {
	mcpsdk.AddTool(server, tool, func(_ context.Context, _ *mcpsdk.CallToolRequest, in In) (*mcpsdk.CallToolResult, any, error) {
		text, err := answer(in)
		if err != nil {
			return nil, nil, err
		}

		return &mcpsdk.CallToolResult{Content: []mcpsdk.Content{&mcpsdk.TextContent{Text: text}}}, nil, nil
	})
}
