package journal_test

import (
	"bytes"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/jonboulle/clockwork"
	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy/flow/journal"
)

func TestFileIsNDJSON(t *testing.T) {
	t.Parallel()

	at := time.Date(2026, 1, 2, 3, 4, 5, 600_000_000, time.FixedZone("", 3600))
	config := journal.FileConfig{Dir: t.TempDir(), Clock: clockwork.NewFakeClockAt(at)}
	file := openFile(t, config)
	add(t, file, "a")
	add(t, file, "b\nb", "c")

	content, err := os.ReadFile(filepath.Join(config.Dir, "00000000000000000001.ndjson"))
	require.NoError(t, err)
	require.Equal(t, //nolint:testifylint // three documents, compared byte by byte
		`{"seq":1,"at":"2026-01-02T02:04:05.6Z","entry":"a"}
{"seq":2,"at":"2026-01-02T02:04:05.6Z","more":true,"entry":"b\nb"}
{"seq":3,"at":"2026-01-02T02:04:05.6Z","entry":"c"}
`, string(content))
}

// written writes a journal of several batches. It returns the path and content of its only file, and where the batches end.
func written(t *testing.T) (path string, content []byte, ends []int) {
	t.Helper()

	config := journal.FileConfig{Dir: t.TempDir()}
	file := openFile(t, config)
	path = filepath.Join(config.Dir, "00000000000000000001.ndjson")

	for _, batch := range [][]string{{"1"}, {"2", "3", "4"}, {"5 «ü»"}, {"6", "7"}} {
		add(t, file, batch...)

		info, err := os.Stat(path)
		require.NoError(t, err)

		ends = append(ends, int(info.Size()))
	}

	require.NoError(t, file.Close())

	content, err := os.ReadFile(path)
	require.NoError(t, err)

	return path, content, ends
}

// A process can die at any byte of a write.
func TestFileCutAtAnyByteKeepsItsWholeBatches(t *testing.T) {
	t.Parallel()

	path, content, ends := written(t)
	last := map[int]int{0: 0, ends[0]: 1, ends[1]: 4, ends[2]: 5, ends[3]: 7}
	end := 0

	for cut := range len(content) + 1 {
		if _, ok := last[cut]; ok {
			end = cut
		}

		// A block that did not reach the disk reads as zeros.
		for _, lost := range []string{"", strings.Repeat("\x00", 10)} {
			require.NoError(t, os.WriteFile(path, []byte(string(content[:cut])+lost), 0o600))

			var log bytes.Buffer

			file, err := journal.OpenFile[string](journal.FileConfig{
				Dir: filepath.Dir(path), Logger: slog.New(slog.NewTextHandler(&log, nil)), Sync: journal.SyncNever,
			})
			require.NoError(t, err)
			require.Len(t, entries(t, file, 0), last[end])

			info, err := os.Stat(path)
			require.NoError(t, err)
			require.EqualValues(t, end, info.Size(), "nothing is left that a shorter batch would not cover")

			dropped := cut - end + len(lost)
			require.EqualValues(t, dropped, file.Recovery().Bytes)
			require.Equal(t, dropped > 0, file.Recovery().Path == path)
			require.Equal(t, dropped > 0, strings.Contains(log.String(), fmt.Sprintf("bytes=%d", dropped)))

			position, err := file.Append(t.Context(), "next")
			require.NoError(t, err)
			require.EqualValues(t, last[end]+1, position)
			require.Equal(t, "next", entries(t, file, position-1)[0])
			require.NoError(t, file.Close())
		}
	}
}

func TestFileCountsTheLinesThatItCutsOff(t *testing.T) {
	t.Parallel()

	path, content, ends := written(t)
	require.NoError(t, os.WriteFile(path, content[:ends[1]-3], 0o600))

	file := openFile(t, journal.FileConfig{Dir: filepath.Dir(path)})
	require.Equal(t, journal.Recovery{Path: path, Bytes: int64(ends[1] - 3 - ends[0]), Lines: 3}, file.Recovery())
}

