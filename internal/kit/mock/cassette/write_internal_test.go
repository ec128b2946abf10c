package cassette

import (
	"encoding/json"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// tree generates a JSON value.
func tree(depth int) *rapid.Generator[any] {
	leaf := rapid.OneOf(
		rapid.Map(text(), func(s string) any { return s }),
		rapid.Map(rapid.Float64Range(-1e9, 1e9), func(f float64) any { return f }),
		rapid.Map(rapid.Int64(), func(n int64) any { return n }),
		rapid.SampledFrom([]any{nil, true, false, "true", "null", "1", "1.0", "0x1f", "~", "- a", "a: b", "# c", "'", "", " x", "x ", "---", "@", "%", "&a", "*a", "!t", "|", ">", "2026-11-15", ".inf", "1_000"}),
	)
	if depth == 0 {
		return leaf
	}

	return rapid.OneOf(leaf,
		rapid.Map(rapid.SliceOfN(tree(depth-1), 0, 4), func(s []any) any { return s }),
		rapid.Map(rapid.MapOfN(text(), tree(depth-1), 0, 4), func(m map[string]any) any { return m }),
	)
}

func text() *rapid.Generator[string] {
	return rapid.OneOf(rapid.String(), rapid.StringMatching(`[a-z "\\\n\t\r:#{}\[\],&*!|>'%@-]{0,120}`))
}

func TestWrittenCassetteIsReadBackUnchanged(t *testing.T) {
	t.Parallel()

	rapid.Check(t, func(t *rapid.T) {
		body, err := json.Marshal(tree(3).Draw(t, "body"))
		if err != nil {
			t.Fatal(err)
		}

		indented, err := json.MarshalIndent(tree(2).Draw(t, "answer"), "", "  ")
		if err != nil {
			t.Fatal(err)
		}

		want := Recording{
			Method: "POST", Path: rapid.StringMatching(`/[a-z0-9/:%?=&.~_-]{0,40}`).Draw(t, "path"), Body: body, Status: 200,
			Header: map[string]string{"Content-Type": "text/event-stream"},
			Chunks: []Chunk{
				{After: time.Millisecond, Data: indented},
				{Data: []byte("data: " + text().Draw(t, "event") + "\n\n")},
				{After: 3 * time.Hour, Data: rapid.SliceOfN(rapid.Byte(), 1, 60).Draw(t, "bytes")},
				{Data: []byte("a\r\nb\r\n\r\n")},
			},
		}

		cassette := Cassette{Upstream: "https://api.example", Ignore: []string{"user", "a: b"}}

		got, err := parse(append(append(cassette.head(), want.encode()...), want.encode()...))
		if err != nil {
			t.Fatalf("%v in\n%s", err, want.encode())
		}

		if len(got.Recordings) != 2 || !want.equal(&got.Recordings[0]) || !want.equal(&got.Recordings[1]) {
			t.Fatalf("got %+v\nfrom\n%s", got.Recordings, want.encode())
		}
	})
}
