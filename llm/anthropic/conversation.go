package anthropic

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"strings"

	"tarsy.dev/tarsy/llm"
)

// conversation converts messages to the API's form.
type conversation struct {
	by       string
	names    llm.ToolNames
	messages []turn
	// results reports whether the last message contains tool results: a user message that follows is added to it.
	results bool
	// bound reports whether thinking can be sent back only if nothing before it has changed. seen is the digest of the system
	// texts, the tools and the first messages; through is the number of those messages.
	bound   bool
	seen    [sha256.Size]byte
	through int
}

func (c *conversation) add(message llm.Message) {
	switch message.Role {
	case llm.RoleSystem:
		// System texts come before everything else.
	case llm.RoleAssistant:
		c.addAnswer(message)
	case llm.RoleTool:
		c.addResult(message)
	default:
		if blank(message.Content) {
			return
		}

		block := textBlock(message.Content)
		if c.results {
			c.extend(block)
		} else {
			c.messages = append(c.messages, turn{Role: roleUser, Content: []content{block}})
		}
	}
}

// systemTexts returns the system texts of a conversation.
func systemTexts(req *llm.Request) []content {
	var texts []content

	for _, message := range req.Messages {
		if message.Role == llm.RoleSystem && !blank(message.Content) {
			texts = append(texts, textBlock(message.Content))
		}
	}

	return texts
}

// prefix returns a digest of the conversation so far, as it is sent.
func (c *conversation) prefix() string {
	for _, message := range c.messages[c.through:] {
		c.digest(message)
	}

	c.through = len(c.messages)

	return hex.EncodeToString(c.seen[:])
}

func (c *conversation) digest(part any) {
	data, err := json.Marshal(part)
	if err != nil { // it cannot be sent either
		return
	}

	c.seen = sha256.Sum256(append(c.seen[:], data...))
}

// blank reports whether the API rejects a text because it is empty.
func blank(text string) bool { return strings.TrimSpace(text) == "" }

func (c *conversation) extend(block content) {
	last := &c.messages[len(c.messages)-1]
	last.Content = append(last.Content, block)
}

// addAnswer adds an answer of the model, with its thinking. Thinking alone is not an answer, and is omitted.
func (c *conversation) addAnswer(message llm.Message) {
	if blank(message.Content) && len(message.ToolCalls) == 0 {
		return
	}

	c.messages = append(c.messages, turn{Role: roleAssistant, Content: c.blocks(message)})
	c.results = false
}

// addResult adds the result of a call. All results of a turn are in one message.
func (c *conversation) addResult(message llm.Message) {
	block := content{Type: toolResultType, ToolUseID: wireID(message.ToolCallID)}
	if !blank(message.Content) {
		block.Content = []content{textBlock(message.Content)}
	}

	if c.results {
		c.extend(block)
	} else {
		c.messages = append(c.messages, turn{Role: roleUser, Content: []content{block}})
	}

	c.results = true
}

// input returns the arguments of a call as the object that the API requires. Invalid arguments become an empty object; the
// result of the call already reported them to the model.
func input(arguments string) json.RawMessage {
	object := bytes.TrimSpace([]byte(strings.ToValidUTF8(arguments, "\uFFFD")))
	if len(object) == 0 || object[0] != '{' || !json.Valid(object) {
		return json.RawMessage("{}")
	}

	return object
}

// wireID returns the id of a call in a form that the API accepts. Ids of other providers, from which a conversation may have
// come, can contain anything.
func wireID(id string) string {
	clean := strings.Map(func(r rune) rune {
		if r == '_' || r == '-' || (r >= '0' && r <= '9') || (r >= 'a' && r <= 'z') || (r >= 'A' && r <= 'Z') {
			return r
		}

		return '_'
	}, id)

	const most = 64
	if clean == id && id != "" && len(id) <= most {
		return id
	}

	const hashSize = 8

	// Different ids must stay different.
	sum := sha256.Sum256([]byte(id))

	return clean[:min(len(clean), most-hashSize-1)] + "_" + hex.EncodeToString(sum[:])[:hashSize]
}
