package script

import (
	"context"
	"math/rand/v2"
	"time"

	"github.com/jonboulle/clockwork"

	"tarsy.dev/tarsy/llm"
)

// Pace is how fast answers stream. The zero value streams without waiting.
type Pace struct {
	// FirstToken is the delay before the first chunk.
	FirstToken time.Duration
	// TokensPerSecond is the rate of text and thinking; chunks of other kinds take no time. Zero means without waiting.
	TokensPerSecond float64
	// Jitter makes each wait longer or shorter by up to this share of it, 0 to 1.
	Jitter float64
	// Seed varies the jitter. The same conversation with the same seed always has the same waits.
	Seed uint64
	// Speed divides every wait: 2 is twice as fast. Zero is 1.
	Speed float64
}

// pacer times one call. It follows a schedule instead of adding up waits, so that a consumer that is slow at times does not
// slow down the whole stream. Without a pace it never reads the clock.
type pacer struct {
	pace       Pace
	clock      clockwork.Clock
	beforeWait notice
	rand       *rand.Rand
	due        time.Time
	begun      bool
	idle       bool
}

func (p *pacer) start(pace Pace, clock clockwork.Clock, req *llm.Request, beforeWait notice) {
	if pace.FirstToken <= 0 && pace.TokensPerSecond <= 0 {
		p.idle = true

		return
	}

	if pace.Speed <= 0 {
		pace.Speed = 1
	}

	p.pace, p.clock, p.beforeWait, p.due = pace, clock, beforeWait, clock.Now()
	if pace.Jitter > 0 {
		p.rand = rand.New(rand.NewPCG(pace.Seed, conversation(req))) //nolint:gosec // Only spreads waits; must repeat.
	}
}

// conversation returns a number that is the same for the same messages.
func conversation(req *llm.Request) uint64 {
	id := uint64(offset)
	for i := range req.Messages {
		id = hash(hash(id, req.Messages[i].Role), req.Messages[i].Content)
	}

	return id
}

// offset is the initial value of FNV-1a.
const offset = 14695981039346656037

// hash continues FNV-1a; the standard library's version requires a copy of the text.
func hash(id uint64, text string) uint64 {
	const prime = 1099511628211

	for i := range len(text) {
		id = (id ^ uint64(text[i])) * prime
	}

	return id
}

// wait waits until chunk is due. If ctx ends first, it returns its cause.
func (p *pacer) wait(ctx context.Context, chunk llm.Chunk) error {
	if p.idle {
		return nil
	}

	var wait time.Duration
	if !p.begun {
		p.begun = true
		wait = p.pace.FirstToken
	}

	wait = p.scale(wait + p.duration(chunk))
	if wait <= 0 {
		return nil
	}

	p.due = p.due.Add(wait)

	if p.clock.Until(p.due) <= 0 {
		return nil
	}

	p.beforeWait.call()

	timer := p.clock.NewTimer(p.clock.Until(p.due))
	defer timer.Stop()

	select {
	case <-timer.Chan():
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// restart discards the stream's delay behind its schedule.
func (p *pacer) restart() {
	if !p.idle {
		p.due = p.clock.Now()
	}
}

func (p *pacer) duration(chunk llm.Chunk) time.Duration {
	if p.pace.TokensPerSecond <= 0 {
		return 0
	}

	var text string

	switch c := chunk.(type) {
	case llm.TextChunk:
		text = c.Text
	case llm.ThinkingChunk:
		text = c.Text
	}

	return time.Duration(float64(tokens(len(text))) / p.pace.TokensPerSecond * float64(time.Second))
}

func (p *pacer) scale(wait time.Duration) time.Duration {
	factor := 1 / p.pace.Speed
	if p.rand != nil {
		factor *= 1 + min(p.pace.Jitter, 1)*(2*p.rand.Float64()-1)
	}

	return time.Duration(float64(wait) * factor)
}
