package stream

import (
	"bytes"
	"encoding/json"
	"strconv"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/flow/journal"
)

// overflowFrame tells a reader to load the current state over REST, because the journal's events up to head are not sent.
func overflowFrame(channel string, head journal.Position) tarsy.OverflowFrame {
	return tarsy.OverflowFrame{Type: tarsy.TypeOverflow, Channel: channel, Head: int64(head)}
}

// encodeEvent returns the payload of a journal event with its number and channel added.
func encodeEvent(channel string, record journal.Record[tarsy.Event]) string {
	payload := bytes.TrimSpace(record.Entry.Payload)

	var out bytes.Buffer

	// Put the payload on one line, because SSE ends a field at a line break.
	err := json.Compact(&out, payload)
	if err != nil || len(payload) < len("{}") || payload[0] != '{' {
		out.Reset()
		out.WriteString(encode(map[string]string{"type": record.Entry.Type}))
	}

	out.Truncate(out.Len() - len("}"))

	if out.Len() > len("{") {
		out.WriteByte(',')
	}

	out.WriteString(`"db_event_id":`)
	out.WriteString(strconv.FormatInt(int64(record.Position), 10))
	out.WriteString(`,"channel":`)
	out.WriteString(encode(channel))
	out.WriteByte('}')

	return out.String()
}

// encodeChunk encodes a chunk with its channel added.
func encodeChunk(channel string, chunk tarsy.StreamChunkPayload) string {
	return encode(struct {
		tarsy.StreamChunkPayload

		Channel string `json:"channel"`
	}{chunk, channel})
}

// encodeChange encodes an item of the sessions feed.
func encodeChange(change tarsy.SessionChangedPayload) string {
	change.Type = tarsy.TypeSessionChanged

	return encode(struct {
		tarsy.SessionChangedPayload

		Channel string `json:"channel"`
	}{change, tarsy.ChannelSessions})
}
