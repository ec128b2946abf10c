package discord

import (
	"context"
	"fmt"
	"sync"
	"time"
)

// defaultWithin is how long an expectation waits.
const defaultWithin = 30 * time.Second

// Play runs steps one after another and returns the first failure. Each expectation looks at what the bot did after the
// action that the previous one found. last is the number of the action that the last one found.
func (s *Server) Play(ctx context.Context, steps ...Step) (last int, err error) {
	after := 0

	for i, step := range steps {
		found, err := s.step(ctx, after, step)
		if err != nil {
			return after, fmt.Errorf("step %d (%s): %w", i+1, step, err)
		}

		after = max(after, found)
	}

	return after, nil
}

// step runs one step. For an expectation it returns the number of the matching action.
func (s *Server) step(ctx context.Context, after int, step Step) (int, error) {
	switch {
	case step.Say != nil:
		_, err := s.say(*step.Say, &Message{})

		return 0, err
	case step.Edit != nil:
		return 0, s.Edit(step.Edit.Message, step.Edit.Content)
	case step.React != nil:
		return 0, s.React(step.React.Message, step.React.User, step.React.Emoji)
	case step.Command != nil:
		_, err := s.Command(step.Command.Channel, step.Command.User, step.Command.Name, step.Command.Options)

		return 0, err
	case step.Click != nil:
		_, err := s.Click(step.Click.Message, step.Click.User, step.Click.Component)

		return 0, err
	case step.Expect != nil:
		found, err := s.expect(ctx, after, *step.Expect)

		return found.Number, err
	case step.Drop != nil:
		s.DropGateway(*step.Drop)
	case step.Reconnect:
		s.Reconnect()
	case step.InvalidSession != nil:
		s.InvalidSession(step.InvalidSession.Resumable)
	case step.StopAcks != nil:
		s.StopAcks(*step.StopAcks)
	case step.RateLimit != nil:
		s.Force429(*step.RateLimit)
	case step.WaitReady:
		return 0, s.WaitReady(ctx)
	}

	return 0, nil
}

func (s *Server) expect(ctx context.Context, after int, e Expect) (Action, error) {
	within := e.Within
	if within == 0 {
		within = defaultWithin
	}

	limited, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)

	timer := s.clock.AfterFunc(within, func() { cancel(fmt.Errorf("within %v", within)) })
	defer timer.Stop()

	return s.waitAfter(limited, after, "expected", e)
}

// conversation plays the steps of a script once a client is ready.
type conversation struct {
	steps   []Step
	ctx     context.Context //nolint:containedctx // the life of the conversation, ended by stop
	cancel  context.CancelFunc
	running sync.WaitGroup

	mu     sync.Mutex
	done   int
	failed error
}

func newConversation(s *Server, steps []Step) *conversation {
	c := &conversation{steps: steps}
	c.ctx, c.cancel = context.WithCancel(context.Background())

	if len(steps) > 0 {
		c.running.Go(func() { c.run(s) })
	}

	return c
}

func (c *conversation) run(s *Server) {
	after, err := 0, s.WaitReady(c.ctx)

	for i := 0; err == nil && i < len(c.steps); i++ {
		var found int

		if found, err = s.step(c.ctx, after, c.steps[i]); err == nil {
			after = max(after, found)

			c.mu.Lock()
			c.done++
			c.mu.Unlock()
		}
	}

	c.mu.Lock()
	defer c.mu.Unlock()

	c.failed = err
}

func (c *conversation) stop() {
	c.cancel()
	c.running.Wait()
}

func (c *conversation) progress() progress {
	c.mu.Lock()
	defer c.mu.Unlock()

	p := progress{Steps: len(c.steps), Done: c.done}
	if c.failed != nil {
		p.Failed = c.failed.Error()
	}

	return p
}

// unused describes the steps that were not completed, the first of them with its error.
func (c *conversation) unused() []string {
	c.mu.Lock()
	defer c.mu.Unlock()

	var left []string

	for i, step := range c.steps[c.done:] {
		text := fmt.Sprintf("Discord: step %d of the conversation (%s)", c.done+i+1, step)
		if i == 0 && c.failed != nil {
			text += ": " + c.failed.Error()
		}

		left = append(left, text)
	}

	return left
}
