package openai

import (
	"net/http"
	"strings"

	sdk "github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/responses"
	"github.com/openai/openai-go/v3/shared"

	"tarsy.dev/tarsy/llm"
)

// responseParams is a request in the form of Responses. Nothing is kept by the provider: the conversation goes along whole,
// with the thinking that belongs to it in a form that only the provider reads.
func (c *Client) responseParams(req *llm.Request, names llm.ToolNames) responses.ResponseNewParams {
	params := responses.ResponseNewParams{
		Model: req.Model, Store: sdk.Bool(false),
		Input: responses.ResponseNewParamsInputUnion{OfInputItemList: c.responseInput(req, names)},
	}

	if req.MaxOutputTokens > 0 {
		params.MaxOutputTokens = sdk.Int(int64(req.MaxOutputTokens))
	}

	if req.ReasoningEffort != "" {
		params.Reasoning.Effort = shared.ReasoningEffort(req.ReasoningEffort)

		if c.requestsExtra(summaries, req.Model) {
			params.Reasoning.Summary = shared.ReasoningSummaryAuto
		}
	}

	if (req.ReasoningEffort != "" || thinks(req.Model)) && c.requestsExtra(sealed, req.Model) {
		params.Include = append(params.Include, responses.ResponseIncludableReasoningEncryptedContent)
	}

	if req.ResponseSchema != nil {
		params.Text.Format.OfJSONSchema = &responses.ResponseFormatTextJSONSchemaConfigParam{
			Name: schemaName, Schema: object(req.ResponseSchema), Strict: sdk.Bool(strict(req.ResponseSchema)),
		}
	}

	addTools(&params, req, names)

	return params
}

// extra is what is asked for beside the answer, and refused to some.
type extra string

const (
	// summaries of thinking are for accounts that have proved who they are.
	summaries extra = "summaries"
	// sealed thinking is of models that think, which the name of a deployment may not tell.
	sealed extra = "sealed"
)

// requestsExtra reports whether a model is asked for an extra.
func (c *Client) requestsExtra(what extra, model string) bool {
	_, refused := c.dropped.Load(string(what) + " " + model)

	return !refused
}

// dropExtra remembers that an extra was refused, and reports whether a call may succeed without it.
func (c *Client) dropExtra(model string, err error) bool {
	e := llm.AsError(err)
	if e.Status != http.StatusBadRequest {
		return false
	}

	for sign, what := range map[string]extra{"generate reasoning summaries": summaries, "reasoning.summary": summaries, "Encrypted content is not supported": sealed} {
		if strings.Contains(e.Message, sign) {
			_, known := c.dropped.LoadOrStore(string(what)+" "+model, true)

			return !known
		}
	}

	return false
}

// thinks reports whether a model may think. The older ones do not, and refuse to be asked for what they thought.
func thinks(model string) bool {
	for _, prefix := range []string{"gpt-3", "gpt-4", "chatgpt-", "grok-2"} {
		if strings.HasPrefix(model, prefix) {
			return false
		}
	}

	return !strings.Contains(model, "-chat") && !strings.Contains(model, "non-reasoning")
}

func addTools(params *responses.ResponseNewParams, req *llm.Request, names llm.ToolNames) {
	for _, tool := range req.Tools {
		params.Tools = append(params.Tools, responses.ToolUnionParam{OfFunction: &responses.FunctionToolParam{
			Name: names.Wire(tool.Name), Description: sdk.String(tool.Description), Parameters: parameters(tool), Strict: sdk.Bool(false),
		}})
	}

	if len(req.Tools) > 0 {
		return
	}

	if req.NativeTools.GoogleSearch {
		params.Tools = append(params.Tools, responses.ToolUnionParam{
			OfWebSearch: &responses.WebSearchToolParam{Type: responses.WebSearchToolTypeWebSearch},
		})
	}

	if req.NativeTools.CodeExecution {
		params.Include = append(params.Include, responses.ResponseIncludableCodeInterpreterCallOutputs)
		params.Tools = append(params.Tools, responses.ToolUnionParam{OfCodeInterpreter: &responses.ToolCodeInterpreterParam{
			Container: responses.ToolCodeInterpreterContainerUnionParam{
				OfCodeInterpreterToolAuto: &responses.ToolCodeInterpreterContainerCodeInterpreterContainerAutoParam{},
			},
		}})
	}
}

func (c *Client) responseInput(req *llm.Request, names llm.ToolNames) responses.ResponseInputParam {
	input := make(responses.ResponseInputParam, 0, len(req.Messages))

	for _, message := range req.Messages {
		switch message.Role {
		case llm.RoleSystem:
			input = append(input, responses.ResponseInputItemParamOfMessage(message.Content, responses.EasyInputMessageRoleSystem))
		case llm.RoleTool:
			result := responses.ResponseInputItemParamOfFunctionCallOutput(message.Content)
			result.OfFunctionCallOutput.CallID = sdk.String(message.ToolCallID)
			input = append(input, result)
		case llm.RoleAssistant:
			input = appendAnswer(input, message, readSignature(message, c.by(req.Model)), names)
		default:
			input = append(input, responses.ResponseInputItemParamOfMessage(message.Content, responses.EasyInputMessageRoleUser))
		}
	}

	return input
}

// appendAnswer appends what the assistant thought, said and called before. Thinking stands before what it led to: the
// provider refuses it anywhere else.
func appendAnswer(input responses.ResponseInputParam, message llm.Message, signed signature, names llm.ToolNames) responses.ResponseInputParam {
	if message.Content != "" {
		input = signed.append(input, "")
		said := responses.ResponseInputItemParamOfMessage(message.Content, responses.EasyInputMessageRoleAssistant)
		said.OfMessage.Phase = responses.EasyInputMessagePhase(signed.Phase)
		input = append(input, said)
	}

	for _, call := range message.ToolCalls {
		input = signed.append(input, call.ID)
		input = append(input, responses.ResponseInputItemParamOfFunctionCall(arguments(call.Arguments), call.ID, names.Wire(call.Name)))
	}

	return input
}
