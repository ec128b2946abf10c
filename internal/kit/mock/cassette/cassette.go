// Package cassette records the answers of a real API and replays them: requests and responses as YAML that people can read
// and review, chunk by chunk, without secrets. It knows HTTP and the exchange of a virtual server, but no API's format.
//
// A request that no recording matches is an error that describes the difference, never an answer that is almost right.
package cassette

import (
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/goccy/go-yaml"
)

const version = 1

// Cassette is the content of a file.
type Cassette struct {
	// Upstream is the API that was recorded.
	Upstream string
	// Ignore lists fields of requests that may differ, at any depth.
	Ignore     []string
	Recordings []Recording
}

// Recording is one request and its answer.
type Recording struct {
	Method string
	// Path includes the query, without secrets.
	Path   string
	Body   []byte
	Status int
	Header map[string]string
	Chunks []Chunk
}

// Chunk is a piece of an answer, and the time since the previous piece or the request.
type Chunk struct {
	After time.Duration
	Data  []byte
}

// The file in YAML.
type (
	fileForm struct {
		Version    int             `yaml:"version"`
		Upstream   string          `yaml:"upstream"`
		Ignore     []string        `yaml:"ignore"`
		Recordings []recordingForm `yaml:"recordings"`
	}
	recordingForm struct {
		Request struct {
			Method string   `yaml:"method"`
			Path   string   `yaml:"path"`
			Body   *content `yaml:"body"`
		} `yaml:"request"`
		Response struct {
			Status int               `yaml:"status"`
			Header map[string]string `yaml:"header"`
			Chunks []chunkForm       `yaml:"chunks"`
		} `yaml:"response"`
	}
	chunkForm struct {
		After   time.Duration `yaml:"after"`
		Content content       `yaml:",inline"`
	}
)

var errVersion = errors.New("it is not a cassette of version 1")

// Load reads a cassette.
func Load(path string) (*Cassette, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("read the cassette: %w", err)
	}

	c, err := parse(text)
	if err != nil {
		return nil, fmt.Errorf("read the cassette %s: %w", path, err)
	}

	return c, nil
}

func parse(text []byte) (*Cassette, error) {
	var form fileForm
	if err := yaml.UnmarshalWithOptions(text, &form, yaml.Strict()); err != nil {
		return nil, errors.New(yaml.FormatError(err, false, false))
	}

	if form.Version != version {
		return nil, errVersion
	}

	c := &Cassette{Upstream: form.Upstream, Ignore: form.Ignore}

	for i := range form.Recordings {
		recording, err := form.Recordings[i].recording()
		if err != nil {
			return nil, fmt.Errorf("recording %d: %w", i+1, err)
		}

		c.Recordings = append(c.Recordings, recording)
	}

	return c, nil
}

var errIncomplete = errors.New("it needs the request's method and path, and the response's status")

func (f *recordingForm) recording() (Recording, error) {
	r := Recording{
		Method: f.Request.Method, Path: f.Request.Path, Status: f.Response.Status, Header: f.Response.Header,
	}
	if r.Method == "" || r.Path == "" || r.Status < 200 || r.Status > 599 {
		return Recording{}, errIncomplete
	}

	if f.Request.Body != nil {
		body, err := f.Request.Body.bytes()
		if err != nil {
			return Recording{}, fmt.Errorf("the request's body: %w", err)
		}

		r.Body = body
	}

	for i := range f.Response.Chunks {
		data, err := f.Response.Chunks[i].Content.bytes()
		if err != nil {
			return Recording{}, fmt.Errorf("chunk %d: %w", i+1, err)
		}

		r.Chunks = append(r.Chunks, Chunk{After: f.Response.Chunks[i].After, Data: data})
	}

	return r, nil
}
