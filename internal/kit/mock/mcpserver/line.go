package mcpserver

import (
	"context"
	"errors"
	"io"
	"net/http"
	"sync"
)

// line is the connection of a call. Connection faults happen below the SDK, which only handles whole messages.
type line interface {
	// bind returns a context that also ends when the caller leaves, which the SDK does not report.
	bind(ctx context.Context) (context.Context, context.CancelFunc)
	// triggerFault triggers the fault; the call is not answered afterwards.
	triggerFault(ctx context.Context, fault Fault)
}

type lineKey struct{}

// lineOf finds the line of a call: the SDK passes on the values of a request's or a run's context.
func lineOf(ctx context.Context) line {
	found, ok := ctx.Value(lineKey{}).(line)
	if !ok {
		panic("mcpserver: call without a line")
	}

	return found
}

// errDisconnected is the cause for calls that end because their caller left.
var errDisconnected = errors.New("caller disconnected")

// garbage is not JSON, wherever it is inserted.
const garbage = `{"jsonrpc": <not json>`

// exchange is the line of one HTTP request. The SDK writes its response through it.
type exchange struct {
	http.ResponseWriter

	request context.Context //nolint:containedctx // it is the request's own, and lives as long
	end     context.CancelFunc

	mu    sync.Mutex
	fault Fault
}

// serveBreakable lets the SDK answer a request in a way that a tool can break.
func serveBreakable(sdk http.Handler, w http.ResponseWriter, r *http.Request) {
	x := &exchange{ResponseWriter: w, request: r.Context()}

	ctx, end := context.WithCancel(context.WithValue(r.Context(), lineKey{}, line(x)))
	defer end()

	x.end = end

	sdk.ServeHTTP(x, r.WithContext(ctx))

	switch x.broken() {
	case FaultDrop:
		panic(http.ErrAbortHandler)
	case FaultMalformed:
		w.Header().Set("Content-Type", "text/event-stream")
		_, _ = io.WriteString(w, "event: message\ndata: "+garbage+"\n\n") // a caller that has left needs no response
	default:
	}
}

func (x *exchange) bind(ctx context.Context) (context.Context, context.CancelFunc) {
	return bindTo(ctx, x.request)
}

// bindTo returns a context that also ends when another one does.
func bindTo(ctx, other context.Context) (context.Context, context.CancelFunc) {
	bound, cancel := context.WithCancelCause(ctx)
	stop := context.AfterFunc(other, func() { cancel(errDisconnected) })

	return bound, func() {
		stop()
		cancel(nil)
	}
}

// triggerFault makes the SDK's handler return; whatever it still writes is discarded.
func (x *exchange) triggerFault(_ context.Context, fault Fault) {
	x.mu.Lock()
	x.fault = fault
	x.mu.Unlock()
	x.end()
}

func (x *exchange) broken() Fault {
	x.mu.Lock()
	defer x.mu.Unlock()

	return x.fault
}

// Write implements http.ResponseWriter.
func (x *exchange) Write(data []byte) (int, error) {
	if x.broken() != "" {
		return len(data), nil
	}

	return x.ResponseWriter.Write(data)
}

// WriteHeader implements http.ResponseWriter.
func (x *exchange) WriteHeader(status int) {
	if x.broken() == "" {
		x.ResponseWriter.WriteHeader(status)
	}
}

// Flush implements http.Flusher.
func (x *exchange) Flush() {
	if x.broken() == "" {
		_ = http.NewResponseController(x.ResponseWriter).Flush() // a caller that has left is noticed at the next write
	}
}

// streams is the line of a client on a pair of streams. The SDK reads and writes through it.
type streams struct {
	in  io.Reader
	out io.Writer
	// run ends when the line breaks.
	run      context.Context //nolint:containedctx // it lives as long as the line
	breakRun context.CancelCauseFunc
	close    func() error
}

func newStreams(ctx context.Context, in io.ReadCloser, out io.WriteCloser) *streams {
	s := &streams{in: in, out: out, close: sync.OnceValue(func() error { return errors.Join(out.Close(), in.Close()) })}
	s.run, s.breakRun = context.WithCancelCause(context.WithValue(ctx, lineKey{}, line(s)))

	return s
}

// bind also ends the context with the run, for which the SDK would wait; it reports a client that left itself.
func (s *streams) bind(ctx context.Context) (context.Context, context.CancelFunc) {
	return bindTo(ctx, s.run)
}

func (s *streams) triggerFault(ctx context.Context, fault Fault) {
	if fault == FaultMalformed {
		_, _ = s.Write([]byte(garbage + "\n")) // a caller that has left needs no response
		<-ctx.Done()

		return
	}

	s.breakRun(errors.New("scripted fault: " + string(fault)))
}

// Read implements io.Reader.
func (s *streams) Read(data []byte) (int, error) { return s.in.Read(data) }

// Write implements io.Writer.
func (s *streams) Write(data []byte) (int, error) {
	if s.run.Err() != nil {
		return 0, io.ErrClosedPipe
	}

	return s.out.Write(data)
}

// Close implements io.Closer. It also ends a pending read or write.
func (s *streams) Close() error { return s.close() }
