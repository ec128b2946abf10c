package mcp

import (
	"encoding/json"
	"fmt"
	"strings"
	"unicode/utf8"

	mcpsdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// withheld stands for a text that could not be masked: better no text than a secret.
const withheld = "[REDACTED: this text could not be checked for secrets and was withheld]"

// longestSecret is more than any secret is long.
const longestSecret = 64 << 10

// received is the one gate through which what a server sent comes in: made valid, masked, then cut. Masking comes
// before cutting, or half a secret could be left at the end; of a text that is far too long only so much is masked as
// can be kept, and the end of that, where half a secret may stand, is not.
func (f *Factory) received(serverID, text string) string {
	text = clean(text)
	whole, tail := len(text), 0
	if looked := f.limits.ResultBytes + 2*longestSecret; whole > looked {
		text, tail = text[:runeStart(text, looked)], longestSecret
	}
	if f.cfg.Mask != nil {
		masked, err := f.cfg.Mask(serverID, text)
		if err != nil {
			f.logger.Error("mcp result withheld: masking failed", "mcp_server", serverID, "error", err)

			return withheld
		}
		text = masked
	}

	if tail == 0 {
		return cut(text, f.limits.ResultBytes)
	}

	return noted(text[:runeStart(text, min(f.limits.ResultBytes, max(len(text)-tail, 0)))], whole)
}

// clean replaces what neither PostgreSQL nor JSON can hold.
func clean(text string) string {
	return strings.ReplaceAll(strings.ToValidUTF8(text, "\uFFFD"), "\x00", "\uFFFD")
}

// cut keeps the first limit bytes, to a whole character, and says that it did.
func cut(text string, limit int) string {
	if len(text) <= limit {
		return text
	}

	return noted(text[:runeStart(text, limit)], len(text))
}

// noted says that text is the beginning of a longer one.
func noted(text string, whole int) string {
	return fmt.Sprintf("%s\n[… cut: the first %d of %d bytes are shown]", text, len(text), whole)
}

// runeStart is the last place up to end where a character begins.
func runeStart(text string, end int) int {
	for end > 0 && end < len(text) && !utf8.RuneStart(text[end]) {
		end--
	}

	return end
}

const shortBytes = 200

// short makes hostile text fit for one line of ours.
func short(text string) string {
	text = strings.Join(strings.Fields(text), " ")
	if len(text) <= shortBytes {
		return text
	}

	return strings.ToValidUTF8(text[:shortBytes], "") + "…"
}

// textOf is what a model can read of a result.
func textOf(result *mcpsdk.CallToolResult) string {
	var text strings.Builder
	hasText := false
	for _, content := range result.Content {
		if text.Len() > 0 && !strings.HasSuffix(text.String()[text.Len()-1:], "\n") {
			text.WriteByte('\n')
		}
		if item, ok := content.(*mcpsdk.TextContent); ok {
			hasText = true
			text.WriteString(item.Text)

			continue
		}
		text.WriteString(placeholder(content))
	}
	if hasText || result.StructuredContent == nil {
		return text.String()
	}
	data, err := json.Marshal(result.StructuredContent)
	if err != nil {
		return text.String()
	}
	if text.Len() > 0 {
		text.WriteByte('\n')
	}
	text.Write(data)

	return text.String()
}

// placeholder stands for content that is no plain text. Of an embedded resource the text is shown.
func placeholder(content mcpsdk.Content) string {
	switch item := content.(type) {
	case *mcpsdk.ImageContent:
		return fmt.Sprintf("[image: %s, %d bytes]", short(item.MIMEType), len(item.Data))
	case *mcpsdk.AudioContent:
		return fmt.Sprintf("[audio: %s, %d bytes]", short(item.MIMEType), len(item.Data))
	case *mcpsdk.ResourceLink:
		return fmt.Sprintf("[resource: %s %s]", short(item.URI), short(item.MIMEType))
	case *mcpsdk.EmbeddedResource:
		if item.Resource == nil {
			return "[resource]"
		}

		head := fmt.Sprintf("[resource: %s %s, %d bytes]",
			short(item.Resource.URI), short(item.Resource.MIMEType), len(item.Resource.Text)+len(item.Resource.Blob))
		if item.Resource.Text == "" {
			return head
		}

		return head + "\n" + item.Resource.Text
	default:
		return "[content of an unknown kind]"
	}
}