func TestDamageBeforeTheEndIsReportedWithFileAndLine(t *testing.T) {
	t.Parallel()

	path, content, ends := written(t)

	for name, test := range map[string]struct {
		content string
		line    int
	}{
		"garbage in the middle":      {string(content[:ends[0]]) + "garbage\n" + string(content[ends[0]:]), 2},
		"zeros in the middle":        {string(content[:ends[0]]) + "\x00\x00\n" + string(content[ends[0]:]), 2},
		"a whole line of garbage":    {string(content) + "garbage\n", 8},
		"another kind of JSON":       {string(content) + `{"a":1}` + "\n", 8},
		"a line that is missing":     {string(content[:ends[0]]) + string(content[ends[1]:]), 2},
		"a line that is there twice": {string(content[:ends[0]]) + string(content), 2},
		"a changed first line":       {strings.Replace(string(content), `"seq":1`, `"seq"=1`, 1), 1},
	} {
		t.Run(name, func(t *testing.T) {
			require.NoError(t, os.WriteFile(path, []byte(test.content), 0o600))

			_, err := journal.OpenFile[string](journal.FileConfig{Dir: filepath.Dir(path)})

			var corrupt *journal.CorruptError

			require.ErrorAs(t, err, &corrupt)
			require.Equal(t, path, corrupt.Path)
			require.Equal(t, test.line, corrupt.Line, err)

			after, err := os.ReadFile(path)
			require.NoError(t, err)
			require.Equal(t, test.content, string(after), "nothing is cut off")
		})
	}
}

func TestDamagedOldSegmentIsReportedWithFileAndLine(t *testing.T) {
	t.Parallel()

	config := journal.FileConfig{Dir: t.TempDir(), SegmentBytes: 1 << 20}

	write := func(size int64) {
		config.SegmentBytes = size
		file := openFile(t, config)

		for i := range 5 {
			add(t, file, fmt.Sprint(i))
		}

		require.NoError(t, file.Close())
	}

	write(1 << 20)
	write(1)

	first := segments(t, config.Dir)[0]
	content, err := os.ReadFile(first)
	require.NoError(t, err)

	// Damage inside a segment is found when it is read.
	require.NoError(t, os.WriteFile(first, bytes.Replace(content, []byte(`{"seq":3`), []byte(`["seq":3`), 1), 0o600))

	file := openFile(t, config)

	var corrupt *journal.CorruptError

	_, err = journal.WaitFor(t.Context(), file, 1, func(string) bool { return false })
	require.ErrorAs(t, err, &corrupt)
	require.Equal(t, first, corrupt.Path)
	require.Equal(t, 3, corrupt.Line)

	corrupt = nil

	seen := 0
	for _, err := range file.Backward(t.Context(), 0) {
		if seen++; seen == 8 {
			require.ErrorAs(t, err, &corrupt)
		}
	}

	require.Equal(t, 8, seen)
	require.Equal(t, 3, corrupt.Line)
	require.NoError(t, file.Close())

	// Damage at the end of a segment, or a missing segment, is found when the journal is opened.
	for _, damaged := range [][]byte{content[:len(content)-1], content[:len(content)/2], {}} {
		require.NoError(t, os.WriteFile(first, damaged, 0o600))

		_, err = journal.OpenFile[string](config)
		require.ErrorAs(t, err, &corrupt)
		require.Equal(t, first, corrupt.Path)
	}

	require.NoError(t, os.WriteFile(first, content, 0o600))
	require.NoError(t, openFile(t, config).Close())
	require.NoError(t, os.Remove(segments(t, config.Dir)[2]))

	_, err = journal.OpenFile[string](config)
	require.ErrorAs(t, err, &corrupt)
	require.ErrorContains(t, err, "ends with record 6, and the next one begins with 8")
}

// Positions are found by binary search, which lines of very different lengths must not mislead.
func TestEveryRecordOfALargeSegmentIsFound(t *testing.T) {
	t.Parallel()

	file := openFile(t, journal.FileConfig{Sync: journal.SyncNever})

	const n = 400

	for i := range n {
		add(t, file, fmt.Sprint(i+1, " ", strings.Repeat("x", i%7*i%7*3000+i%13*100)))
	}

	for after := range journal.Position(n) {
		record, err := journal.WaitFor(t.Context(), file, after, func(string) bool { return true })
		require.NoError(t, err)
		require.Equal(t, after+1, record.Position)
		require.True(t, strings.HasPrefix(record.Entry, fmt.Sprint(after+1, " ")))

		for record, err := range file.Backward(t.Context(), after+1) {
			require.NoError(t, err)
			require.Equal(t, after, record.Position)

			break
		}
	}
}
