package mock

import (
	"bytes"
	"encoding/json"
	"net/http"
	"sort"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"tarsy.dev/tarsy/internal/kit/mock/exchange"
)

const (
	defaultJournal = 10_000
	// maxJournalBytes limits the bodies and headers in the journal.
	maxJournalBytes = 64 << 20
	// maxSpare is how much larger than the body a reused buffer may be.
	maxSpare = 4 << 10
)

// journal keeps the newest exchanges. Writing copies into reused buffers; entries are only built when they are read.
type journal struct {
	limit int

	mu sync.Mutex
	// ring grows to limit; the oldest of count records is at start.
	ring         []record
	start, count int
	last         int64
	dropped      int64
	bytes        int
}

// record is an Entry whose variable texts share one buffer: there are thousands of records, and the garbage collector scans
// the pointers of each.
type record struct {
	number, start, firstByte, duration int64
	api, method                        string
	status, reply, chunks              int32
	stream, unexpected, cancelled      bool
	// data contains the parts one after another; ends is where each part ends.
	data []byte
	ends [parts]uint32
}

// The parts of a record. Headers are pairs of name and value, each terminated by a zero byte.
const (
	partLane = iota
	partPath
	partModel
	partRoute
	partError
	partHeader
	partBody
	parts
)

func newJournal(limit int) *journal {
	if limit <= 0 {
		limit = defaultJournal
	}

	return &journal{limit: limit}
}

// add records an exchange and numbers it.
func (j *journal) add(x *exchange.Exchange) {
	j.mu.Lock()
	defer j.mu.Unlock()

	j.last++
	x.Entry.Number = j.last

	rec := j.next()
	rec.write(x)
	j.bytes += len(rec.data)

	for j.bytes > maxJournalBytes && j.count > 1 {
		j.drop()
	}
}

// next returns the record to write: a new one while there is room, otherwise the oldest.
func (j *journal) next() *record {
	if j.count == j.limit {
		j.drop()
	}

	if j.count == len(j.ring) {
		// The ring is full but may still grow: put the records in order, oldest first.
		grown := make([]record, min(max(2*len(j.ring), 64), j.limit))
		n := copy(grown, j.ring[j.start:])
		copy(grown[n:], j.ring[:j.start])
		j.ring, j.start = grown, 0
	}

	j.count++

	return j.at(j.count - 1)
}

func (j *journal) at(i int) *record { return &j.ring[(j.start+i)%len(j.ring)] }

// drop removes the oldest record and keeps its buffer for reuse.
func (j *journal) drop() {
	oldest := &j.ring[j.start]
	j.bytes -= len(oldest.data)
	oldest.data = oldest.data[:0]
	j.start = (j.start + 1) % len(j.ring)
	j.count--
	j.dropped++
}

// query selects entries; nil and zero select all.
type query struct {
	lane, api, model *string
	after            int64
	limit            int
}

func (q *query) fits(r *record) bool {
	return (q.lane == nil || *q.lane == string(r.part(partLane))) && (q.api == nil || *q.api == r.api) &&
		(q.model == nil || *q.model == string(r.part(partModel)))
}

// read returns the matching entries, oldest first, and how many entries have been dropped so far.
func (j *journal) read(q query) (entries []exchange.Entry, dropped int64) {
	j.mu.Lock()
	defer j.mu.Unlock()

	first := sort.Search(j.count, func(i int) bool { return j.at(i).number > q.after })

	for i := first; i < j.count && (q.limit == 0 || len(entries) < q.limit); i++ {
		if rec := j.at(i); q.fits(rec) {
			entries = append(entries, rec.read())
		}
	}

	return entries, j.dropped
}

// clear removes the entries of a lane, or all entries. Numbering continues.
func (j *journal) clear(lane *string) {
	j.mu.Lock()
	defer j.mu.Unlock()

	var kept []record

	size := 0

	for i := range j.count {
		if rec := j.at(i); lane != nil && string(rec.part(partLane)) != *lane {
			kept = append(kept, *rec)
			size += len(rec.data)
		}
	}

	j.ring, j.start, j.count, j.bytes = kept, 0, len(kept), size
}

