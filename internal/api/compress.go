package api

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"net/http"
	"strings"
	"sync"
)

// shortAnswer is what an answer is long, in bytes, that is not worth compressing: it fits a packet either way.
const shortAnswer = 1400

// compressors are reused: one has tables of hundreds of kilobytes.
var compressors = sync.Pool{New: func() any {
	writer, err := gzip.NewWriterLevel(nil, gzip.BestSpeed)
	if err != nil {
		panic(err) // the level is a constant
	}

	return writer
}}

// compressible reports whether the answer to a request may be compressed: what reads, for callers that take it. Answers to
// callers without a key are left alone: the login is among them, and with it the token against forged requests. What is
// secret must not be compressed beside what a stranger may choose.
func (found route) compressible(r *http.Request) bool {
	return r.Method == http.MethodGet && !found.stream && found.scope != "" && r.Header.Get("Upgrade") == "" &&
		accepts(r.Header.Values("Accept-Encoding"), "gzip")
}

// answer runs the handler of a request, and compresses what it answers where that is of use.
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

// compressedWriter compresses an answer if it is JSON and long. It waits with the header until the first of the body is
// there, so it is for answers that come whole; finish sends what is left.
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

// Unwrap gives http.ResponseController what is below. Whoever uses it writes in pieces, and those are not held back.
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

// finish ends the answer. One whose handler panicked is not finished: nobody may take half of it for the whole.
func (w *compressedWriter) finish() error {
	w.begin(0)

	if w.gzip == nil {
		return nil
	}

	defer compressors.Put(w.gzip)

	return w.gzip.Close()
}

// compress returns a whole text compressed, as small as gzip makes it.
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
		panic(fmt.Sprintf("api: compress: %v", err)) // a buffer takes everything
	}

	return b.Bytes()
}
