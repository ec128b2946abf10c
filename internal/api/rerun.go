package api

import (
	"cmp"
	"context"
	"fmt"

	"tarsy.dev/tarsy"
)

// rerunRequest is the body of a re-run: the differences from the original session.
type rerunRequest struct {
	ChainID      string              `doc:"The chain; the default is the session's. The session's selection of tools is kept only with its own chain." json:"chain_id,omitempty"`
	LLMProvider  *string             `doc:"The LLM provider that every agent uses, instead of those of the chain. The default is the one requested for the session; empty for those of the chain." json:"llm_provider,omitempty"`
	MCPSelection *tarsy.MCPSelection `doc:"Limits which of the chain's MCP servers and tools the session uses; the default is the session's selection." json:"mcp_selection,omitempty"`
	// MCP is the name that alerts also accept for mcp_selection.
	MCP *tarsy.MCPSelection `doc:"Alias of mcp_selection; set only one of them." json:"mcp,omitempty"`
}

type rerunInput struct {
	ID  string         `doc:"The id of a session." path:"id"`
	Key idempotencyKey `doc:"A unique key of your choice. Repeating the request with the same key within 24 hours returns the session that the first one created." header:"Idempotency-Key" maxLength:"255"`
}

func (s *sessions) rerunSession(ctx context.Context, in *rerunInput) (*acceptedOutput, error) {
	who := callerOf(ctx)

	request, err := readRerun(who.body)
	if err != nil {
		return nil, err
	}

	if err := checkID(in.ID); err != nil {
		return nil, err
	}

	detail, err := s.store.SessionDetail(ctx, in.ID)
	if err != nil {
		return nil, fmt.Errorf("read the session to run again: %w", err)
	}

	alert := detail.Rerun(who.author)
	request.apply(&alert)

	alert.Idempotency, err = in.Key.identify(who, "rerun "+in.ID)
	if err != nil {
		return nil, err
	}

	session, err := s.intake.Submit(ctx, alert)
	if err != nil {
		return nil, fmt.Errorf("run session again: %w", err)
	}

	return s.public.accepted(session), nil
}

// readRerun parses the differences of a re-run; without a body there are none. Intake checks that what it names is configured.
func readRerun(body []byte) (rerunRequest, error) {
	if body == nil {
		return rerunRequest{}, nil
	}

	request, err := readRequest[rerunRequest](body)
	if err != nil {
		return request, err
	}

	return request, checkSelections(request.MCPSelection, request.MCP)
}

// apply changes the alert of the original session. Tools are selected from those of a chain, so another chain starts with all of its
// own.
func (r rerunRequest) apply(alert *tarsy.Alert) {
	if r.ChainID != "" {
		if r.ChainID != alert.ChainID {
			alert.MCPSelection = nil
		}

		alert.ChainID, alert.ChainRequired = r.ChainID, true
	}

	if r.LLMProvider != nil {
		alert.LLMProvider = *r.LLMProvider
	}

	alert.MCPSelection = cmp.Or(r.MCPSelection, r.MCP, alert.MCPSelection)
}
