package config

import (
	"reflect"

	"tarsy.dev/tarsy/internal/schema"
)

// The built-in MCP servers. Their versions are pinned, because an agent's capabilities must not change on their own.
const (
	kubernetesServer        = "kubernetes-server"
	kubernetesServerPackage = "kubernetes-mcp-server@0.0.67"

	prometheusServer        = "prometheus-server"
	prometheusServerPackage = "prometheus-mcp@1.1.3"

	// PrometheusVariable is the environment variable with the address of Prometheus. The server itself uses this name, but it is not among
	// the variables that every stdio server gets.
	PrometheusVariable = "PROMETHEUS_URL"
)

const kubernetesAgent = "KubernetesAgent"

func builtinServers(env func(string) (string, bool)) map[string]MCPServer {
	kubernetes := builtinServer(kubernetesServerPackage, "--read-only", "--disable-destructive")
	kubernetes.Instructions = "These tools read a Kubernetes cluster and change nothing. " +
		"Name the namespace whenever you know it; listing a whole cluster is slow and its answer long. " +
		"Ask for events and the last lines of a log before you ask for whole logs."

	prometheus := builtinServer(prometheusServerPackage, "stdio")
	prometheus.ReadOnly = true
	prometheus.Instructions = "These tools query Prometheus and change nothing. " +
		"Select series by labels and aggregate in PromQL; a query without labels returns too much. " +
		"For ranges, choose a step that returns at most about 60 points."
	if address, _ := env(PrometheusVariable); address != "" {
		prometheus.Transport.Env = map[string]Secret{PrometheusVariable: Secret(address)}
	}

	return map[string]MCPServer{kubernetesServer: kubernetes, prometheusServer: prometheus}
}

// builtinServer returns a server that is started with npx and whose long results are summarized.
func builtinServer(args ...string) MCPServer {
	var server MCPServer
	schema.ApplyDefaults(reflect.ValueOf(&server).Elem())
	server.Transport.Type = TransportStdio
	server.Transport.Command = "npx"
	server.Transport.Args = append([]string{"-y"}, args...)
	server.DataMasking = &DataMasking{Enabled: true}
	server.Summarization = &Summarization{}
	schema.ApplyDefaults(reflect.ValueOf(server.Summarization).Elem())
	return server
}

// addKubernetesAgent adds the agent of the built-in chain. It gets the Prometheus tools only if the address of Prometheus is set; without
// it, starting the server would be pointless.
func (c *Config) addKubernetesAgent(env func(string) (string, bool)) {
	if _, taken := c.Agents[kubernetesAgent]; taken {
		return
	}
	agent := Agent{
		Description: "Investigates alerts about Kubernetes clusters.",
		MCPServers:  []string{kubernetesServer},
		CustomInstructions: "You know Kubernetes well. Start from the object that the alert names, then look at its owner, its events, " +
			"its recent logs and the node it runs on. Tell what you have seen from what you conclude. " +
			"Name the cause, how sure you are, and the next command a person should run.",
	}
	if isSet(env, PrometheusVariable) {
		agent.MCPServers = append(agent.MCPServers, prometheusServer)
		c.marks[joinPath(joinPath("agents", kubernetesAgent), "mcp_servers")] = mark{origin: originEnv + PrometheusVariable}
	}
	c.Agents = under(c.Agents, map[string]Agent{kubernetesAgent: agent})
}