// write stores an exchange in the record and reuses its buffer.
func (r *record) write(x *exchange.Exchange) {
	e := x.Entry
	r.number, r.start, r.firstByte, r.duration = e.Number, e.Start.UnixNano(), int64(e.FirstByte), int64(e.Duration)
	r.api, r.method = e.API, http.MethodPost
	// Any other method is part of a larger text, which must not be kept in memory.
	if e.Method != http.MethodPost {
		r.method = strings.Clone(e.Method)
	}

	r.status, r.reply, r.chunks = int32(e.Status), int32(e.Reply), int32(e.Chunks)
	r.stream, r.unexpected, r.cancelled = e.Stream, e.Unexpected, e.Cancelled

	if cap(r.data) > len(x.Body)+maxSpare {
		r.data = nil
	}

	r.data = r.data[:0]

	for i, text := range [...]string{e.Lane, e.Path, e.Model, e.Route, e.Error} {
		r.data = append(r.data, text...)
		r.ends[i] = uint32(len(r.data))
	}

	r.data = appendHeader(r.data, x.Request.Header)
	r.ends[partHeader] = uint32(len(r.data))
	r.data = append(r.data, x.Body...)
	r.ends[partBody] = uint32(len(r.data))
}

func (r *record) part(i int) []byte {
	if i == 0 {
		return r.data[:r.ends[0]]
	}

	return r.data[r.ends[i-1]:r.ends[i]]
}

// read returns an entry that shares nothing with the journal.
func (r *record) read() exchange.Entry {
	text := func(i int) string { return string(r.part(i)) }
	entry := exchange.Entry{
		Number: r.number, Lane: text(partLane), API: r.api, Method: r.method, Path: text(partPath),
		Header: map[string]string{}, Body: jsonBody(r.part(partBody)), Model: text(partModel), Stream: r.stream,
		Route: text(partRoute), Reply: int(r.reply), Status: int(r.status), Chunks: int(r.chunks), Error: text(partError),
		Unexpected: r.unexpected, Cancelled: r.cancelled, Start: time.Unix(0, r.start),
		FirstByte: time.Duration(r.firstByte), Duration: time.Duration(r.duration),
	}

	for rest := r.part(partHeader); len(rest) > 0; {
		var name, value []byte

		name, rest, _ = bytes.Cut(rest, []byte{0})
		value, rest, _ = bytes.Cut(rest, []byte{0})
		entry.Header[string(name)] = string(value)
	}

	return entry
}

// jsonBody returns a body as JSON, whatever its format.
func jsonBody(body []byte) json.RawMessage {
	switch {
	case len(body) == 0:
		return nil
	case utf8.Valid(body) && json.Valid(body):
		return bytes.Clone(body)
	default:
		return exchange.AppendString(nil, strings.ToValidUTF8(string(body), "\uFFFD"))
	}
}

// appendHeader appends a header without credentials.
func appendHeader(buf []byte, header http.Header) []byte {
	for name, values := range header {
		if secretHeader(name) {
			continue
		}

		buf = append(append(buf, name...), 0)

		for i, value := range values {
			if i > 0 {
				buf = append(buf, ", "...)
			}

			buf = append(buf, value...)
		}

		buf = append(buf, 0)
	}

	return buf
}

func secretHeader(name string) bool {
	switch name {
	case "Authorization", "X-Api-Key", "X-Goog-Api-Key", "Api-Key", "Cookie", "Proxy-Authorization":
		return true
	default:
		return false
	}
}

// Journal returns the finished exchanges of a lane, in the order in which they ended.
func (s *Server) Journal(lane string) []exchange.Entry {
	entries, _ := s.journal.read(query{lane: &lane})

	return entries
}
