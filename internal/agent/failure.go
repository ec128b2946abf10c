package agent

import (
	"errors"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/plaintext"
	"tarsy.dev/tarsy/llm"
)

// The error codes of executions and LLM calls.
const (
	// CodeLLMError is an error of no known class; the others are "llm_" and the class.
	CodeLLMError         = "llm_error"
	CodeContextTooLong   = "llm_" + string(llm.ClassContextTooLong)
	CodeIterationTimeout = "iteration_timeout"
	// CodeDeadline is that of a call that was cut because the session's time is nearly up.
	CodeDeadline    = "deadline"
	CodeEmptyAnswer = "empty_answer"
)

// codeOf is the code of a failed LLM call.
func codeOf(err error) string {
	if errors.Is(err, errIterationTimeout) {
		return CodeIterationTimeout
	}

	if errors.Is(err, errDeadline) {
		return CodeDeadline
	}

	if class := llm.AsError(err).Class; class != llm.ClassUnknown {
		return "llm_" + string(class)
	}

	return CodeLLMError
}

// maxFailure is how many bytes of an error's text are kept: what a provider says goes into rows, events and logs.
const maxFailure = 2_000

// failure is an error as people may read it.
type failure struct {
	text string
	err  error
}

func (f *failure) Error() string { return f.text }

func (f *failure) Unwrap() error { return f.err }

// failure makes the error of a call fit for people. Providers and what stands before them repeat what they were sent, and
// at any length.
func (c Config) failure(err error) error {
	const spare = 8 // a secret that is cut in two cannot be found, so it is cut far behind what is kept

	text := plaintext.Cut(plaintext.Clean(err.Error()), spare*maxFailure)
	if c.Mask != nil {
		text = c.Mask(text)
	}

	if kept := plaintext.Cut(text, maxFailure); len(kept) < len(text) {
		text = kept + " …"
	}

	return &failure{text: text, err: err}
}

// noteFailure writes an error into the record of its call, and returns what becomes of the call's events.
func noteFailure(interaction *tarsy.LLMInteraction, err error) tarsy.EventStatus {
	if err == nil {
		return tarsy.EventCompleted
	}

	interaction.ErrorCode, interaction.ErrorMessage = codeOf(err), plaintext.Clean(err.Error())

	if errors.Is(err, errIterationTimeout) || errors.Is(err, errDeadline) {
		return tarsy.EventTimedOut
	}

	return tarsy.EventFailed
}
