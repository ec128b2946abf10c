package live

import (
	"slices"
	"time"

	"tarsy.dev/tarsy"
)

// Item is a stage or a timeline event of a session.
type Item struct {
	ID      string
	Type    tarsy.EventType
	Status  string
	Content string
	Began   time.Time
	Ended   time.Time
	// Stage is the name of a stage, Index its number. Question is the number of the question that the stage answers, or 0.
	Stage     string
	StageType tarsy.StageType
	Index     int
	Question  int

	// IsStage distinguishes a stage from a timeline event.
	IsStage bool
	// Agents and Events belong to a stage. Parent is the stage of an event, or nil.
	Agents []*Agent
	Events []*Item
	Parent *Item
	// Agent is the agent of an event, or nil.
	Agent *Agent
	// Summary is the summary of a tool call's long result, Call the call of a summary.
	Summary *Item
	Call    *Item
	// Former is the id of the response that became this analysis.
	Former   string
	Metadata tarsy.Metadata
	// Revision counts changes of the text and the metadata, for caches.
	Revision int

	units int   // the length of Content in UTF-16 units while it is streamed
	fence int64 // of the latest piece
}

// Agent is one agent of a stage.
type Agent struct {
	Name   string
	Status string
	Began  time.Time
	Ended  time.Time

	Parent *Item // its stage, or nil if it was not seen
}

// Parallel reports whether the agent is one of several in its stage.
func (a *Agent) Parallel() bool { return a != nil && a.Parent != nil && len(a.Parent.Agents) > 1 }

// Newest reports whether the item is the latest of its agent.
func (i *Item) Newest() bool {
	if i.Parent == nil {
		return true
	}

	for _, other := range slices.Backward(i.Parent.Events) {
		if other.Agent == i.Agent {
			return other == i
		}
	}

	return true
}
