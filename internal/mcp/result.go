package mcp

import (
	"encoding/json"
	"fmt"
	"strings"

	mcpsdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"tarsy.dev/tarsy/internal/plaintext"
)

// withheld replaces a text that could not be masked: better no text than a secret.
const withheld = "[REDACTED: this text could not be checked for secrets and was withheld]"

// longestSecret exceeds the length of any secret.
const longestSecret = 64 << 10

// received processes all text from a server: it is made valid UTF-8, masked, then cut. Cutting first could leave half a secret at the
// end, which no masker recognises. Masking all of a huge text takes too long, so it is first cut with longestSecret to spare, and that
// part is dropped after masking.
func (f *Factory) received(serverID, text string) string {
	text = clean(text)
	if len(text) > f.maskedBytes() {
		return f.receivedPart(serverID, text, len(text))
	}
	text, ok := f.masked(serverID, text)
	if !ok {
		return withheld
	}

	return cut(text, f.limits.ResultBytes)
}

// receivedPart is received for the beginning of a text of whole bytes, which may end with half a secret.
func (f *Factory) receivedPart(serverID, text string, whole int) string {
	text, ok := f.masked(serverID, plaintext.Cut(clean(text), f.maskedBytes()))
	if !ok {
		return withheld
	}

	return withTruncationNote(plaintext.Cut(text, min(f.limits.ResultBytes, max(len(text)-longestSecret, 0))), whole)
}

// maskedBytes is the maximum length of a text that is masked.
func (f *Factory) maskedBytes() int { return f.limits.ResultBytes + 2*longestSecret }

// masked masks a text and reports whether that succeeded.
func (f *Factory) masked(serverID, text string) (string, bool) {
	if f.cfg.Mask == nil {
		return text, true
	}
	text, err := f.cfg.Mask(serverID, text)
	if err != nil {
		f.logger.Error("mcp result withheld: masking failed", "mcp_server", serverID, "error", err)
	}

	return text, err == nil
}

// clean replaces what neither PostgreSQL nor JSON can store. Unlike plaintext.Clean it replaces NUL instead of removing it: a model
// must see that its tool wrote something there.
func clean(text string) string {
	return strings.ReplaceAll(strings.ToValidUTF8(text, "\uFFFD"), "\x00", "\uFFFD")
}

// cut keeps the head and the tail of a text that is longer than limit bytes: the end of a log usually matters most.
func cut(text string, limit int) string {
	return plaintext.CutMiddle(text, limit, fmt.Sprintf("\n[… cut: about %d of %d bytes left out …]\n", len(text)-limit, len(text)))
}

// withTruncationNote adds that text is the beginning of a longer one.
func withTruncationNote(text string, whole int) string {
	return fmt.Sprintf("%s\n[… cut: the first %d of %d bytes are shown]", text, len(text), whole)
}

const shortBytes = 200

// short shortens a server's text to part of a line. It does not make it valid UTF-8.
func short(text string) string {
	text = strings.Join(strings.Fields(text), " ")
	if len(text) <= shortBytes {
		return text
	}

	return plaintext.Cut(text, shortBytes) + "…"
}

// textOf returns the readable text of a result.
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

// placeholder describes content that is not plain text. The text of an embedded resource is included.
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
