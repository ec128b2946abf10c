package anthropic

import (
	"encoding/json"

	"tarsy.dev/tarsy/internal/kit/mock/exchange"
)

// compaction requests a summary of the conversation instead of an answer: a tool runner then sends it in place of the
// messages.
type compaction struct {
	Type string `json:"type"`
}

// appendCompaction appends the block that answers a request for compaction. The summary is the script's text.
func appendCompaction(buf []byte, kind, summary string) []byte {
	buf = append(append(append(buf, `{"type":"`...), kind...), `","content":`...)
	buf = exchange.AppendString(buf, summary)
	buf = append(append(buf, `,"encrypted_content":"`...), derive(summary)...)

	return append(buf, '"', '}')
}

// streamCompaction sends the summary, which is not split.
func (e *encoder) streamCompaction(buf []byte) []byte {
	buf = e.start(buf, none)
	buf = append(buf, `{"type":"compaction","content":null,"encrypted_content":null}`+endOfEvent...)
	buf = append(buf, "event: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"index\":0,\"delta\":"...)
	buf = append(appendCompaction(buf, "compaction_delta", string(e.summary)), endOfEvent...)

	return e.stop(buf)
}

// summaryText returns the summary in a block that the caller sent back.
func summaryText(raw json.RawMessage) string {
	var text string

	_ = json.Unmarshal(raw, &text) // a block without text is a failed compaction

	return text
}
