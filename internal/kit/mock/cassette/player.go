package cassette

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/jonboulle/clockwork"

	"tarsy.dev/tarsy/internal/kit/mock/exchange"
	"tarsy.dev/tarsy/llm"
)

// CodeStale is the error code of a request that no recording matches.
const CodeStale = "stale_cassette"

// Player answers requests from a cassette, using each recording once. It is safe for concurrent use.
type Player struct {
	recordings []Recording
	ignore     []string
	clean      *cleaner
	// clock times the chunks as they were recorded; nil sends them immediately.
	clock clockwork.Clock

	// keys are the requests of the recordings, in the same order.
	keys []key

	mu   sync.Mutex
	used []bool
}

// key identifies a request.
type key struct{ method, path, body string }

// NewPlayer returns a player that has used no recording yet. With a clock it plays chunks with their recorded timing,
// without one immediately.
func NewPlayer(c *Cassette, clock clockwork.Clock) (*Player, error) {
	clean, err := newCleaner()
	if err != nil {
		return nil, err
	}

	p := &Player{
		recordings: c.Recordings, ignore: c.Ignore, clean: clean, clock: clock,
		keys: make([]key, len(c.Recordings)), used: make([]bool, len(c.Recordings)),
	}
	for i, r := range c.Recordings {
		p.keys[i] = key{r.Method, r.Path, canonical(r.Body, c.Ignore)}
	}

	return p, nil
}

// Unused describes each recording that was not requested.
func (p *Player) Unused() []string {
	p.mu.Lock()
	defer p.mu.Unlock()

	var unused []string

	for i, used := range p.used {
		if !used {
			unused = append(unused, fmt.Sprintf("recording %d, %s %s", i+1, p.recordings[i].Method, p.recordings[i].Path))
		}
	}

	return unused
}

// Answer answers a request with its first unused recording.
func (p *Player) Answer(x *exchange.Exchange, failure func(buf []byte, e *llm.Error) []byte) {
	describeCall(x)

	body, err := p.clean.clean(x.Body, keysOf(x.Request))
	if err != nil {
		x.Fail(failure, &llm.Error{Class: llm.ClassUnknown, Status: http.StatusInternalServerError, Message: err.Error()})

		return
	}

	asked := key{x.Request.Method, pathOf(x.Request.URL), canonical(body, p.ignore)}

	i, ok := p.take(asked)
	if !ok {
		x.Entry.Unexpected = true
		// SDKs would retry a conflict.
		x.Writer.Header().Set("X-Should-Retry", "false")
		x.Fail(failure, &llm.Error{
			Class: llm.ClassInvalid, Status: http.StatusConflict, Code: CodeStale, Message: p.explain(asked),
		})

		return
	}

	x.Entry.Route, x.Entry.Reply = "cassette", i
	p.play(x, &p.recordings[i])
}

func (p *Player) take(asked key) (int, bool) {
	p.mu.Lock()
	defer p.mu.Unlock()

	for i := range p.keys {
		if !p.used[i] && p.keys[i] == asked {
			p.used[i] = true

			return i, true
		}
	}

	return 0, false
}

func (p *Player) play(x *exchange.Exchange, r *Recording) {
	header := x.Writer.Header()
	for name, value := range r.Header {
		header.Set(name, value)
	}

	if len(r.Chunks) == 0 {
		x.Last(r.Status, nil)

		return
	}

	last := len(r.Chunks) - 1
	due := time.Time{}

	for i, chunk := range r.Chunks {
		var err error
		if due, err = p.wait(x.Request.Context(), due, chunk.After); err != nil {
			x.Break(err)
		}

		x.Entry.Chunks++

		if i == last {
			x.Last(r.Status, chunk.Data)
		} else {
			x.Pass(r.Status, chunk.Data)
		}
	}
}

// wait waits until a chunk is due and returns that time. It keeps to a schedule, so that slow readers do not stretch it.
func (p *Player) wait(ctx context.Context, due time.Time, after time.Duration) (time.Time, error) {
	if ctx.Err() != nil {
		return due, context.Cause(ctx)
	}

	if p.clock == nil {
		return due, nil
	}

	if due.IsZero() {
		due = p.clock.Now()
	}

	due = due.Add(after)

	left := p.clock.Until(due)
	if left <= 0 {
		return due, nil
	}

	timer := p.clock.NewTimer(left)
	defer timer.Stop()

	select {
	case <-timer.Chan():
		return due, nil
	case <-ctx.Done():
		return due, context.Cause(ctx)
	}
}

// explain describes why no recording matches a request: the differences from the nearest one.
func (p *Player) explain(asked key) string {
	what := fmt.Sprintf("the cassette is stale: no recording fits %s %s", asked.method, asked.path)

	nearest, least, equal := -1, []string(nil), 0

	for i, k := range p.keys {
		if k == asked {
			equal++
		}

		if k.method != asked.method || k.path != asked.path {
			continue
		}

		if found := differences(k.body, asked.body); nearest < 0 || len(found) < len(least) {
			nearest, least = i, found
		}
	}

	switch {
	case equal > 0:
		return fmt.Sprintf("%s: it was recorded %d times, and all recordings are used", what, equal)
	case nearest < 0:
		return what + ", " + p.others()
	}

	if more := len(least) - maxDifferences; more > 0 {
		least = append(least[:maxDifferences:maxDifferences], fmt.Sprintf("and %d more", more))
	}

	return fmt.Sprintf("%s; recording %d is nearest: %s", what, nearest+1, strings.Join(least, "; "))
}

// others lists what was recorded instead.
func (p *Player) others() string {
	var paths []string

	for _, k := range p.keys {
		if path := k.method + " " + k.path; !slices.Contains(paths, path) {
			paths = append(paths, path)
		}
	}

	if len(paths) == 0 {
		return "it is empty"
	}

	return "it contains " + strings.Join(paths, ", ")
}

// describeCall fills in the call's fields of the journal entry.
func describeCall(x *exchange.Exchange) {
	var call struct {
		Model  string `json:"model"`
		Stream bool   `json:"stream"`
	}
	// A body that is not JSON has neither.
	_ = json.Unmarshal(x.Body, &call)
	x.Entry.Model, x.Entry.Stream = call.Model, call.Stream

	// One API names both in its path: /v1beta/models/{model}:streamGenerateContent.
	if _, operation, ok := strings.Cut(x.Request.URL.Path, "/models/"); ok && call.Model == "" {
		model, method, _ := strings.Cut(operation, ":")
		x.Entry.Model, x.Entry.Stream = model, strings.HasPrefix(method, "stream")
	}
}

// Fresh returns a player for the same cassette that has used no recording yet.
func (p *Player) Fresh() *Player {
	return &Player{
		recordings: p.recordings, ignore: p.ignore, clean: p.clean, clock: p.clock, keys: p.keys, used: make([]bool, len(p.recordings)),
	}
}
