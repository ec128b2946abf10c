package engine

import (
	"testing"

	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy"
)

func TestSelectionOfRemovedServerFailsExecution(t *testing.T) {
	t.Parallel()

	h := newFixture(t)
	h.noRecipes = true
	s := h.start("one", nil)
	session, err := s.intake.Submit(h.ctx, tarsy.Alert{
		AlertType: "test", Data: "it hurts", MCPSelection: &tarsy.MCPSelection{Servers: []tarsy.MCPServerSelection{{Name: "gone"}}},
	})
	require.NoError(t, err)
	s.ended(session.ID)

	detail := s.detail(session.ID)
	require.Equal(t, tarsy.SessionFailed, detail.Status)
	require.Equal(t, "unknown_mcp_server", detail.ErrorCode)
	require.Equal(t, "unknown_mcp_server", detail.Stages[0].Executions[0].ErrorCode)
	require.Contains(t, detail.ErrorMessage, `MCP server "gone" is not configured`)
	require.Zero(t, h.tools.opens)
	require.Empty(t, h.model.Calls())
	h.requireWhole(session.ID)
}
