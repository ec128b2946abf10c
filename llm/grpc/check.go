package grpc

import (
	"encoding/json"
	"errors"
	"fmt"

	"tarsy.dev/tarsy/llm"
	"tarsy.dev/tarsy/llm/grpc/llmpb"
)

// readRequest converts and validates a request.
func readRequest(wire *llmpb.GenerateRequest) (*llm.Request, error) {
	config := wire.GetConfig()

	switch {
	case config.GetModel() == "":
		return nil, errors.New("config.model is missing")
	case config.GetMaxOutputTokens() < 0:
		return nil, errors.New("config.max_output_tokens is negative")
	case len(wire.GetMessages()) == 0:
		return nil, errors.New("messages are missing")
	}

	req := &llm.Request{
		SessionID: wire.GetSessionId(), ExecutionID: wire.GetExecutionId(), Agent: wire.GetAgent(), Purpose: wire.GetPurpose(),
		Provider: config.GetProvider(), Model: config.GetModel(), Backend: config.GetBackend(),
		MaxOutputTokens: int(config.GetMaxOutputTokens()), Stop: config.GetStop(), ReasoningEffort: config.GetReasoningEffort(),
		CachePrompt: config.GetCachePrompt(),
	}

	if schema := config.GetResponseSchema(); schema != "" {
		if !json.Valid([]byte(schema)) {
			return nil, errors.New("config.response_schema is not JSON")
		}

		req.ResponseSchema = json.RawMessage(schema)
	}

	if native := config.GetNativeTools(); len(wire.GetTools()) == 0 {
		req.NativeTools = llm.NativeTools{
			GoogleSearch: native.GetGoogleSearch(), CodeExecution: native.GetCodeExecution(), URLContext: native.GetUrlContext(),
		}
	}

	if err := readTools(req, wire.GetTools()); err != nil {
		return nil, err
	}

	return req, readMessages(req, wire.GetMessages())
}

func readTools(req *llm.Request, tools []*llmpb.Tool) error {
	for i, tool := range tools {
		schema := json.RawMessage(tool.GetParametersSchema())

		switch {
		case tool.GetName() == "":
			return fmt.Errorf("tools[%d].name is missing", i)
		case len(schema) > 0 && !json.Valid(schema):
			return fmt.Errorf("tools[%d].parameters_schema is not JSON", i)
		}

		req.Tools = append(req.Tools, llm.Tool{Name: tool.GetName(), Description: tool.GetDescription(), Schema: schema})
	}

	return nil
}

func readMessages(req *llm.Request, messages []*llmpb.Message) error {
	called := map[string]bool{}

	for i, wire := range messages {
		message := llm.Message{
			Role: wire.GetRole(), Content: wire.GetContent(), ToolCallID: wire.GetToolCallId(), ToolName: wire.GetToolName(),
		}

		for _, call := range wire.GetToolCalls() {
			if call.GetId() == "" || call.GetName() == "" {
				return fmt.Errorf("messages[%d]: a tool call needs an id and a name", i)
			}

			called[call.GetId()] = true

			message.ToolCalls = append(message.ToolCalls, llm.ToolCall{ID: call.GetId(), Name: call.GetName(), Arguments: call.GetArguments()})
		}

		if signature := wire.GetSignature(); signature != nil {
			if !json.Valid([]byte(signature.GetData())) {
				return fmt.Errorf("messages[%d].signature.data is not JSON", i)
			}

			message.Signature = &llm.Signature{By: signature.GetBy(), Data: json.RawMessage(signature.GetData())}
		}

		if err := checkRole(&message, called); err != nil {
			return fmt.Errorf("messages[%d]: %w", i, err)
		}

		req.Messages = append(req.Messages, message)
	}

	return nil
}

// checkRole returns an error if the content of a message does not fit its role; called are the calls before it.
func checkRole(message *llm.Message, called map[string]bool) error {
	switch message.Role {
	case llm.RoleSystem, llm.RoleUser, llm.RoleAssistant, llm.RoleTool:
	default:
		return fmt.Errorf("%q is not a role", message.Role)
	}

	switch {
	case len(message.ToolCalls) > 0 && message.Role != llm.RoleAssistant:
		return errors.New("only an assistant calls tools")
	case message.Role == llm.RoleTool && !called[message.ToolCallID]:
		return fmt.Errorf("the result of call %q has no matching call", message.ToolCallID)
	}

	return nil
}
