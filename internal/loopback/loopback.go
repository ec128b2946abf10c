// Package loopback sends requests to the HTTP handler of this process on behalf of the sender of another request, so that the
// API authorizes them like any other.
package loopback

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"sync"
)

// credentials returns the headers that identify the caller and its origin to the API.
func credentials() []string {
	return []string{
		"Authorization", "Cookie", "X-Csrf-Token", "X-Forwarded-For", "X-Forwarded-Proto", "X-Forwarded-User", "X-Forwarded-Email",
		"X-Forwarded-Groups",
		"Origin", "Sec-Fetch-Site", "X-Request-Id",
	}
}

// Transport sends requests to a handler on behalf of the sender of another request. Responses can be streams.
type Transport struct {
	API  http.Handler
	From *http.Request
}

// RoundTrip implements http.RoundTripper.
func (t *Transport) RoundTrip(r *http.Request) (*http.Response, error) {
	ctx, cancel := context.WithCancel(r.Context())
	request := r.Clone(ctx)
	request.RequestURI, request.Host = r.URL.RequestURI(), t.From.Host
	request.RemoteAddr, request.TLS = t.From.RemoteAddr, t.From.TLS

	for _, name := range credentials() {
		if values := t.From.Header.Values(name); len(values) > 0 {
			request.Header[http.CanonicalHeaderKey(name)] = values
		}
	}

	if request.Body == nil {
		request.Body = http.NoBody
	}

	reader, writer := io.Pipe()
	answer := &answer{header: http.Header{}, body: writer, begun: make(chan struct{})}
	body := &answerBody{PipeReader: reader, cancel: cancel, done: make(chan struct{})}

	go func() {
		defer close(body.done)

		answer.serve(t.API, request)
	}()

	select {
	case <-answer.begun:
	case <-ctx.Done():
		// Nothing reads the body anymore; closing it also ends the handler.
		_ = body.Close()

		return nil, context.Cause(ctx)
	}

	return &http.Response{
		Status: fmt.Sprintf("%d %s", answer.status, http.StatusText(answer.status)), StatusCode: answer.status,
		Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1, Header: answer.sent, Body: body, ContentLength: -1, Request: r,
	}, nil
}

// answerBody is a response body that the handler may still be writing.
type answerBody struct {
	*io.PipeReader

	cancel context.CancelFunc
	done   chan struct{}
}

// Close cancels the handler's request and waits until the handler returns.
func (b *answerBody) Close() error {
	b.cancel()

	err := b.PipeReader.Close()

	<-b.done

	return err
}

// answer is the response as the handler writes it. Others can read status and sent after begun is closed.
type answer struct {
	header http.Header
	body   *io.PipeWriter

	once   sync.Once
	begun  chan struct{}
	status int
	sent   http.Header
}

// serve runs the handler. A panic aborts the response, as it does on a real connection.
func (a *answer) serve(api http.Handler, request *http.Request) {
	defer func() {
		if cause := recover(); cause != nil {
			a.begin(http.StatusInternalServerError)
			_ = a.body.CloseWithError(io.ErrUnexpectedEOF)
		}
	}()

	api.ServeHTTP(a, request)
	a.begin(http.StatusOK)

	_ = a.body.Close()
}

func (a *answer) begin(status int) {
	a.once.Do(func() {
		a.status, a.sent = status, a.header.Clone()
		close(a.begun)
	})
}

// Header implements http.ResponseWriter.
func (a *answer) Header() http.Header { return a.header }

// WriteHeader implements http.ResponseWriter.
func (a *answer) WriteHeader(status int) { a.begin(status) }

// Write implements http.ResponseWriter. It blocks until the text is read.
func (a *answer) Write(text []byte) (int, error) {
	a.begin(http.StatusOK)

	return a.body.Write(text)
}

// Flush implements http.Flusher. There is nothing to flush: Write returns after the text was read.
func (a *answer) Flush() { a.begin(http.StatusOK) }
