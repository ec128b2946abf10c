// Package virtual is what the virtual servers share: serving on their own port, a list of events and waiting for more,
// faults for the next requests, and steps over HTTP. It knows no protocol.
package virtual

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"sync"
	"time"
)

const headerTime = 30 * time.Second

// Host serves a handler on a free port of the loopback interface. The zero value is ready.
type Host struct {
	mu      sync.Mutex
	server  *http.Server
	url     string
	serving sync.WaitGroup
}

// Start starts serving.
func (h *Host) Start(handler http.Handler) error {
	listener, err := (&net.ListenConfig{}).Listen(context.Background(), "tcp", "127.0.0.1:0")
	if err != nil {
		return fmt.Errorf("start a virtual server: %w", err)
	}

	h.mu.Lock()
	defer h.mu.Unlock()

	server := &http.Server{Handler: handler, ReadHeaderTimeout: headerTime}
	h.server, h.url = server, "http://"+listener.Addr().String()

	h.serving.Go(func() { _ = server.Serve(listener) })

	return nil
}

// Stop closes the port and all connections except hijacked ones. It can be called more than once, and before Start.
func (h *Host) Stop() {
	h.mu.Lock()
	if h.server != nil {
		_ = h.server.Close()
	}
	h.mu.Unlock()

	h.serving.Wait()
}

// URL returns the root, such as http://127.0.0.1:4711, or "" before Start.
func (h *Host) URL() string {
	h.mu.Lock()
	defer h.mu.Unlock()

	return h.url
}
