package api

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
)

// shortAnswer is the length in bytes up to which a response is not worth compressing: it fits a packet either way.
const shortAnswer = 1400

// compressors are pooled: each has tables of hundreds of kilobytes.
var compressors = sync.Pool{New: func() any {
	writer, err := gzip.NewWriterLevel(nil, gzip.BestSpeed)
	if err != nil {
		panic(err) // the level is a constant
	}

	return writer
}}

// compressible reports whether the response to a request can be compressed: reads, for callers that accept gzip. Responses on routes
// without a scope are not compressed: one is the login, with the CSRF token. A secret must not be compressed next to text that an
// attacker chooses.
func (found route) compressible(r *http.Request) bool {
	return r.Method == http.MethodGet && !found.stream && found.scope != "" && r.Header.Get("Upgrade") == "" &&
		accepts(r.Header.Values("Accept-Encoding"), "gzip")
}

// answer runs the handler of a request, and compresses the response where that helps.
func (s *Server) answer(w http.ResponseWriter, r *http.Request, found route) {
	if !found.compressible(r) {
		s.mux.ServeHTTP(w, r)

		return
	}

	answer := &compressedWriter{ResponseWriter: w}
	s.mux.ServeHTTP(answer, r)

	err := answer.finish()
	if err != nil {
		s.logger.DebugContext(r.Context(), "answer not delivered", "error", err)
	}
}

// compressedWriter compresses a response if it is long and JSON. It delays the header until the first write of the body, so it is for
// responses that are written in one piece; finish sends the rest.
type compressedWriter struct {
	http.ResponseWriter

	status int
	begun  bool
	gzip   *gzip.Writer
}

func (w *compressedWriter) WriteHeader(status int) {
	if !w.begun {
		w.status = status
	}
}

func (w *compressedWriter) Write(text []byte) (int, error) {
	w.begin(len(text))

	if w.gzip != nil {
		return w.gzip.Write(text)
	}

	return w.ResponseWriter.Write(text)
}

// Unwrap gives http.ResponseController the underlying writer. Its users write in pieces, which are not held back.
func (w *compressedWriter) Unwrap() http.ResponseWriter {
	w.begin(0)

	return w.ResponseWriter
}

func (w *compressedWriter) begin(length int) {
	if w.begun {
		return
	}

	w.begun = true
	header := w.Header()

	if length > shortAnswer && strings.HasPrefix(header.Get("Content-Type"), jsonType) && header.Get("Content-Encoding") == "" {
		header.Set("Content-Encoding", "gzip")
		header.Add("Vary", "Accept-Encoding")
		header.Del("Content-Length")

		w.gzip, _ = compressors.Get().(*gzip.Writer)
		w.gzip.Reset(w.ResponseWriter)
	}

	if w.status != 0 {
		w.ResponseWriter.WriteHeader(w.status)
	}
}

// finish ends the response. One whose handler panicked is not finished: a client must not take half of it for the whole.
func (w *compressedWriter) finish() error {
	w.begin(0)

	if w.gzip == nil {
		return nil
	}

	defer compressors.Put(w.gzip)

	return w.gzip.Close()
}

// compress returns text compressed as small as gzip makes it.
func compress(text []byte) []byte {
	var b bytes.Buffer

	writer, err := gzip.NewWriterLevel(&b, gzip.BestCompression)
	if err == nil {
		_, err = writer.Write(text)
	}

	if err == nil {
		err = writer.Close()
	}

	if err != nil {
		panic(fmt.Sprintf("api: compress: %v", err)) // a bytes.Buffer never fails
	}

	return b.Bytes()
}

// decompress returns what compress got.
func decompress(zipped []byte) []byte {
	reader, err := gzip.NewReader(bytes.NewReader(zipped))
	if err != nil {
		panic(fmt.Sprintf("api: decompress: %v", err)) // it is our own
	}

	text, err := io.ReadAll(reader)
	if err != nil {
		panic(fmt.Sprintf("api: decompress: %v", err))
	}

	return text
}
