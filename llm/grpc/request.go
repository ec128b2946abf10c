package grpc

import (
	"encoding/json"
	"strings"

	"tarsy.dev/tarsy/llm"
	"tarsy.dev/tarsy/llm/grpc/llmpb"
)

// valid returns text as the protocol requires it, in valid UTF-8, which alerts and logs may not be.
func valid(text string) string { return strings.ToValidUTF8(text, "\uFFFD") }

// wireRequest converts a request to the protocol.
func (c *Client) wireRequest(req *llm.Request) *llmpb.GenerateRequest {
	wire := &llmpb.GenerateRequest{
		SessionId: valid(req.SessionID), ExecutionId: valid(req.ExecutionID), Agent: valid(req.Agent), Purpose: valid(req.Purpose),
		Config: c.wireConfig(req),
	}

	by, names := signatureBy(req), llm.NewToolNames(req)
	for i := range req.Messages {
		if message := wireMessage(&req.Messages[i], by, names); message != nil {
			wire.Messages = append(wire.Messages, message)
		}
	}

	for _, tool := range req.Tools {
		wire.Tools = append(wire.Tools, &llmpb.Tool{
			Name: names.Wire(tool.Name), Description: valid(tool.Description), ParametersSchema: valid(string(llm.ObjectSchema(tool.Schema))),
		})
	}

	return wire
}

func (c *Client) wireConfig(req *llm.Request) *llmpb.LLMConfig {
	config := &llmpb.LLMConfig{
		Provider: valid(c.cfg.Provider), Model: valid(req.Model), ApiKeyEnv: valid(c.cfg.APIKeyEnv), BaseUrl: valid(c.cfg.BaseURL),
		Backend: valid(req.Backend), MaxOutputTokens: int32(req.MaxOutputTokens), ReasoningEffort: valid(req.ReasoningEffort),
		ResponseSchema: valid(string(req.ResponseSchema)), CachePrompt: req.CachePrompt,
	}
	if config.GetProvider() == "" {
		config.Provider = valid(req.Provider)
	}

	for _, stop := range req.Stop {
		config.Stop = append(config.Stop, valid(stop))
	}

	if len(req.Tools) == 0 {
		config.NativeTools = &llmpb.NativeTools{
			GoogleSearch: req.NativeTools.GoogleSearch, CodeExecution: req.NativeTools.CodeExecution, UrlContext: req.NativeTools.URLContext,
		}
	}

	return config
}

// wireMessage converts a message. It returns nil for an empty one.
func wireMessage(message *llm.Message, by string, names llm.ToolNames) *llmpb.Message {
	wire := &llmpb.Message{
		Role: valid(message.Role), Content: valid(message.Content),
		ToolCallId: valid(message.ToolCallID), Signature: unwrapSignature(message.SignatureBy(by)),
	}
	if message.ToolName != "" {
		wire.ToolName = names.Wire(message.ToolName)
	}

	for _, call := range message.ToolCalls {
		call.Name = names.Wire(call.Name)
		wire.ToolCalls = append(wire.ToolCalls, wireCall(call))
	}

	if wire.GetContent() == "" && len(wire.GetToolCalls()) == 0 && message.Role != llm.RoleTool {
		return nil
	}

	return wire
}

func wireCall(call llm.ToolCall) *llmpb.ToolCall {
	return &llmpb.ToolCall{Id: valid(call.ID), Name: valid(call.Name), Arguments: valid(call.Arguments)}
}

func countCalls(req *llm.Request) int {
	calls := 0
	for _, message := range req.Messages {
		calls += len(message.ToolCalls)
	}

	return calls
}

// signatureBy returns the name of this client and the model in signatures.
func signatureBy(req *llm.Request) string { return "grpc/" + req.Model }

// gatewaySignature is the data of this client's signatures: the gateway's own signature in an envelope, so that no other client
// takes it for its own, and this one takes no other's.
type gatewaySignature struct {
	By   string          `json:"by"`
	Data json.RawMessage `json:"data"`
}

// wrapSignature returns nil if the data is not JSON, because it could not be stored.
func wrapSignature(by string, wire *llmpb.Signature) *llm.Signature {
	data, err := json.Marshal(gatewaySignature{By: wire.GetBy(), Data: json.RawMessage(wire.GetData())})
	if err != nil {
		return nil
	}

	return &llm.Signature{By: by, Data: data}
}

func unwrapSignature(data json.RawMessage) *llmpb.Signature {
	var signature gatewaySignature
	if data == nil || json.Unmarshal(data, &signature) != nil || len(signature.Data) == 0 {
		return nil
	}

	return &llmpb.Signature{By: signature.By, Data: valid(string(signature.Data))}
}
