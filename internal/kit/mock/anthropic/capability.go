package anthropic

// support is whether a model supports a feature.
type support struct {
	Supported bool `json:"supported"`
}

// capabilities are what the API reports about a model.
type capabilities struct {
	Batch             support           `json:"batch"`
	Citations         support           `json:"citations"`
	CodeExecution     support           `json:"code_execution"`
	ContextManagement contextManagement `json:"context_management"`
	Effort            effortSupport     `json:"effort"`
	ImageInput        support           `json:"image_input"`
	PDFInput          support           `json:"pdf_input"`
	ServerTools       serverTools       `json:"server_tools"`
	StructuredOutputs support           `json:"structured_outputs"`
	Thinking          thinkingSupport   `json:"thinking"`
}

type contextManagement struct {
	support
	ClearThinking support `json:"clear_thinking_20251015"`
	ClearToolUses support `json:"clear_tool_uses_20250919"`
	Compact       support `json:"compact_20260112"`
}

type effortSupport struct {
	support
	Low    support `json:"low"`
	Medium support `json:"medium"`
	High   support `json:"high"`
	XHigh  support `json:"xhigh"`
	Max    support `json:"max"`
}

type serverTools struct {
	support
	CodeExecution support `json:"code_execution"`
	WebSearch     support `json:"web_search"`
}

type thinkingSupport struct {
	support
	Types struct {
		Adaptive     support `json:"adaptive"`
		BetweenTools support `json:"between_tools"`
		Disabled     support `json:"disabled"`
		Enabled      support `json:"enabled"`
	} `json:"types"`
}

// capabilitiesOf returns the capabilities of a model that decides itself how much to think, or of one with a thinking
// budget.
func capabilitiesOf(adaptive bool) capabilities {
	yes, newer := support{Supported: true}, support{Supported: adaptive}

	c := capabilities{
		Batch: yes, Citations: yes, CodeExecution: yes, ImageInput: yes, PDFInput: yes, StructuredOutputs: yes,
		ContextManagement: contextManagement{support: yes, ClearThinking: yes, ClearToolUses: yes, Compact: newer},
		Effort:            effortSupport{support: newer, Low: newer, Medium: newer, High: newer, XHigh: newer, Max: newer},
		ServerTools:       serverTools{support: yes, CodeExecution: yes, WebSearch: yes},
		Thinking:          thinkingSupport{support: yes},
	}
	c.Thinking.Types.Adaptive = newer
	c.Thinking.Types.Disabled = yes
	c.Thinking.Types.Enabled = support{Supported: !adaptive}

	return c
}
