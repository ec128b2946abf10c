package journal

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"os"
	"slices"
)

// tail yields the lines after a position. It keeps its current segment open.
func (l *fileLog) tail(ctx context.Context, after Position) iter.Seq2[line, error] {
	return func(yield func(line, error) bool) {
		next := max(after, 0) + 1

		var at *place
		defer func() { at.close() }()

		for {
			view, err := l.view()

			switch {
			case ctx.Err() != nil:
				err = context.Cause(ctx)
			case err != nil:
			case next < view.segments[0].first:
				err = &TrimmedError{First: view.segments[0].first}
			case next > view.head:
				select {
				case <-view.grown:
				case <-ctx.Done():
				}

				continue
			default:
				at, err = l.advance(at, view, next)
			}

			if err != nil {
				yield(line{}, err)

				return
			}

			for ctx.Err() == nil {
				found, err := at.read(next)
				if errors.Is(err, io.EOF) {
					break
				}

				if !yield(found, err) || err != nil {
					return
				}

				next++
			}
		}
	}
}

// place is where a tail reads: a segment, an offset in it and the end of its published part.
type place struct {
	segment
	file   *os.File
	offset int64
	end    int64
	reader *bufio.Reader
}

// advance returns the place of a published record: the given place, or a new one in another segment. If that segment has been
// dropped, it returns nil, which reads as io.EOF; the next view then shows that the record is gone.
func (l *fileLog) advance(at *place, view fileView, next Position) (*place, error) {
	index := view.find(next)
	wanted := view.segments[index]

	if at == nil || at.first != wanted.first {
		at.close()

		file, end, err := l.openSegment(view, index)
		if file == nil {
			return nil, err
		}

		at = &place{segment: wanted, file: file, end: end, reader: bufio.NewReaderSize(nil, readSize)}

		if at.offset, err = wanted.seek(file, end, next); err != nil {
			return at, err
		}
	} else if end, err := view.size(index, at.file); err != nil {
		return at, err
	} else {
		at.end = end
	}

	at.reader.Reset(io.NewSectionReader(at.file, at.offset, at.end-at.offset))

	return at, nil
}

func (p *place) close() {
	if p != nil {
		_ = p.file.Close()
	}
}

// read returns the next line, which must be the wanted record, or io.EOF at the end of the published part.
func (p *place) read(wanted Position) (line, error) {
	if p == nil {
		return line{}, io.EOF
	}

	raw, err := p.reader.ReadBytes('\n')

	switch {
	case errors.Is(err, io.EOF) && len(raw) == 0:
		return line{}, io.EOF
	case err != nil && !errors.Is(err, io.EOF):
		return line{}, fmt.Errorf("read the journal: %w", err)
	}

	found, err := checkLine(p.file, p.offset, raw, wanted)
	p.offset += int64(len(raw))

	return found, err
}

// checkLine decodes a line that must be the wanted record.
func checkLine(file *os.File, offset int64, raw []byte, wanted Position) (line, error) {
	found, err := decodeLine(raw)

	switch {
	case err != nil:
		return line{}, corruptAt(file, offset, err.Error())
	case found.Seq != wanted:
		return line{}, corruptAt(file, offset, fmt.Sprintf("found record %d where record %d was expected", found.Seq, wanted))
	}

	return found, nil
}

// find returns the index of the segment that contains a record.
func (v fileView) find(position Position) int {
	index, found := slices.BinarySearchFunc(v.segments, position, func(s segment, p Position) int { return int(s.first - p) })
	if !found {
		index--
	}

	return index
}

// size returns how much of a segment can be read.
func (v fileView) size(index int, file *os.File) (int64, error) {
	if index == len(v.segments)-1 {
		return v.end, nil
	}

	info, err := file.Stat()
	if err != nil {
		return 0, fmt.Errorf("read the journal: %w", err)
	}

	return info.Size(), nil
}

// openSegment opens a segment for reading. It returns no file and no error if the segment has been dropped.
func (l *fileLog) openSegment(view fileView, index int) (*os.File, int64, error) {
	wanted := view.segments[index]

	file, err := os.Open(wanted.path)
	if errors.Is(err, fs.ErrNotExist) {
		if now, viewErr := l.view(); viewErr != nil || now.segments[0].first > wanted.first {
			return nil, 0, viewErr
		}
	}

	if err != nil {
		return nil, 0, fmt.Errorf("read the journal: %w", err)
	}

	end, err := view.size(index, file)
	if err != nil {
		_ = file.Close()

		return nil, 0, err
	}

	return file, end, nil
}

// backward yields the lines before a position, newest first.
func (l *fileLog) backward(ctx context.Context, before Position) iter.Seq2[line, error] {
	return func(yield func(line, error) bool) {
		view, err := l.view()
		if err != nil {
			yield(line{}, err)

			return
		}

		next := view.head
		if before > 0 {
			next = min(next, before-1)
		}

		for next >= view.segments[0].first {
			index := view.find(next)

			file, end, err := l.openSegment(view, index)
			if err != nil {
				yield(line{}, err)
			}

			if file == nil {
				return
			}

			more := descend(ctx, view, index, file, end, next, yield)
			_ = file.Close()

			if !more {
				return
			}

			next = view.segments[index].first - 1
		}
	}
}

// descend yields the lines of one segment from a record down to its first.
func descend(ctx context.Context, view fileView, index int, file *os.File, end int64, from Position, yield func(line, error) bool) bool {
	s, newest := view.segments[index], view.head
	if index+1 < len(view.segments) {
		newest = view.segments[index+1].first - 1
	}

	offset := end

	if from < newest {
		start, err := s.seek(file, end, from+1)
		if err != nil {
			yield(line{}, err)

			return false
		}

		offset = start
	}

	lines := newBackwardLines(file, offset)

	for next := from; next >= s.first; next-- {
		if ctx.Err() != nil {
			yield(line{}, context.Cause(ctx))

			return false
		}

		raw, err := lines.next()
		if err != nil {
			yield(line{}, fmt.Errorf("read the journal: %w", err))

			return false
		}

		found, err := checkLine(file, lines.offset(), raw, next)
		if !yield(found, err) || err != nil {
			return false
		}
	}

	return true
}

// backwardLines reads lines from the end of a file to its beginning.
type backwardLines struct {
	file  *os.File
	start int64  // the offset of buf in the file
	buf   []byte // read but not returned yet; ends where the next line does
}

func newBackwardLines(file *os.File, end int64) *backwardLines {
	return &backwardLines{file: file, start: end}
}

// offset returns where the last returned line begins.
func (b *backwardLines) offset() int64 { return b.start + int64(len(b.buf)) }

// next returns the previous line, including its line ending, or io.EOF.
func (b *backwardLines) next() ([]byte, error) {
	for {
		if len(b.buf) > 0 {
			if i := bytes.LastIndexByte(b.buf[:len(b.buf)-1], '\n'); i >= 0 || b.start == 0 {
				found := b.buf[i+1:]
				b.buf = b.buf[:i+1]

				return found, nil
			}
		} else if b.start == 0 {
			return nil, io.EOF
		}

		// Each read is at least as long as the buffered part of the line, so that long lines are not copied repeatedly.
		n := min(b.start, max(readSize, int64(len(b.buf))))
		grown := make([]byte, n, n+int64(len(b.buf)))

		if _, err := b.file.ReadAt(grown, b.start-n); err != nil {
			return nil, err
		}

		b.start -= n
		b.buf = append(grown, b.buf...)
	}
}
