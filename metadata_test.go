package tarsy_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy"
)

func TestMetadataMatchesJSONOfItsStruct(t *testing.T) {
	t.Parallel()

	started := tarsy.ToolCallMetadata{Call: "1.2.3", ServerName: "s", ToolName: "t", Arguments: json.RawMessage(`[1]`)}
	ended := started
	ended.ToolCallResult = &tarsy.ToolCallResult{Attempt: 1}

	for want, got := range map[string]tarsy.Metadata{
		`{"call":"1.2.3","server_name":"s","tool_name":"t","arguments":[1]}`:                                                                tarsy.NewMetadata(started),
		`{"call":"1.2.3","server_name":"s","tool_name":"t","arguments":[1],"is_error":false,"attempt":1,"duration_ms":0,"result_tokens":0}`: tarsy.NewMetadata(ended),
		`{"forced_conclusion":true,"reason":"deadline","max_iterations":3}`: tarsy.NewMetadata(tarsy.FinalAnalysisMetadata{
			ForcedConclusion: true, Reason: tarsy.ForcedDeadline, MaxIterations: 3,
		}),
		`{"queries":[],"sources":[]}`: tarsy.NewMetadata(tarsy.GroundingMetadata{Queries: []string{}, Sources: []tarsy.GroundingSource{}}),
		`null`:                        tarsy.NewMetadata(tarsy.FinalAnalysisMetadata{}),
	} {
		raw, err := json.Marshal(tarsy.TimelineEvent{Metadata: got})
		require.NoError(t, err)

		var event struct {
			Metadata json.RawMessage `json:"metadata"`
		}

		require.NoError(t, json.Unmarshal(raw, &event))
		require.JSONEq(t, want, string(event.Metadata))

		var read tarsy.TimelineEvent

		require.NoError(t, json.Unmarshal(raw, &read))
		require.Equal(t, got, read.Metadata)
	}

	raw, err := json.Marshal(tarsy.TimelineCreatedPayload{})
	require.NoError(t, err)
	require.NotContains(t, string(raw), "metadata", "an event without metadata does not name it")
}

func TestMetadataFromDatabaseHasTheSameBytes(t *testing.T) {
	t.Parallel()

	made := tarsy.NewMetadata(tarsy.ToolCallMetadata{Call: "1.2.3", ServerName: "<s>", ToolName: "t", Arguments: json.RawMessage(`{"aa":[1],"b":2}`)})

	var read tarsy.Metadata

	require.NoError(t, json.Unmarshal([]byte(`{"call": "1.2.3", "arguments": {"b": 2, "aa": [1]}, "tool_name": "t", "server_name": "<s>"}`), &read))
	require.Equal(t, string(made), string(read))
}

func TestMetadataOfOtherReleasesIsRead(t *testing.T) {
	t.Parallel()

	for name, test := range map[string]struct {
		metadata string
		want     tarsy.ToolCallMetadata
	}{
		"before calls had numbers":     {`{"tool_name":"t"}`, tarsy.ToolCallMetadata{ToolName: "t"}},
		"a key more":                   {`{"call":"1.1.1","newer":{"a":[]}}`, tarsy.ToolCallMetadata{Call: "1.1.1"}},
		"another kind of value":        {`{"call":7,"tool_name":"t"}`, tarsy.ToolCallMetadata{ToolName: "t"}},
		"no arguments and null differ": {`{"arguments":null}`, tarsy.ToolCallMetadata{Arguments: json.RawMessage("null")}},
		"nothing":                      {``, tarsy.ToolCallMetadata{}},
		"null":                         {`null`, tarsy.ToolCallMetadata{}},
		"a list":                       {`[1]`, tarsy.ToolCallMetadata{}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			require.Equal(t, test.want, tarsy.MetadataAs[tarsy.ToolCallMetadata](tarsy.Metadata(test.metadata)))
		})
	}
}

func TestMergingMetadataKeepsUnknownKeys(t *testing.T) {
	t.Parallel()

	next := tarsy.NewMetadata(tarsy.ToolCallResult{IsError: true, Attempt: 2})
	require.JSONEq(t, `{"call":"1.1.1","newer":[1],"is_error":true,"attempt":2,"duration_ms":0,"result_tokens":0}`,
		string(tarsy.Metadata(`{"call":"1.1.1","newer":[1],"attempt":1}`).Merge(next)))
	require.Equal(t, next, tarsy.Metadata(nil).Merge(next))
	require.Equal(t, next, tarsy.Metadata(`null`).Merge(next))
	require.JSONEq(t, `{"a":1}`, string(tarsy.Metadata(`{"a":1}`).Merge(nil)))
}
