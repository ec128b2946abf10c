package cassette

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/jonboulle/clockwork"

	"tarsy.dev/tarsy/internal/kit/mock/exchange"
	"tarsy.dev/tarsy/llm"
)

// RecorderConfig configures a recorder.
type RecorderConfig struct {
	// Upstream is the real API, such as https://api.openai.com.
	Upstream string
	// Path is the file to write. Its previous content is replaced, except for the fields to ignore.
	Path  string
	Clock clockwork.Clock
	// Log receives what could not be recorded.
	Log func(text string)
}

// Recorder forwards requests to the real API and records its answers. It is safe for concurrent use.
type Recorder struct {
	cfg       RecorderConfig
	upstream  *url.URL
	cassette  *Cassette
	clean     *cleaner
	transport *http.Transport

	mu    sync.Mutex
	begun int
	kept  []kept
}

// kept is a recording and the position of its request.
type kept struct {
	order int
	text  []byte
}

var errUpstream = errors.New("the API to record is a URL such as https://api.openai.com")

// NewRecorder returns a recorder, after checking that the file can be written.
func NewRecorder(cfg RecorderConfig) (*Recorder, error) {
	upstream, err := url.Parse(cfg.Upstream)
	if err != nil || upstream.Host == "" || (upstream.Scheme != "http" && upstream.Scheme != "https") || upstream.User != nil || upstream.RawQuery != "" {
		return nil, fmt.Errorf("%w, not %q", errUpstream, cfg.Upstream)
	}

	clean, err := newCleaner()
	if err != nil {
		return nil, err
	}

	if cfg.Clock == nil {
		cfg.Clock = clockwork.NewRealClock()
	}

	r := &Recorder{
		cfg: cfg, upstream: upstream, clean: clean, cassette: &Cassette{Upstream: cfg.Upstream},
		// Answers are kept as text, so they must not be compressed.
		transport: &http.Transport{Proxy: http.ProxyFromEnvironment, DisableCompression: true, ForceAttemptHTTP2: true, IdleConnTimeout: time.Minute},
	}

	switch old, err := Load(cfg.Path); {
	case err == nil:
		r.cassette.Ignore = old.Ignore
	case !errors.Is(err, os.ErrNotExist):
		return nil, fmt.Errorf("%w; the file exists and is not a cassette, so it is not replaced", err)
	}

	return r, r.save()
}

// Close closes idle connections.
func (r *Recorder) Close() { r.transport.CloseIdleConnections() }

// Unused returns nil: everything that is recorded has been requested.
func (r *Recorder) Unused() []string { return nil }

// Answer forwards a request and passes its answer back, each piece as it arrives.
func (r *Recorder) Answer(x *exchange.Exchange, failure func(buf []byte, e *llm.Error) []byte) {
	describeCall(x)

	r.mu.Lock()
	order := r.begun
	r.begun++
	r.mu.Unlock()

	// The transport may read the body after the exchange is over.
	body := bytes.Clone(x.Body)
	start := r.cfg.Clock.Now()

	response, err := r.send(x.Request, body)
	if err != nil {
		r.cfg.Log(fmt.Sprintf("not recorded: %s %s: %s", x.Request.Method, x.Request.URL.Path, err))
		x.Fail(failure, &llm.Error{Class: llm.ClassTransient, Status: http.StatusBadGateway, Code: "upstream_unreachable", Message: err.Error()})

		return
	}
	// The body was read to its end, or is no longer needed.
	defer func() { _ = response.Body.Close() }()

	header := x.Writer.Header()
	for name, values := range response.Header {
		if !hopHeader(name) && name != "Content-Length" {
			header[name] = values
		}
	}

	pieces, err := r.pass(x, response, start)
	if err == nil {
		err = r.keep(x.Request, body, response, pieces, order)
		if err != nil {
			r.cfg.Log(fmt.Sprintf("not recorded: %s %s: %s", x.Request.Method, x.Request.URL.Path, err))
		}

		x.Last(response.StatusCode, nil)

		return
	}

	r.cfg.Log(fmt.Sprintf("not recorded: %s %s did not complete: %s", x.Request.Method, x.Request.URL.Path, err))
	x.Break(err)
}

