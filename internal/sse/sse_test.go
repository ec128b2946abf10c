package sse_test

import (
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"tarsy.dev/tarsy/internal/sse"
)

// event is an event whose data can be kept. Data is nil if there is none.
type event struct {
	id, name string
	data     *string
}

// read reads a stream to the end.
func read(source io.Reader, limit int) ([]event, error) {
	var events []event

	reader := sse.NewReader(source, limit)

	for {
		next, err := reader.Next()
		if errors.Is(err, io.EOF) {
			return events, nil
		}

		if err != nil {
			return events, err
		}

		kept := event{id: next.ID, name: next.Name}
		if next.Data != nil {
			kept.data = new(string(next.Data))
		}

		events = append(events, kept)
	}
}

func TestEventsAreRead(t *testing.T) {
	t.Parallel()

	long := strings.Repeat("żółw", 400_000) // 2.8 MB

	for name, test := range map[string]struct {
		stream string
		want   []event
	}{
		"data":                        {"data: a\n\ndata: b\n\n", []event{{data: new("a")}, {data: new("b")}}},
		"all fields":                  {"id: 7\nevent: x\ndata: a\n\n", []event{{id: "7", name: "x", data: new("a")}}},
		"an id is of one event":       {"id: 7\ndata: a\n\ndata: b\n\n", []event{{id: "7", data: new("a")}, {data: new("b")}}},
		"CRLF":                        {"event: x\r\ndata: a\r\n\r\ndata: b\r\n\r\n", []event{{name: "x", data: new("a")}, {data: new("b")}}},
		"a byte order mark":           {"\uFEFFdata: a\n\n", []event{{data: new("a")}}},
		"a later byte order mark":     {"data: a\n\n\uFEFFdata: b\n\n", []event{{data: new("a")}}},
		"several lines":               {"data: a\ndata:\nid: 7\ndata:  b\n\n", []event{{id: "7", data: new("a\n\n b")}}},
		"one space is no data":        {"data:a\n\ndata:  b\n\n", []event{{data: new("a")}, {data: new(" b")}}},
		"a colon in the data":         {"data: a:b: c\n\n", []event{{data: new("a:b: c")}}},
		"a name alone":                {"event: x\n\n", []event{{name: "x"}}},
		"empty data":                  {"data:\n\ndata\n\n", []event{{data: new("")}, {data: new("")}}},
		"comments":                    {": a\n:\n\n: b\ndata: a\n: c\n\n:\n\n", []event{{data: new("a")}}},
		"unknown fields":              {"retry: 5\ndataset: x\nDATA: x\ndata: a\n\n", []event{{data: new("a")}}},
		"empty lines":                 {"\n\n\r\n\ndata: a\n\n\n\n", []event{{data: new("a")}}},
		"an id alone is no event":     {"id: 7\n\ndata: a\n\n", []event{{data: new("a")}}},
		"a long line":                 {"data: " + long + "\n\ndata: b\n\n", []event{{data: new(long)}, {data: new("b")}}},
		"a carriage return in a line": {"data: a\rb\n\n", []event{{data: new("a\rb")}}},
		"no end":                      {"data: a\n\ndata: b\n", []event{{data: new("a")}}},
		"no end of a line":            {"data: a\n\ndata: b", []event{{data: new("a")}}},
		"half of the last end":        {"data: a\r\n\r", []event{{data: new("a")}}},
		"nothing":                     {"", nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			for _, cut := range []func(io.Reader) io.Reader{whole, iotest.HalfReader, iotest.DataErrReader} {
				events, err := read(cut(strings.NewReader(test.stream)), 0)
				require.NoError(t, err)
				require.Equal(t, test.want, events)
			}
		})
	}
}

func whole(r io.Reader) io.Reader { return r }

func TestEventIsReturnedBeforeTheNextOneArrives(t *testing.T) {
	t.Parallel()

	source, server := io.Pipe()
	reader := sse.NewReader(source, 0)

	for _, text := range []string{"a", "b"} {
		go func() { _, _ = io.WriteString(server, "data: "+text+"\n\n") }()

		next, err := reader.Next()
		require.NoError(t, err)
		require.Equal(t, text, string(next.Data))
	}

	require.NoError(t, server.Close())

	_, err := reader.Next()
	require.ErrorIs(t, err, io.EOF)
}

func TestBrokenStreamReturnsItsErrorAfterItsEvents(t *testing.T) {
	t.Parallel()

	broken := errors.New("connection reset")

	for _, rest := range []string{"", "data: b", "data: b\n", "\r"} {
		events, err := read(io.MultiReader(strings.NewReader("data: a\n\n"+rest), iotest.ErrReader(broken)), 0)
		require.ErrorIs(t, err, broken)
		require.Equal(t, []event{{data: new("a")}}, events)
	}
}

