// Package llm is the contract between TARSy and a language model: one request, a stream of chunks.
// Providers live in child packages. This package knows nothing of sessions, agents or the database.
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

// Request is one call. It is self-contained: providers keep nothing between calls.
type Request struct {
	// SessionID, ExecutionID and Agent tell where the call comes from; they route scripts and label traces, and
	// never reach a provider's API. Purpose is the interaction type.
	SessionID   string
	ExecutionID string
	Agent       string
	Purpose     string

	Provider string
	Model    string
	Backend  string
	Messages []Message
	// Tools are bound to the call; none means that the model can only answer in text.
	Tools []Tool
	// NativeTools are those that the provider runs itself. They are off whenever Tools are bound.
	NativeTools NativeTools
	// MaxOutputTokens bounds the answer; zero leaves it to the provider.
	MaxOutputTokens int
	// Stop are texts at which the model stops writing; they are not part of the answer.
	Stop []string
	// ReasoningEffort is how hard the model thinks, in the provider's words; empty leaves it to the provider.
	ReasoningEffort string
	// ResponseSchema is a JSON Schema that the answer's text must follow; nil means free text.
	ResponseSchema json.RawMessage
	// CachePrompt asks for the conversation so far to be cached, where the provider wants to be asked.
	CachePrompt bool
}

// NativeTools are tools that a provider runs on its own side.
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
	// Signature is what came with the assistant's answer and must go back with it.
	Signature *Signature `json:"signature,omitempty"`
}

// Signature is what a provider wants back with an answer that it gave, such as proof of its thinking. Only the client
// that wrote it reads it: others, which a conversation may fall back to, leave it out.
type Signature struct {
	// By names the client and the model, such as "anthropic/claude-opus-4-5".
	By   string          `json:"by"`
	Data json.RawMessage `json:"data"`
}

// SignatureBy is the data of the message's signature if by wrote it, and nil otherwise.
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

// Tool is a function that the model may call. Schema is the JSON Schema of its arguments.
type Tool struct {
	Name        string          `json:"name"`
	Description string          `json:"description"`
	Schema      json.RawMessage `json:"schema"`
}

// ToolCall is the model's request to call a tool; Arguments is what the model wrote, meant to be a JSON object.
type ToolCall struct {
	ID        string `json:"id"`
	Name      string `json:"name"`
	Arguments string `json:"arguments"`
}
