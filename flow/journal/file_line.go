package journal

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"time"
)

// line is one record in a file. Each record has its own line, so that grep, jq and tail work on the files; all lines of a batch
// but the last are marked. A file whose last line has the mark ends in the middle of a batch, as does one whose last line is
// not terminated.
type line struct {
	Seq   Position        `json:"seq"`
	At    time.Time       `json:"at"`
	More  bool            `json:"more,omitempty"` // the batch continues on the next line
	Entry json.RawMessage `json:"entry"`
}

// encodeLines appends the lines of a batch to buf.
func encodeLines(buf []byte, first Position, at time.Time, entries []json.RawMessage) ([]byte, error) {
	for i, entry := range entries {
		raw, err := json.Marshal(line{Seq: first + Position(i), At: at.UTC(), More: i < len(entries)-1, Entry: entry})
		if err != nil {
			return nil, fmt.Errorf("encode journal record %d: %w", first+Position(i), err)
		}

		buf = append(append(buf, raw...), '\n')
	}

	return buf, nil
}

// decodeLine decodes a line, with or without its line ending.
func decodeLine(raw []byte) (line, error) {
	var l line

	if err := json.Unmarshal(raw, &l); err != nil {
		return l, err
	}

	if l.Seq <= 0 || l.Entry == nil {
		return l, errors.New("not a journal record")
	}

	return l, nil
}

// CorruptError reports where a journal's files are damaged.
type CorruptError struct {
	Path   string
	Line   int
	Reason string
}

// Error implements error.
func (e *CorruptError) Error() string {
	return fmt.Sprintf("the journal file is corrupt: %s:%d: %s", e.Path, e.Line, e.Reason)
}

// corruptAt returns the error for damage at an offset. Lines are counted only here.
func corruptAt(file *os.File, offset int64, reason string) error {
	number := 1
	reader := bufio.NewReader(io.NewSectionReader(file, 0, offset))
	buf := make([]byte, readSize)

	for {
		n, err := reader.Read(buf)
		number += bytes.Count(buf[:n], []byte{'\n'})

		if err != nil {
			return &CorruptError{Path: file.Name(), Line: number, Reason: reason}
		}
	}
}
