// Package llm is the contract between TARSy and a language model: one request, a stream of chunks. Providers are implemented in
// subpackages. This package does not know about sessions, agents or the database.
package llm

import (
	"context"
	"encoding/json"
	"iter"
)

// Client calls one or more language models. Implementations are safe for concurrent use.
type Client interface {
	// Generate streams the answer to req. The sequence ends after the first error; a consumer that stops early, or
	// cancels ctx, ends the call and closes its connection.
	Generate(ctx context.Context, req *Request) iter.Seq2[Chunk, error]
}

// Request is one call. It is self-contained: providers store nothing between calls.
type Request struct {
	// SessionID, ExecutionID and Agent identify the origin of the call; they route scripts and label traces, and never reach a
	// provider's API. Purpose is the interaction type.
	SessionID   string
	ExecutionID string
	Agent       string
	Purpose     string

	Provider string
	Model    string
	Backend  string
	Messages []Message
	// Tools are bound to the call; without any, the model can only answer in text.
	Tools []Tool
	// NativeTools are tools that the provider runs itself. They are off whenever Tools are bound.
	NativeTools NativeTools
	// MaxOutputTokens bounds the answer; zero leaves it to the provider.
	MaxOutputTokens int
	// Stop lists texts at which the model stops writing; they are not part of the answer.
	Stop []string
	// ReasoningEffort is how hard the model thinks, in the provider's terms; empty leaves it to the provider.
	ReasoningEffort string
	// ResponseSchema is a JSON Schema that the answer's text must follow; nil means free text.
	ResponseSchema json.RawMessage
	// CachePrompt requests caching of the conversation so far, for providers that cache only on request.
	CachePrompt bool
}

// NativeTools are tools that a provider runs itself.
type NativeTools struct {
	GoogleSearch  bool `json:"google_search"`
	CodeExecution bool `json:"code_execution"`
	URLContext    bool `json:"url_context"`
}

// Message is one turn of the conversation.
type Message struct {
	Role       string     `json:"role"`
	Content    string     `json:"content"`
	ToolCalls  []ToolCall `json:"tool_calls,omitempty"`
	ToolCallID string     `json:"tool_call_id,omitempty"`
	ToolName   string     `json:"tool_name,omitempty"`
	// Signature came with the assistant's answer and must be sent back with it.
	Signature *Signature `json:"signature,omitempty"`
}

// Signature is data that a provider wants back with an answer that it gave, such as proof of its thinking. Only the client that
// wrote it reads it; other clients, which a conversation may fall back to, omit it.
type Signature struct {
	// By is the name of the client and the model, such as "anthropic/claude-opus-4-5".
	By   string          `json:"by"`
	Data json.RawMessage `json:"data"`
}

// SignatureBy returns the data of the message's signature if by wrote it, and nil otherwise.
func (m Message) SignatureBy(by string) json.RawMessage {
	if m.Signature == nil || m.Signature.By != by {
		return nil
	}

	return m.Signature.Data
}

// The roles of messages.
const (
	RoleSystem    = "system"
	RoleUser      = "user"
	RoleAssistant = "assistant"
	RoleTool      = "tool"
)

// Tool is a function that the model can call. Schema is the JSON Schema of its arguments.
type Tool struct {
	Name        string          `json:"name"`
	Description string          `json:"description"`
	Schema      json.RawMessage `json:"schema"`
}

// ToolCall is the model's request to call a tool; Arguments is as the model wrote it, and should be a JSON object.
type ToolCall struct {
	ID        string `json:"id"`
	Name      string `json:"name"`
	Arguments string `json:"arguments"`
}
