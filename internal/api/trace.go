package api

import (
	"context"
	"fmt"
	"net/http"

	"github.com/danielgtaylor/huma/v2"

	"tarsy.dev/tarsy"
)

// Traces is what the API shows of the inside of a session.
type Traces interface {
	Trace(ctx context.Context, sessionID string) (*tarsy.Trace, error)
	LLMInteraction(ctx context.Context, sessionID, id string) (*tarsy.LLMInteractionDetail, error)
	MCPInteraction(ctx context.Context, sessionID, id string) (*tarsy.MCPInteraction, error)
}

type interactionInput struct {
	ID            string `doc:"The id of a session."              path:"id"`
	InteractionID string `doc:"The id of one of its interactions." path:"interaction_id"`
}

type traceOutput struct{ Body tarsy.Trace }

type llmInteractionOutput struct{ Body tarsy.LLMInteractionDetail }

type mcpInteractionOutput struct{ Body tarsy.MCPInteraction }

func (s *Server) addTrace() {
	const trace = "/api/v1/sessions/{id}/trace"

	add(s, tarsy.ScopeRead, huma.Operation{
		OperationID: "get-trace", Method: http.MethodGet, Path: trace, Summary: "List a session's LLM and MCP calls",
		Description: "By stage and execution, with the tokens that they used. The texts are in the answers about each call.",
	}, nil, s.getTrace)

	add(s, tarsy.ScopeRead, huma.Operation{
		OperationID: "get-llm-interaction", Method: http.MethodGet, Path: trace + "/llm/{interaction_id}", Summary: "Show an LLM call in full",
		Description: "With the conversation as the model saw it, and what it answered.",
	}, nil, s.getLLMInteraction)

	add(s, tarsy.ScopeRead, huma.Operation{
		OperationID: "get-mcp-interaction", Method: http.MethodGet, Path: trace + "/mcp/{interaction_id}", Summary: "Show an MCP call in full",
	}, nil, s.getMCPInteraction)

	detail := s.huma.OpenAPI().Components.Schemas.Map()["LLMInteractionDetail"]
	detail.Properties["response"] = &huma.Schema{AnyOf: []*huma.Schema{detail.Properties["response"], {Type: "null"}}}
}

func (s *Server) getTrace(ctx context.Context, in *sessionInput) (*traceOutput, error) {
	err := in.check()
	if err != nil {
		return nil, err
	}

	trace, err := s.store.Trace(ctx, in.ID)
	if err != nil {
		return nil, fmt.Errorf("show trace: %w", err)
	}

	return &traceOutput{Body: *trace}, nil
}

func (s *Server) getLLMInteraction(ctx context.Context, in *interactionInput) (*llmInteractionOutput, error) {
	err := in.check("LLM")
	if err != nil {
		return nil, err
	}

	detail, err := s.store.LLMInteraction(ctx, in.ID, in.InteractionID)
	if err != nil {
		return nil, fmt.Errorf("show LLM interaction: %w", err)
	}

	return &llmInteractionOutput{Body: *detail}, nil
}

func (s *Server) getMCPInteraction(ctx context.Context, in *interactionInput) (*mcpInteractionOutput, error) {
	err := in.check("MCP")
	if err != nil {
		return nil, err
	}

	interaction, err := s.store.MCPInteraction(ctx, in.ID, in.InteractionID)
	if err != nil {
		return nil, fmt.Errorf("show MCP interaction: %w", err)
	}

	return &mcpInteractionOutput{Body: *interaction}, nil
}

// check answers for ids that no session or interaction can have.
func (in *interactionInput) check(kind string) error {
	err := checkID(in.ID)
	if err != nil || tarsy.ValidID(in.InteractionID) {
		return err
	}

	return tarsy.Errorf(tarsy.CodeInteractionNotFound, "session %s has no %s interaction %q", in.ID, kind, shown(in.InteractionID))
}
