package script

import (
	"context"
	"errors"
	"fmt"

	"tarsy.dev/tarsy/llm"
)

// errStopped reports that the consumer stopped reading; it never leaves the package.
var errStopped = errors.New("the consumer stopped reading")

// notice is called before the stream pauses; nil is not called.
type notice func()

func (n notice) call() {
	if n != nil {
		n()
	}
}

// player streams one reply to one consumer, in the consumer's goroutine, so that no goroutine can be left behind.
type player struct {
	reply      *prepared
	drawn      drawnFault
	req        *llm.Request
	rec        *record
	beforeWait notice
	yield      func(llm.Chunk, error) bool

	fault *Fault
	pacer pacer
}

func (p *player) play(ctx context.Context, s *Script) error {
	if p.reply.Expect != nil {
		if err := p.reply.Expect(p.req); err != nil {
			return fmt.Errorf("%w: %w", ErrRefused, err)
		}
	}

	if p.reply.err != nil {
		return p.reply.err
	}

	pace := s.pace
	if p.reply.Pace != nil {
		pace = *p.reply.Pace
	}

	chunks := p.reply.chunks(p.req)
	p.plan(len(chunks))
	p.pacer.start(pace, s.clock, p.req, p.beforeWait)

	for i, chunk := range chunks {
		if err := p.stops(ctx, i, false); err != nil {
			return err
		}

		if err := p.pacer.wait(ctx, chunk); err != nil {
			return err
		}

		// Count before the consumer sees the chunk, so that a consumer that asks in mid-stream finds it counted.
		p.rec.chunk()

		if !p.yield(chunk, nil) {
			return errStopped
		}
	}

	return p.stops(ctx, len(chunks), true)
}

// plan sets the fault of the answer: one that was drawn, somewhere before the answer's end, or the reply's own.
func (p *player) plan(chunks int) {
	p.fault = p.reply.Fault

	if p.drawn.kind != "" {
		p.fault = &Fault{Kind: p.drawn.kind, AfterChunks: int(p.drawn.point % uint64(max(chunks, 1)))}
	}
}

// stops does what the reply has planned after n chunks; last reports that there are no more.
func (p *player) stops(ctx context.Context, n int, last bool) error {
	if ctx.Err() != nil && !last {
		return context.Cause(ctx)
	}

	if p.reply.Gate != nil && dueAt(p.reply.GateAfter, n, last) {
		if err := p.reply.Gate.pass(ctx, p.beforeWait); err != nil {
			return err
		}

		p.pacer.restart()
	}

	if p.fault != nil && dueAt(p.fault.AfterChunks, n, last) {
		return p.fault.failure()
	}

	if !dueAt(p.reply.AfterChunks, n, last) {
		return nil
	}

	if p.reply.Hang {
		if ctx.Err() == nil {
			p.beforeWait.call()
		}

		<-ctx.Done()

		return context.Cause(ctx)
	}

	return p.reply.Err
}

// dueAt reports whether something planned after a number of chunks is due at n.
func dueAt(after, n int, last bool) bool { return after == n || (last && after > n) }
