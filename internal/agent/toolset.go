package agent

import (
	"context"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"strings"

	"tarsy.dev/tarsy/internal/agent/quote"
	"tarsy.dev/tarsy/internal/plaintext"
)

// toolset holds the open tools of one execution. The zero value has none.
type toolset struct {
	open Tools
	// all are the tools of the servers, and list are those that the model sees.
	all   []Tool
	list  []Tool
	names []string
}

// load lists the tools, which may have changed since the last time. Forbidden tools are not shown to the model, but their names still
// resolve.
func (s *toolset) load(ctx context.Context, approvals Approvals) error {
	all, err := s.open.List(ctx)
	if err != nil {
		return err
	}

	s.all, s.names = all, nil
	s.list = slices.DeleteFunc(slices.Clone(s.all), func(t Tool) bool { return approvals.forbids(t.Server, t.Name) })
	for _, t := range s.list {
		s.names = append(s.names, plaintext.Clean(t.WireName()))
	}

	return nil
}

// shown returns the names of the tools that the model sees.
func (s *toolset) shown() []string {
	names := make([]string, len(s.list))
	for i, t := range s.list {
		names[i] = t.WireName()
	}

	return names
}

func (s *toolset) close(logger *slog.Logger, executionID string) {
	if s.open == nil {
		return
	}

	if err := s.open.Close(); err != nil {
		logger.Warn("could not close tools", "execution_id", executionID, "error", err)
	}
}

// unavailableText describes which servers could not be reached, which tools are missing and what that means for the agent. It is empty
// if nothing is missing.
func (s *toolset) unavailableText() string {
	if s.open == nil {
		return ""
	}

	var parts []string

	consequence := "Their tools are not available."
	if len(s.list) == 0 {
		consequence = "No tools are available."
	}

	if lines := reasonLines(s.open.Unavailable()); lines != "" {
		parts = append(parts, "These MCP servers could not be reached. "+consequence+lines)
	}

	consequence = ""
	if len(s.list) == 0 {
		consequence = " No tools are available."
	}

	if lines := reasonLines(s.open.Missing()); lines != "" {
		parts = append(parts, "Some tools of these MCP servers are missing."+consequence+lines)
	}

	return strings.Join(parts, "\n\n")
}

// reasonLines formats servers with their reasons, in a stable order.
func reasonLines(reasons map[string]string) string {
	if len(reasons) == 0 {
		return ""
	}

	var lines strings.Builder

	lines.WriteString("\n")

	for _, server := range slices.Sorted(maps.Keys(reasons)) {
		fmt.Fprintf(&lines, "\n- %s: %s", server, quote.OneLine(reasons[server]))
	}

	return lines.String()
}
