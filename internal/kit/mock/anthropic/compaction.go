package anthropic

import (
	"encoding/json"

	"tarsy.dev/tarsy/internal/kit/mock/exchange"
)

// compaction asks for a summary of the conversation instead of an answer: a tool runner sends it on in place of the messages.
type compaction struct {
	Type string `json:"type"`
}

// appendCompaction appends the block that an answer to a request for compaction consists of: the text of the script is the summary.
func appendCompaction(buf []byte, kind, summary string) []byte {
	buf = append(append(append(buf, `{"type":"`...), kind...), `","content":`...)
	buf = exchange.AppendString(buf, summary)
	buf = append(append(buf, `,"encrypted_content":"`...), derive(summary)...)

	return append(buf, '"', '}')
}

// streamCompaction sends the summary, which comes in one piece.
func (e *encoder) streamCompaction(buf []byte) []byte {
	buf = e.start(buf, none)
	buf = append(buf, `{"type":"compaction","content":null,"encrypted_content":null}`+endOfEvent...)
	buf = append(buf, "event: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"index\":0,\"delta\":"...)
	buf = append(appendCompaction(buf, "compaction_delta", string(e.summary)), endOfEvent...)

	return e.stop(buf)
}

// summaryText is the summary in a block that came back.
func summaryText(raw json.RawMessage) string {
	var text string

	_ = json.Unmarshal(raw, &text) // one without a text is the failure of a compaction

	return text
}