// send sends the request to the real API.
func (r *Recorder) send(in *http.Request, body []byte) (*http.Response, error) {
	address := *r.upstream
	address.Path = strings.TrimSuffix(r.upstream.Path, "/") + in.URL.Path
	address.RawPath = strings.TrimSuffix(r.upstream.EscapedPath(), "/") + in.URL.EscapedPath()
	address.RawQuery = in.URL.RawQuery

	out, err := http.NewRequestWithContext(in.Context(), in.Method, address.String(), bytes.NewReader(body))
	if err != nil {
		return nil, fmt.Errorf("request %s: %w", r.cfg.Upstream, err)
	}

	for name, values := range in.Header {
		if !hopHeader(name) && name != "Accept-Encoding" && name != "X-Tarsy-Lane" {
			out.Header[name] = values
		}
	}

	response, err := r.transport.RoundTrip(out)
	if err != nil {
		return nil, fmt.Errorf("request %s: %w", r.cfg.Upstream, err)
	}

	return response, nil
}

// pass passes an answer on as it arrives, and returns its pieces with their times.
func (r *Recorder) pass(x *exchange.Exchange, response *http.Response, last time.Time) ([]Chunk, error) {
	var (
		pieces []Chunk
		buf    = make([]byte, 32<<10)
	)

	for {
		n, err := response.Body.Read(buf)
		if n > 0 {
			now := r.cfg.Clock.Now()
			pieces = append(pieces, Chunk{After: now.Sub(last).Round(time.Millisecond), Data: bytes.Clone(buf[:n])})
			last = now
			x.Entry.Chunks++
			x.Pass(response.StatusCode, buf[:n])
		}

		switch {
		case errors.Is(err, io.EOF):
			return pieces, nil
		case x.Request.Context().Err() != nil:
			return nil, context.Cause(x.Request.Context())
		case err != nil:
			return nil, fmt.Errorf("read the answer: %w", err)
		}
	}
}

// keep records an exchange, without secrets.
func (r *Recorder) keep(in *http.Request, body []byte, response *http.Response, pieces []Chunk, order int) error {
	recording := Recording{
		Method: in.Method, Path: pathOf(in.URL), Status: response.StatusCode, Header: map[string]string{},
	}
	keys := keysOf(in)

	for name, values := range response.Header {
		if safeHeader(name) {
			recording.Header[name] = strings.Join(values, ", ")
		}
	}

	var err error
	if recording.Body, err = r.clean.clean(compact(body), keys); err != nil {
		return err
	}

	for _, chunk := range arrange(pieces, recording.Header["Content-Type"]) {
		if chunk.Data, err = r.clean.clean(chunk.Data, keys); err != nil {
			return err
		}

		recording.Chunks = append(recording.Chunks, chunk)
	}

	text := recording.encode()

	r.mu.Lock()
	defer r.mu.Unlock()

	r.kept = append(r.kept, kept{order, text})
	slices.SortFunc(r.kept, func(a, b kept) int { return cmp.Compare(a.order, b.order) })

	return r.save()
}

func (r *Recorder) save() error {
	text := r.cassette.head()
	for _, k := range r.kept {
		text = append(text, k.text...)
	}

	return replace(r.cfg.Path, text)
}

// hopHeader reports whether a header is hop-by-hop.
func hopHeader(name string) bool {
	switch name {
	case "Connection", "Keep-Alive", "Proxy-Authenticate", "Proxy-Authorization", "Proxy-Connection", "Te", "Trailer", "Transfer-Encoding", "Upgrade":
		return true
	default:
		return false
	}
}
