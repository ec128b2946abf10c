package cli

import (
	"context"
	"fmt"
	"os/exec"
	"strings"
	"time"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/agent"
	"tarsy.dev/tarsy/internal/app"
	"tarsy.dev/tarsy/internal/cli/terminal"
	"tarsy.dev/tarsy/internal/config"
	"tarsy.dev/tarsy/internal/mcp"
)

const (
	// mcpProgressAfter is the delay after which servers that have not answered are named.
	mcpProgressAfter = 2 * time.Second
	// mcpCheckID replaces the execution id in headers and in the clean-up address.
	mcpCheckID = "tarsy-doctor"
)

// checkMCPServers connects concurrently to the servers that chains use, the way a server does. The limits of
// internal/mcp bound its duration.
func (f *serverFlags) checkMCPServers(ctx context.Context, cfg *config.Config, used []string) []finding {
	factory, err := app.NewMCPFactory(app.Options{Config: cfg, Env: f.lookup, DatabaseURL: f.databaseURL})
	if err != nil {
		return []finding{{"MCP servers", findingFail, line(err), "see tarsy config check"}}
	}

	type answer struct {
		index   int
		finding finding
	}

	answers := make(chan answer, len(used))
	findings := make([]finding, len(used))
	waiting := make(map[int]bool, len(used))

	for i, id := range used {
		waiting[i] = true

		go func() { answers <- answer{i, checkMCPServer(ctx, factory, cfg, id)} }()
	}

	progress := time.NewTimer(mcpProgressAfter)
	defer progress.Stop()

	for len(waiting) > 0 {
		select {
		case a := <-answers:
			findings[a.index] = a.finding
			delete(waiting, a.index)
		case <-progress.C:
			for i, id := range used {
				if waiting[i] {
					f.infof("waiting for MCP server %s…", id)
				}
			}
		}
	}

	return findings
}

// checkMCPServer connects to one server and lists its tools.
func checkMCPServer(ctx context.Context, factory *mcp.Factory, cfg *config.Config, id string) finding {
	check, transport := "MCP server "+id, cfg.MCPServers[id].Transport

	bad := findingWarn
	if cfg.System.MCPStartup == config.MCPStartupStrict {
		bad = findingFail
	}

	if transport.Type == config.TransportStdio {
		if _, err := exec.LookPath(transport.Command); err != nil {
			return finding{check, bad, transport.Command + " is not in PATH", programAdvice(id, transport.Command)}
		}
	}

	tools, err := factory.Open(ctx, mcpCheckID, []tarsy.MCPServerSelection{{Name: id}}, nil)
	if err != nil {
		return finding{check, bad, line(err), ""}
	}

	listed, err := tools.List(ctx)
	reason := tools.Unavailable()[id]
	closeErr := tools.Close()

	switch {
	case reason != "":
		return finding{check, bad, reason, mcpAdvice(id, transport.Type, reason)}
	case err != nil:
		return finding{check, bad, line(err), ""}
	case closeErr != nil:
		return finding{check, findingWarn, line(closeErr), "the server does not stop on request"}
	case len(listed) == 0:
		return finding{check, findingWarn, transport.Type + ", no tools", "agents cannot use a server without tools; check its configuration"}
	}

	found := fmt.Sprintf("%s, %d tools", transport.Type, len(listed))
	if len(listed) == 1 {
		found = transport.Type + ", 1 tool"
	}

	if names := undecided(cfg, listed); len(names) > 0 {
		return finding{
			check, findingWarn, found + "; may change something and need no approval: " + terminal.Line(strings.Join(names, ", ")),
			"list those that change something in mcp_servers." + id + ".writing_tools, and give the others a rule in approvals.rules with policy: always",
		}
	}

	return finding{check, findingOK, found, ""}
}

// maxUndecided limits how many tools are named.
const maxUndecided = 10

// undecided returns the tools that their server does not mark as read-only and that no approval setting mentions.
func undecided(cfg *config.Config, listed []agent.Tool) []string {
	var names []string

	for _, tool := range listed {
		if !tool.ReadOnly && !cfg.DecidesAbout(tool.Server, tool.Name) {
			names = append(names, tool.Name)
		}
	}

	if more := len(names) - maxUndecided; more > 0 {
		names = append(names[:maxUndecided], fmt.Sprintf("and %d more", more))
	}

	return names
}

func programAdvice(id, command string) string {
	if command == "npx" || command == "node" {
		return "install Node.js, which includes " + command
	}

	return "install " + command + ", or change mcp_servers." + id + ".transport.command"
}

// mcpAdvice returns advice for the reason that a server gave. The first matching sign wins.
func mcpAdvice(id, transportType, reason string) string {
	setting := "mcp_servers." + id + ".transport"
	lower := strings.ToLower(reason)

	for _, known := range []struct{ sign, advice string }{
		{"current-context", "set KUBECONFIG, or choose a cluster with kubectl config use-context"},
		{"kubeconfig", "set KUBECONFIG to a readable file"},
		{"unauthorized", "check " + setting + ".bearer_token and .custom_headers"},
		{"forbidden", "check " + setting + ".bearer_token and .custom_headers"},
		{"certificate", "add the certificate's issuer to SSL_CERT_FILE, or set " + setting + ".verify_ssl: false"},
		{"not found", "check the path in " + setting + ".url"},
	} {
		if strings.Contains(lower, known.sign) && (known.sign != "not found" || transportType != config.TransportStdio) {
			return known.advice
		}
	}

	if transportType == config.TransportStdio {
		if strings.Contains(lower, "no session within") {
			return "run its command once in a terminal: the first start with npx or uvx downloads the program"
		}

		return "run its command in a terminal; variables that it needs belong in " + setting + ".env"
	}

	return "check " + setting + ".url, and that the server runs and this machine can reach it"
}
