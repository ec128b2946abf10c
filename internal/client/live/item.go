package live

import (
	"slices"
	"time"

	"tarsy.dev/tarsy"
)

// Item is one thing in a session: a stage, or a timeline event.
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

	// IsStage tells a stage from an event of the timeline.
	IsStage bool
	// Agents and Events are those of a stage. Parent is the stage of an event, nil if it belongs to none.
	Agents []*Agent
	Events []*Item
	Parent *Item
	// Agent is who an event is from, nil if it is nobody's.
	Agent *Agent
	// Summary is what stands for the long result of a tool call, Call the call of a summary.
	Summary *Item
	Call    *Item
	// Former is the id of the answer that became this analysis.
	Former   string
	Metadata tarsy.Metadata
	// Revision counts changes of the text and the metadata, for caches.
	Revision int

	units int   // the length of Content in UTF-16 units, while it comes in pieces
	fence int64 // of the newest piece
}

// Agent is one agent of a stage.
type Agent struct {
	Name   string
	Status string
	Began  time.Time
	Ended  time.Time

	Parent *Item // its stage, nil if it was not seen
}

// Parallel reports whether the agent is one of several that work at once.
func (a *Agent) Parallel() bool { return a != nil && a.Parent != nil && len(a.Parent.Agents) > 1 }

// Newest reports whether nothing has come after the item from the same agent.
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
