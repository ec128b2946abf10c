package e2e

import (
	"bytes"
	"io"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
)

// outagePoint is the point of a delivery at which the gateway kills the server.
type outagePoint int

const (
	killNever outagePoint = iota
	// killBefore kills it before the delivery reaches it.
	killBefore
	// killDuring kills it while it processes the delivery.
	killDuring
	// killAfter kills it after it has answered, and drops the answer: everything is stored, but the sender does not know.
	killAfter
)

// alertGateway forwards deliveries from Alertmanager to the servers, as an ingress does: its address stays the same while
// servers come and go. It can kill the server at a point of a delivery.
type alertGateway struct {
	URL string

	mu       sync.Mutex
	target   *process
	kill     outagePoint
	killed   chan struct{}
	answered []answeredDelivery
}

// answeredDelivery is a delivery whose response Alertmanager received.
type answeredDelivery struct {
	Request, Answer string
	Status          int
}

func newAlertGateway(t testing.TB) *alertGateway {
	t.Helper()

	g := &alertGateway{killed: make(chan struct{}, 1)}
	server := httptest.NewServer(g)
	t.Cleanup(server.Close)

	g.URL = server.URL

	return g
}

// route directs deliveries to a server.
func (g *alertGateway) route(to *process) {
	g.mu.Lock()
	defer g.mu.Unlock()

	g.target = to
}

// killAt kills the server during the next delivery; killed is then sent a value. No delivery reaches a server until route is called.
func (g *alertGateway) killAt(point outagePoint) {
	g.mu.Lock()
	defer g.mu.Unlock()

	g.kill = point
}

// Answered returns the deliveries so far whose responses Alertmanager received.
func (g *alertGateway) Answered() []answeredDelivery {
	g.mu.Lock()
	defer g.mu.Unlock()

	return append([]answeredDelivery{}, g.answered...)
}

// ServeHTTP implements http.Handler.
func (g *alertGateway) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return
	}

	g.mu.Lock()
	target, point := g.target, g.kill

	if target != nil && point != killNever {
		g.kill, g.target = killNever, nil
	}
	g.mu.Unlock()

	if target == nil {
		http.Error(w, "no server", http.StatusBadGateway)

		return
	}

	if point == killBefore {
		g.end(target)
		http.Error(w, "the server is gone", http.StatusBadGateway)

		return
	}

	gone := make(chan struct{})

	if point == killDuring {
		go func() {
			defer close(gone)
			g.end(target)
		}()
	} else {
		close(gone)
	}

	status, answer, err := forward(r, target.URL, body)

	<-gone

	switch {
	case point == killAfter:
		g.end(target)
		panic(http.ErrAbortHandler)
	case err != nil:
		http.Error(w, err.Error(), http.StatusBadGateway)
	default:
		g.mu.Lock()
		g.answered = append(g.answered, answeredDelivery{Request: string(body), Answer: string(answer), Status: status})
		g.mu.Unlock()

		w.WriteHeader(status)
		_, _ = w.Write(answer)
	}
}

func (g *alertGateway) end(target *process) {
	target.Kill()

	g.killed <- struct{}{}
}

// forward sends a request to a server and returns its answer.
func forward(r *http.Request, server string, body []byte) (int, []byte, error) {
	req, err := http.NewRequestWithContext(r.Context(), r.Method, server+r.URL.Path, bytes.NewReader(body))
	if err != nil {
		return 0, nil, err
	}

	req.Header = r.Header.Clone()

	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}, Timeout: patience}

	resp, err := client.Do(req)
	if err != nil {
		return 0, nil, err
	}
	defer resp.Body.Close()

	answer, err := io.ReadAll(resp.Body)

	return resp.StatusCode, answer, err
}
