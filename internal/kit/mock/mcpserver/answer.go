package mcpserver

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	mcpsdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// recordUnknownTools adds calls of unknown tools to the journal; the SDK answers them itself.
func (s *server) recordUnknownTools(next mcpsdk.MethodHandler) mcpsdk.MethodHandler {
	return func(ctx context.Context, method string, request mcpsdk.Request) (mcpsdk.Result, error) {
		if call, ok := request.(*mcpsdk.CallToolRequest); ok && s.tools[call.Params.Name] == nil {
			s.journal.begin(&Call{
				Server: s.name, Tool: cut(call.Params.Name, maxArguments), Arguments: kept(call.Params.Arguments), Result: -1, Outcome: OutcomeUnexpected,
				Message: fmt.Sprintf("there is no tool %q", cut(call.Params.Name, 200)), Done: true, Start: s.clock.Now(),
			})
		}

		return next(ctx, method, request)
	}
}

// answer returns the SDK's handler of a tool.
func (s *server) answer(t *tool) mcpsdk.ToolHandler {
	return func(ctx context.Context, request *mcpsdk.CallToolRequest) (*mcpsdk.CallToolResult, error) {
		line := lineOf(ctx)

		ctx, stop := line.bind(ctx)
		defer stop()

		call := &Call{
			Server: s.name, Tool: t.source.Name, Arguments: kept(request.Params.Arguments), Result: -1, Outcome: OutcomeUnexpected, Start: s.clock.Now(),
		}

		arguments, r, err := s.choose(t, request.Params.Arguments, call)

		s.journal.begin(call)

		defer func() {
			s.journal.change(func() {
				call.Done, call.Duration = true, s.clock.Now().Sub(call.Start)
			})
		}()

		if err != nil {
			return errorResult(err.Error()), nil
		}

		if err := s.wait(ctx, r.source.Delay); err != nil {
			s.journal.change(func() { call.Cancelled = true })

			return nil, err
		}

		if r.source.Fault != "" {
			return nil, s.triggerFault(ctx, line, r.source.Fault, call)
		}

		made, err := r.make(arguments)
		if err != nil {
			s.journal.change(func() { call.Outcome, call.Message = OutcomeUnexpected, err.Error() })

			return errorResult(err.Error()), nil
		}

		return made, nil
	}
}

// choose finds the result of a call and records it in call, which is not shared yet.
func (s *server) choose(t *tool, raw json.RawMessage, call *Call) (map[string]any, *result, error) {
	arguments, err := t.arguments(raw)
	if err != nil {
		call.Message = cut(err.Error(), maxArguments)

		return nil, nil, err
	}

	i, r, err := t.choose(arguments)
	if err != nil {
		call.Message = cut(err.Error(), maxArguments)

		return nil, nil, err
	}

	call.Result, call.Outcome = i, r.outcome()

	return arguments, r, nil
}

func (r *result) outcome() string {
	switch {
	case r.source.Fault != "":
		return string(r.source.Fault)
	case r.source.Error != nil:
		return OutcomeError
	case r.source.Text != nil:
		return OutcomeText
	default:
		return OutcomeJSON
	}
}

// make returns the answer of a result that is not a fault.
func (r *result) make(arguments map[string]any) (*mcpsdk.CallToolResult, error) {
	if r.source.JSON != nil {
		raw, err := json.Marshal(r.json)
		if err != nil {
			return nil, fmt.Errorf("encode the result: %w", err)
		}

		made := textResult(string(raw))
		if _, ok := r.json.(map[string]any); ok {
			made.StructuredContent = json.RawMessage(raw)
		}

		return made, nil
	}

	text, err := r.text.render(arguments)
	if err != nil {
		return nil, err
	}

	made := textResult(text)
	made.IsError = r.source.Error != nil

	return made, nil
}

func textResult(text string) *mcpsdk.CallToolResult {
	return &mcpsdk.CallToolResult{Content: []mcpsdk.Content{&mcpsdk.TextContent{Text: text}}}
}

func errorResult(text string) *mcpsdk.CallToolResult {
	made := textResult(text)
	made.IsError = true

	return made
}

func (s *server) wait(ctx context.Context, delay time.Duration) error {
	if delay == 0 {
		return nil
	}

	timer := s.clock.NewTimer(delay)
	defer timer.Stop()

	select {
	case <-timer.Chan():
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// triggerFault triggers a fault.
func (s *server) triggerFault(ctx context.Context, line line, fault Fault, call *Call) error {
	switch fault {
	case FaultHang:
		<-ctx.Done()
		s.journal.change(func() { call.Cancelled = true })

		return context.Cause(ctx)
	case FaultProtocolError:
		return &jsonrpc.Error{Code: jsonrpc.CodeInternalError, Message: "scripted protocol error"}
	default:
		line.triggerFault(ctx, fault)

		return errors.New("scripted fault: " + string(fault))
	}
}

// kept returns what the journal keeps of arguments.
func kept(raw json.RawMessage) any {
	if len(raw) > maxArguments {
		return cut(string(raw), maxArguments)
	}

	value, err := decode(raw)
	if err != nil {
		return string(raw)
	}

	return value
}
