package watch

import (
	"slices"
	"strings"
	"time"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/cli/terminal"
)

// kind says what an item is.
type kind int

const (
	kindStage kind = iota
	kindEvent
)

// Item is one thing on the screen: a stage, or a timeline event.
type Item struct {
	ID      string
	Type    tarsy.EventType
	Status  string
	Content string
	Began   time.Time
	Ended   time.Time
	// Stage is the name of a stage, Index its number. Question is the number of the question that a stage answers, 0 if
	// it answers none.
	Stage     string
	StageType tarsy.StageType
	Index     int
	Question  int

	kind     kind
	agents   []*Agent // of a stage
	events   []*Item  // of a stage
	stage    *Item
	agent    *Agent
	summary  *Item  // of a call whose result was summarised
	call     *Item  // of a summary
	former   string // the id of the answer that became the analysis
	metadata tarsy.Metadata
	units    int   // the length of Content in UTF-16 units, while it comes in pieces
	fence    int64 // of the newest piece
	revision int   // counts changes, for caches
}

// Agent is one agent of a stage.
type Agent struct {
	Name   string
	Status string
	Began  time.Time
	Ended  time.Time

	stage *Item
}

// parallel reports whether the agent is one of several that work at once.
func (a *Agent) parallel() bool { return a != nil && a.stage != nil && len(a.stage.agents) > 1 }

// newest reports whether nothing has come after the item from the same agent.
func (i *Item) newest() bool {
	if i.stage == nil {
		return true
	}

	for _, other := range slices.Backward(i.stage.events) {
		if other.agent == i.agent {
			return other == i
		}
	}

	return true
}

// title is what people call a stage.
func (i *Item) title() string {
	name := terminal.Line(i.Stage)

	switch i.StageType {
	case tarsy.StageSynthesis:
		return "synthesis of " + strings.TrimSuffix(name, " - Synthesis")
	case tarsy.StageChat:
		return "answer"
	case tarsy.StageInvestigation:
	}

	return name
}

// forced says why an agent had to conclude; empty if it was not told to.
func (i *Item) forced() string {
	analysis := tarsy.MetadataAs[tarsy.FinalAnalysisMetadata](i.metadata)
	if !analysis.ForcedConclusion {
		return ""
	}

	switch analysis.Reason {
	case tarsy.ForcedIterations:
		return "told to conclude after " + count(analysis.MaxIterations, "iteration")
	case tarsy.ForcedDeadline:
		return "told to conclude: the time was nearly up"
	case tarsy.ForcedBudget:
		return "told to conclude: the budget was used up"
	case tarsy.ForcedResolved:
		return "told to conclude: the alert was resolved"
	case tarsy.ForcedRepeatedCalls:
		return "told to conclude: it repeated the same tool calls"
	case tarsy.NotForced:
	}

	return "told to conclude"
}

// unfounded says which calls an analysis cites that are not there; empty if there are none.
func (i *Item) unfounded() string {
	unknown := tarsy.MetadataAs[tarsy.FinalAnalysisMetadata](i.metadata).UnknownCitations
	if len(unknown) == 0 {
		return ""
	}

	return "cites calls that are not there: " + terminal.Line(strings.Join(unknown, ", "))
}

// warning reports whether an error ended nothing: the work went on in another way.
func (i *Item) warning() bool { return i.errorCode() == tarsy.ErrorRunbookUnavailable }

// errorCode is the code of an error event.
func (i *Item) errorCode() string {
	return terminal.Line(tarsy.MetadataAs[tarsy.ErrorMetadata](i.metadata).Code)
}
