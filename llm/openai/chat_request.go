package openai

import (
	sdk "github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/shared"

	"tarsy.dev/tarsy/llm"
)

// chatParams is a request in the form of Chat Completions.
func (c *Client) chatParams(req *llm.Request, names llm.ToolNames) sdk.ChatCompletionNewParams {
	params := sdk.ChatCompletionNewParams{
		Model: req.Model, Messages: chatMessages(req, names), ReasoningEffort: shared.ReasoningEffort(req.ReasoningEffort),
		StreamOptions: sdk.ChatCompletionStreamOptionsParam{IncludeUsage: sdk.Bool(true)},
	}

	// Models that think refuse to be told where to stop.
	if c.stops || !thinks(req.Model) {
		params.Stop.OfStringArray = req.Stop
	}

	switch {
	case req.MaxOutputTokens == 0:
	case c.own:
		params.MaxCompletionTokens = sdk.Int(int64(req.MaxOutputTokens))
	default:
		// Compatible servers know the older name, and not all of them the newer.
		params.MaxTokens = sdk.Int(int64(req.MaxOutputTokens))
	}

	for _, tool := range req.Tools {
		params.Tools = append(params.Tools, sdk.ChatCompletionFunctionTool(shared.FunctionDefinitionParam{
			Name: names.Wire(tool.Name), Description: sdk.String(tool.Description), Parameters: parameters(tool),
		}))
	}

	if req.ResponseSchema != nil {
		params.ResponseFormat.OfJSONSchema = &shared.ResponseFormatJSONSchemaParam{
			JSONSchema: shared.ResponseFormatJSONSchemaJSONSchemaParam{
				Name: schemaName, Schema: object(req.ResponseSchema), Strict: sdk.Bool(strict(req.ResponseSchema)),
			},
		}
	}

	return params
}

func chatMessages(req *llm.Request, names llm.ToolNames) []sdk.ChatCompletionMessageParamUnion {
	messages := make([]sdk.ChatCompletionMessageParamUnion, 0, len(req.Messages))

	for _, message := range req.Messages {
		switch message.Role {
		case llm.RoleSystem:
			messages = append(messages, sdk.SystemMessage(message.Content))
		case llm.RoleTool:
			messages = append(messages, sdk.ToolMessage(message.Content, message.ToolCallID))
		case llm.RoleAssistant:
			if message.Content != "" || len(message.ToolCalls) > 0 {
				messages = append(messages, chatAnswer(message, names))
			}
		default:
			messages = append(messages, sdk.UserMessage(message.Content))
		}
	}

	return messages
}

// chatAnswer is what the assistant said and called before.
func chatAnswer(message llm.Message, names llm.ToolNames) sdk.ChatCompletionMessageParamUnion {
	answer := sdk.ChatCompletionAssistantMessageParam{}
	if message.Content != "" {
		answer.Content.OfString = sdk.String(message.Content)
	}

	for _, call := range message.ToolCalls {
		answer.ToolCalls = append(answer.ToolCalls, sdk.ChatCompletionMessageToolCallUnionParam{
			OfFunction: &sdk.ChatCompletionMessageFunctionToolCallParam{
				ID: call.ID,
				Function: sdk.ChatCompletionMessageFunctionToolCallFunctionParam{
					Name: names.Wire(call.Name), Arguments: arguments(call.Arguments),
				},
			},
		})
	}

	return sdk.ChatCompletionMessageParamUnion{OfAssistant: &answer}
}
