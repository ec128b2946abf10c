package plan

import (
	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/plaintext"
	"tarsy.dev/tarsy/internal/progress"
)

// Runbook begins the first stage with the text of the runbook that the alert refers to. If it could not be read, fallback is used instead
// and an event says why.
func (s Steps) Runbook(text string, failure error, fallback string) progress.Step {
	step := s.createStage(s.Chain.Stages[0])
	step.Session.Runbook = plaintext.Clean(text)

	if failure != nil {
		event := s.newEvent(tarsy.EventError,
			"The runbook could not be read: "+failure.Error()+". The default runbook is used instead.")
		event.Metadata = tarsy.NewMetadata(tarsy.ErrorMetadata{Code: tarsy.ErrorRunbookUnavailable})
		step.Session.Runbook = fallback
		step.Timeline = append(step.Timeline, event)
		step.Events = append([]tarsy.Event{tarsy.TimelineCreated(event)}, step.Events...)
	}

	return step
}
