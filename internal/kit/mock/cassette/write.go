package cassette

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
)

// head returns the part of the file before the recordings.
func (c *Cassette) head() []byte {
	e := &emitter{}
	e.text("# Recorded by tarsy mock --record; replayed by tarsy mock --cassette. Fields of requests that may differ belong into ignore.\n")

	members := object{{"version", json.Number(strconv.Itoa(version))}, {"upstream", c.Upstream}}

	ignore := make(list, len(c.Ignore))
	for i, name := range c.Ignore {
		ignore[i] = name
	}

	e.members(append(members, pair{"ignore", ignore}), 0, false)
	e.text("recordings:\n")

	return e.out
}

// encode returns the recording as an item of the list. If the readable form does not read back unchanged, it uses base64.
func (r *Recording) encode() []byte {
	readable := r.emit(false)

	back, err := parse(append(fmt.Appendf(nil, "version: %d\nrecordings:\n", version), readable...))
	if err == nil && len(back.Recordings) == 1 && r.equal(&back.Recordings[0]) {
		return readable
	}

	return r.emit(true)
}

func (r *Recording) equal(other *Recording) bool {
	chunks := slices.EqualFunc(r.Chunks, other.Chunks, func(a, b Chunk) bool { return a.After == b.After && bytes.Equal(a.Data, b.Data) })

	return chunks && r.Method == other.Method && r.Path == other.Path && r.Status == other.Status &&
		bytes.Equal(r.Body, other.Body) && reflect.DeepEqual(r.Header, other.Header)
}

func (r *Recording) emit(plain bool) []byte {
	request := object{{"method", r.Method}, {"path", r.Path}}
	if len(r.Body) > 0 {
		request = append(request, pair{"body", describe(r.Body, false, plain)})
	}

	response := object{{"status", json.Number(strconv.Itoa(r.Status))}}

	if len(r.Header) > 0 {
		var header object
		for _, name := range slices.Sorted(maps.Keys(r.Header)) {
			header = append(header, pair{name, r.Header[name]})
		}

		response = append(response, pair{"header", header})
	}

	if len(r.Chunks) > 0 {
		events := strings.HasPrefix(r.Header["Content-Type"], "text/event-stream")
		chunks := list{}

		for _, chunk := range r.Chunks {
			described := describe(chunk.Data, events, plain)
			if chunk.After > 0 {
				described = append(object{{"after", json.Number(chunk.After.String())}}, described...)
			}

			chunks = append(chunks, described)
		}

		response = append(response, pair{"chunks", chunks})
	}

	e := &emitter{}
	e.items(list{object{{"request", request}, {"response", response}}}, step)

	return e.out
}

// replace writes a file atomically: readers find the old or the new one, whole. Only the owner can read it.
func replace(path string, text []byte) error {
	file, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+".*")
	if err != nil {
		return fmt.Errorf("write the cassette: %w", err)
	}

	_, err = file.Write(text)
	if closing := file.Close(); err == nil {
		err = closing
	}

	if err == nil {
		err = os.Rename(file.Name(), path)
	}

	if err != nil {
		_ = os.Remove(file.Name())

		return fmt.Errorf("write the cassette: %w", err)
	}

	return nil
}