func TestEventBeyondLimitIsAnError(t *testing.T) {
	t.Parallel()

	const limit = 10_000

	for name, stream := range map[string]string{
		"a line":                 "data: " + strings.Repeat("x", limit+1) + "\n\n",
		"lines":                  strings.Repeat("data: x\n", limit) + "\n",
		"a line that never ends": strings.Repeat("x", 2*limit),
	} {
		_, err := read(strings.NewReader(stream), limit)
		require.ErrorIs(t, err, sse.ErrTooLong, name)
	}

	// Comments keep a connection open indefinitely, without counting towards the limit.
	events, err := read(strings.NewReader(strings.Repeat(": ping\n", limit)+"data: "+strings.Repeat("x", limit-7)+"\n\n"), limit)
	require.NoError(t, err)
	require.Len(t, events, 1)
}

// The events of a stream do not depend on how it is written or divided into reads.
func TestEventsDoNotDependOnPieces(t *testing.T) {
	t.Parallel()

	text := rapid.StringMatching(`[a-z :żółw😀]{0,12}`)

	rapid.Check(t, func(t *rapid.T) {
		var (
			stream strings.Builder
			want   []event
		)

		if rapid.Bool().Draw(t, "mark") {
			stream.WriteString("\uFEFF")
		}

		for range rapid.IntRange(0, 5).Draw(t, "events") {
			want = append(want, write(t, &stream, text))
		}

		source := &pieces{rest: stream.String(), sizes: rapid.SliceOfN(rapid.IntRange(1, 9), 1, 20).Draw(t, "sizes")}

		events, err := read(source, 0)
		if err != nil {
			t.Fatal(err)
		}

		require.Equal(t, want, events)
	})
}

// write writes an event in one of the ways that servers do, and returns it.
func write(t *rapid.T, stream *strings.Builder, text *rapid.Generator[string]) event {
	var (
		written event
		lines   []string
	)

	line := func(line string) { stream.WriteString(line + rapid.SampledFrom([]string{"\n", "\r\n"}).Draw(t, "end")) }
	field := func(name, value string) {
		colon := rapid.SampledFrom([]string{":", ": "}).Draw(t, "colon")
		if strings.HasPrefix(value, " ") {
			colon = ": "
		}

		line(name + colon + value)
	}

	if written.name = text.Draw(t, "name"); written.name != "" {
		field("event", written.name)
	}

	if written.id = text.Draw(t, "id"); written.id != "" {
		field("id", written.id)
	}

	for range rapid.IntRange(1, 3).Draw(t, "lines") {
		if rapid.Bool().Draw(t, "comment") {
			line(":" + text.Draw(t, "said"))
		}

		value := text.Draw(t, "value")
		if rapid.IntRange(0, 99).Draw(t, "long") == 0 {
			value += strings.Repeat("ż", 600_000) // more than 1 MiB
		}

		field("data", value)

		lines = append(lines, value)
	}

	line("")

	written.data = new(strings.Join(lines, "\n"))

	return written
}

// pieces is a stream that arrives in pieces of the given sizes, repeatedly.
type pieces struct {
	rest  string
	sizes []int
	next  int
}

func (p *pieces) Read(buffer []byte) (int, error) {
	if p.rest == "" {
		return 0, io.EOF
	}

	size := p.sizes[p.next%len(p.sizes)]
	p.next++

	if len(p.rest) > 1<<16 {
		size *= 1 << 12 // to finish in time
	}

	n := copy(buffer[:min(size, len(buffer))], p.rest)
	p.rest = p.rest[n:]

	return n, nil
}

// FuzzReader checks that pieces make no difference to any stream, and that events stay below the limit.
func FuzzReader(f *testing.F) {
	f.Add("id: 1\nevent: x\ndata: a\ndata: b\n\n: c\r\ndata\r\n\r\n", 3)
	f.Add("\uFEFFdata: żółw\r", 1)
	f.Add(strings.Repeat("data: "+strings.Repeat("x", 900)+"\n", 9)+"\n", 7)

	f.Fuzz(func(t *testing.T, stream string, size int) {
		const limit = 1 << 12

		once, failure := read(strings.NewReader(stream), limit)
		again, err := read(&pieces{rest: stream, sizes: []int{max(size, 1)}}, limit)
		require.Equal(t, once, again)
		require.Equal(t, failure, err)

		for _, e := range once {
			require.LessOrEqual(t, len(e.id)+len(e.name), 2*limit)

			if e.data != nil {
				require.LessOrEqual(t, len(*e.data), limit)
			}
		}
	})
}
