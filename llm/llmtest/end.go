package llmtest

import (
	"context"
	"errors"
	"time"

	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy/llm"
	"tarsy.dev/tarsy/llm/script"
)

// endCases returns the cases in which the caller ends the call.
func endCases() map[string]func(*fixture) {
	return map[string]func(*fixture){
		"cancelling before the first chunk ends the call with the cause": cancelBeforeFirst,
		"cancelling in mid-stream ends the call with the cause":          cancelInMidStream,
		"a consumer that stops reading ends the call":                    stopReading,
		"a time-out ends the call with its cause":                        timeout,
		"a deadline without a cause is that of the context":              deadline,
		"a context that is over makes no call":                           overBefore,
	}
}

// requireDisconnected checks that the server has noticed that the caller left, and that its connection was closed.
func (f *fixture) requireDisconnected() {
	f.Helper()
	f.eventually(func() bool {
		calls := f.script.Calls()

		return len(calls) == 1 && calls[0].Cancelled
	}, "the server still believes that somebody reads")

	if f.closed != nil {
		receive(f, f.closed, "the connection to close")
	}
}

var errChanged = errors.New("the operator changed their mind")

// start makes a call in the background. It sends the text of the answer to pieces, and the error to the returned channel.
func (f *fixture) start(ctx context.Context, pieces chan<- string) <-chan error {
	done := make(chan error, 1)

	go func() {
		_, err := llm.Collect(f.client.Generate(ctx, f.request()), func(chunk llm.Chunk) error {
			if piece, ok := chunk.(llm.TextChunk); ok {
				pieces <- piece.Text
			}

			return nil
		})
		done <- err
	}()

	return done
}

func cancelBeforeFirst(f *fixture) {
	gate := script.NewGate()
	f.script.Add(script.Reply{Text: "one two three", Gate: gate})

	ctx, cancel := context.WithCancelCause(f.ctx())
	done := f.start(ctx, make(chan string, 8))
	receive(f, gate.Reached(), "the call to reach the server")
	cancel(errChanged)
	require.ErrorIs(f, receive(f, done, "the call to end"), errChanged)
	f.requireDisconnected()
}

func cancelInMidStream(f *fixture) {
	gate := script.NewGate()
	f.script.Add(script.Reply{Text: "one two three", Gate: gate, GateAfter: 1})

	ctx, cancel := context.WithCancelCause(f.ctx())
	pieces := make(chan string, 8)
	done := f.start(ctx, pieces)
	require.Equal(f, "one ", receive(f, pieces, "the first piece"))
	receive(f, gate.Reached(), "the script to wait")
	cancel(errChanged)

	err := receive(f, done, "the call to end")
	require.ErrorIs(f, err, errChanged)
	require.False(f, llm.AsError(err).Retryable)
	f.requireDisconnected()
}

func stopReading(f *fixture) {
	f.script.Add(script.Reply{Text: "one two three", Hang: true, AfterChunks: 1})

	for chunk, err := range f.client.Generate(f.ctx(), f.request()) {
		require.NoError(f, err)
		require.Equal(f, llm.TextChunk{Text: "one "}, chunk)

		break
	}

	f.requireDisconnected()
}

// reached is a time-out that lets a call reach the server even on a busy machine; otherwise the server would see no call.
const reached = 3 * time.Second

func timeout(f *fixture) {
	f.script.Add(script.Reply{Text: "one two three", Hang: true, AfterChunks: 1})

	slow := errors.New("the model took too long")
	ctx, cancel := context.WithTimeoutCause(f.ctx(), reached, slow)
	f.Cleanup(cancel)

	err := receive(f, f.start(ctx, make(chan string, 8)), "the call to end")
	require.ErrorIs(f, err, slow)
	require.False(f, llm.AsError(err).Retryable)
	f.requireDisconnected()
}

func deadline(f *fixture) {
	f.script.Add(script.Reply{Hang: true})

	ctx, cancel := context.WithTimeout(f.ctx(), reached)
	f.Cleanup(cancel)

	require.ErrorIs(f, receive(f, f.start(ctx, make(chan string, 8)), "the call to end"), context.DeadlineExceeded)
	f.requireDisconnected()
}

func overBefore(f *fixture) {
	f.script.Add(script.Reply{Text: "never"})

	ctx, cancel := context.WithCancelCause(f.ctx())
	cancel(errChanged)

	_, err := llm.Collect(f.client.Generate(ctx, f.request()), nil)
	require.ErrorIs(f, err, errChanged)
	require.Zero(f, f.script.CallCount())
}
