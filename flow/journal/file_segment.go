package journal

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

const (
	segmentSuffix = ".ndjson"
	readSize      = 64 << 10
)

// segment is one file of a journal. Its name is the position of its first record.
type segment struct {
	first Position
	path  string
}

func newSegment(dir string, first Position) segment {
	return segment{first: first, path: filepath.Join(dir, fmt.Sprintf("%020d", first)+segmentSuffix)}
}

// listSegments returns the segments in a directory in order.
func listSegments(dir string) ([]segment, error) {
	files, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}

	var segments []segment

	for _, file := range files {
		digits, ok := strings.CutSuffix(file.Name(), segmentSuffix)
		if !ok {
			continue
		}

		first, err := strconv.ParseInt(digits, 10, 64)
		if err != nil || first <= 0 {
			return nil, fmt.Errorf("%s is not a segment: its name must be the number of its first record", filepath.Join(dir, file.Name()))
		}

		segments = append(segments, segment{first: Position(first), path: filepath.Join(dir, file.Name())})
	}

	slices.SortFunc(segments, func(a, b segment) int { return int(a.first - b.first) })

	return segments, nil
}

// checkFull checks that a segment that is not the last one ends right before the next one. Its contents are checked when they
// are read.
func (s segment) checkFull(next Position) error {
	file, err := os.Open(s.path)
	if err != nil {
		return err
	}
	defer file.Close() //nolint:errcheck // only read

	info, err := file.Stat()
	if err != nil {
		return err
	}

	raw, err := newBackwardLines(file, info.Size()).next()
	if err != nil && !errors.Is(err, io.EOF) {
		return err
	}

	last, err := decodeLine(raw)

	switch {
	case err != nil || !bytes.HasSuffix(raw, []byte{'\n'}):
		return corruptAt(file, info.Size()-int64(len(raw)), "the segment does not end with a whole record, and others follow")
	case last.More || last.Seq+1 != next:
		return corruptAt(file, info.Size()-int64(len(raw)), fmt.Sprintf("the segment ends with record %d, and the next one begins with %d", last.Seq, next))
	}

	return nil
}

// scanned is the result of scanning the last segment.
type scanned struct {
	size  int64    // of the complete batches
	last  Position // the last record of the complete batches
	total int64
	lines int // after the complete batches
}

// scan scans the last segment. What follows the last complete batch counts as unfinished data of a dying process if it looks
// like that: the file ends inside a line, or inside a batch, or in zeros, which is how file systems show a block that did not
// reach the disk. Anything else that cannot be read is an error, because it may have been acknowledged.
func (s segment) scan(file *os.File) (scanned, error) {
	found := scanned{last: s.first - 1}
	reader := bufio.NewReaderSize(io.NewSectionReader(file, 0, 1<<62), readSize)
	expected := s.first

	var damage error // in a terminated line; tolerated if it contains zeros and nothing readable follows

	for {
		raw, err := reader.ReadBytes('\n')
		if err != nil && !errors.Is(err, io.EOF) {
			return found, err
		}

		if len(raw) == 0 {
			break
		}

		start := found.total
		found.total += int64(len(raw))
		found.lines++

		if err != nil {
			break // no line ending: the last line is incomplete
		}

		l, err := decodeLine(raw)

		switch {
		case damage != nil && err == nil:
			return found, damage
		case err == nil && l.Seq != expected:
			return found, corruptAt(file, start, fmt.Sprintf("found record %d where record %d was expected", l.Seq, expected))
		case err != nil && damage == nil:
			damage = corruptAt(file, start, err.Error())
			if !bytes.ContainsRune(raw, 0) {
				return found, damage
			}
		}

		if err != nil {
			continue
		}

		expected++

		if !l.More {
			found.size, found.last, found.lines = found.total, l.Seq, 0
		}
	}

	return found, nil //nolint:nilerr // the error is the end of the file
}

// seek returns the offset of a record's line in a segment of the given size. It uses binary search: lines contain their number.
func (s segment) seek(file *os.File, size int64, position Position) (int64, error) {
	low, high := int64(0), size // the line begins in [low, high), and some line begins at low

	for high-low > readSize {
		middle := low + (high-low)/2
		reader := bufio.NewReader(io.NewSectionReader(file, middle, size-middle))

		skipped, err := reader.ReadBytes('\n')
		if err != nil && !errors.Is(err, io.EOF) {
			return 0, err
		}

		start := middle + int64(len(skipped))
		if start >= high {
			high = middle + 1 // no line begins after the middle

			continue
		}

		l, err := readLine(file, reader, start)
		if err != nil {
			return 0, err
		}

		if l.Seq <= position {
			low = start
		} else {
			high = middle + 1
		}
	}

	reader := bufio.NewReader(io.NewSectionReader(file, low, size-low))

	for {
		raw, err := reader.ReadBytes('\n')
		if err != nil {
			return 0, corruptAt(file, low, fmt.Sprintf("record %d is missing", position))
		}

		l, err := decodeLine(raw)

		switch {
		case err != nil:
			return 0, corruptAt(file, low, err.Error())
		case l.Seq == position:
			return low, nil
		}

		low += int64(len(raw))
	}
}

// readLine decodes the next line of a reader that is at the offset.
func readLine(file *os.File, reader *bufio.Reader, offset int64) (line, error) {
	raw, err := reader.ReadBytes('\n')
	if err != nil && !errors.Is(err, io.EOF) {
		return line{}, err
	}

	l, err := decodeLine(raw)
	if err != nil {
		return l, corruptAt(file, offset, err.Error())
	}

	return l, nil
}
