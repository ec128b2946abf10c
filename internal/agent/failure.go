package agent

import (
	"errors"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/plaintext"
	"tarsy.dev/tarsy/llm"
)

// The error codes of executions and LLM calls.
const (
	// CodeLLMError is an error of unknown class; the others are "llm_" plus the class.
	CodeLLMError         = "llm_error"
	CodeContextTooLong   = "llm_" + string(llm.ClassContextTooLong)
	CodeIterationTimeout = "iteration_timeout"
	// CodeDeadline is the code of a call that was cut off because the session's time is nearly up.
	CodeDeadline    = "deadline"
	CodeEmptyAnswer = "empty_answer"
)

// codeOf returns the code of a failed LLM call.
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

// maxFailure is how many bytes of an error's text are kept: provider messages go into rows, events and logs.
const maxFailure = 2_000

// failure is an error with a text that is safe to show.
type failure struct {
	text string
	err  error
}

func (f *failure) Error() string { return f.text }

func (f *failure) Unwrap() error { return f.err }

// failure makes the error of a call safe to show. Providers and the proxies in front of them repeat what they were sent, at any length.
func (c Config) failure(err error) error {
	const spare = 8 // a secret that is cut in two cannot be found, so cut far beyond what is kept

	text := plaintext.Cut(plaintext.Clean(err.Error()), spare*maxFailure)
	if c.Mask != nil {
		text = c.Mask(text)
	}

	if kept := plaintext.Cut(text, maxFailure); len(kept) < len(text) {
		text = kept + " …"
	}

	return &failure{text: text, err: err}
}

// noteFailure writes an error into the record of its call, and returns the status of the call's events.
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
