package api

import (
	"context"
	"fmt"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/ident"
)

type interactionInput struct {
	ID            string `doc:"The id of a session."              path:"id"`
	InteractionID string `doc:"The id of one of its interactions." path:"interaction_id"`
}

type traceInput struct {
	ID     string   `doc:"The id of a session."                                                     path:"id"`
	Limit  pageSize `doc:"Maximum number of interactions per page, LLM and MCP calls together." query:"limit"`
	Cursor cursor   `doc:"The next_cursor of the previous page."                                    query:"cursor"`
}

type traceOutput struct{ Body tracePage }

type tracePage struct {
	tarsy.Trace

	NextCursor string `doc:"Cursor of the next page; absent on the last page." json:"next_cursor,omitempty"`
}

type llmInteractionOutput struct{ Body tarsy.LLMInteractionDetail }

type mcpInteractionOutput struct{ Body tarsy.MCPInteraction }

func (s *sessions) getTrace(ctx context.Context, in *traceInput) (*traceOutput, error) {
	query, err := in.query()
	if err != nil {
		return nil, err
	}

	err = checkID(in.ID)
	if err != nil {
		return nil, err
	}

	page, err := s.store.Trace(ctx, in.ID, query)
	if err != nil {
		return nil, fmt.Errorf("show trace: %w", err)
	}

	out := &traceOutput{Body: tracePage{Trace: page.Trace}}

	if page.Next != nil {
		out.Body.NextCursor, err = encodeCursor(page.Next)
	}

	return out, err
}

func (in *traceInput) query() (query tarsy.TraceQuery, err error) {
	if err = readParameters(in, &query); err != nil {
		return query, err
	}

	query.After, err = readCursor(in.Cursor, func(place tarsy.TraceCursor) bool { return !place.CreatedAt.IsZero() && ident.Valid(place.ID) })

	return query, err
}

func (s *sessions) getLLMInteraction(ctx context.Context, in *interactionInput) (*llmInteractionOutput, error) {
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

func (s *sessions) getMCPInteraction(ctx context.Context, in *interactionInput) (*mcpInteractionOutput, error) {
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

// check rejects ids that no session or interaction can have.
func (in *interactionInput) check(kind string) error {
	err := checkID(in.ID)
	if err != nil || ident.Valid(in.InteractionID) {
		return err
	}

	return tarsy.Errorf(tarsy.CodeInteractionNotFound, "session %s has no %s interaction %q", in.ID, kind, shown(in.InteractionID))
}
