package script

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"

	"tarsy.dev/tarsy/llm"
)

// errStopped says that the consumer reads no further; it never leaves the package.
var errStopped = errors.New("the consumer stopped reading")

// player streams one reply to one consumer, in the consumer's goroutine: there is no other that could be left behind.
type player struct {
	reply Reply
	pacer *pacer
	sent  *atomic.Int64
	yield func(llm.Chunk, error) bool
}

func (p *player) play(ctx context.Context, req *llm.Request) error {
	if p.reply.Expect != nil {
		if err := p.reply.Expect(req); err != nil {
			return fmt.Errorf("%w: %w", ErrRefused, err)
		}
	}

	chunks, err := p.reply.chunks(req)
	if err != nil {
		return err
	}

	for i, chunk := range chunks {
		if err := p.stops(ctx, i, false); err != nil {
			return err
		}

		if err := p.pacer.wait(ctx, chunk); err != nil {
			return err
		}

		// Counted before the consumer sees it, so that one who asks in the middle of the stream finds it counted.
		p.sent.Add(1)

		if !p.yield(chunk, nil) {
			return errStopped
		}
	}

	return p.stops(ctx, len(chunks), true)
}

// stops does what the reply has planned after n chunks, of which last says that there are no more.
func (p *player) stops(ctx context.Context, n int, last bool) error {
	if ctx.Err() != nil && !last {
		return context.Cause(ctx)
	}

	if p.reply.Gate != nil && here(p.reply.GateAfter, n, last) {
		if err := p.reply.Gate.pass(ctx); err != nil {
			return err
		}

		p.pacer.restart()
	}

	if !here(p.reply.AfterChunks, n, last) {
		return nil
	}

	if p.reply.Hang {
		<-ctx.Done()

		return context.Cause(ctx)
	}

	return p.reply.Err
}

// here tells whether something planned after a number of chunks is due at n.
func here(after, n int, last bool) bool { return after == n || (last && after > n) }
