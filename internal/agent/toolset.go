package agent

import (
	"context"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"strings"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/agent/quote"
)

// toolset is the tools that one execution has opened. The zero value has none.
type toolset struct {
	open  Tools
	list  []Tool
	names []string
}

// load lists the tools. Those that are never called are not shown to the model.
func (s *toolset) load(ctx context.Context, approvals Approvals) error {
	list, err := s.open.List(ctx)
	if err != nil {
		return err
	}

	s.list = slices.DeleteFunc(list, func(t Tool) bool { return approvals.forbids(t.Server, t.Name) })
	for _, t := range s.list {
		s.names = append(s.names, tarsy.CleanText(t.WireName()))
	}

	return nil
}

func (s *toolset) close(logger *slog.Logger, executionID string) {
	if s.open == nil {
		return
	}

	if err := s.open.Close(); err != nil {
		logger.Warn("could not close tools", "execution_id", executionID, "error", err)
	}
}

// unavailableText tells which servers could not be reached, which tools are missing and what that means for the agent. It is
// empty if everything is there.
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

// reasonLines is a list of servers with their reasons, in a stable order.
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

// lookUp finds the tool that a model means, for people and for what may be repeated; routing is the tools' own
// affair. Should a name mean several tools, the call reads only if all of them do.
func (s *toolset) lookUp(written string) (server, name string, readOnly bool) {
	server, name = splitName(written)
	found := false

	for _, t := range s.list {
		if written != t.WireName() && written != t.textName() {
			continue
		}

		if !found {
			server, name, readOnly, found = tarsy.CleanText(t.Server), tarsy.CleanText(t.Name), t.ReadOnly, true
		}

		readOnly = readOnly && t.ReadOnly
	}

	return server, name, readOnly
}
