package live

import (
	"cmp"
	"slices"
	"time"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/client"
)

// reload replaces the state with the server's, because the journal no longer has all events. Later updates can repeat some of it.
func (s *Session) reload(reloaded client.Reloaded) {
	fresh := NewSession(reloaded.Detail)

	for _, stage := range reloaded.Detail.Stages {
		item := &Item{
			IsStage: true, ID: stage.ID, Stage: stage.StageName, StageType: stage.StageType, Index: stage.StageIndex,
			Status: string(stage.Status), Began: began(stage.StartedAt, stage.CreatedAt), Ended: ended(stage.CompletedAt),
		}
		fresh.addStage(item)

		for _, execution := range stage.Executions {
			agent := &Agent{
				Name: execution.AgentName, Status: string(execution.Status), Parent: item,
				Began: began(execution.StartedAt, execution.CreatedAt), Ended: ended(execution.CompletedAt),
			}
			fresh.agents[execution.ID] = agent
			item.Agents = append(item.Agents, agent)
		}
	}

	for _, e := range reloaded.Timeline {
		fresh.created(tarsy.TimelineCreatedPayload{
			EventID: e.ID, StageID: e.StageID, ExecutionID: e.ExecutionID, EventType: e.EventType, Status: e.Status, Content: e.Content,
			Metadata: e.Metadata, Timestamp: e.CreatedAt,
		})

		if item := fresh.Find(e.ID); item != nil && e.CompletedAt != nil {
			item.Ended = *e.CompletedAt
		}
	}

	// Items without a stage are placed between stages by time.
	slices.SortStableFunc(fresh.Items, func(a, b *Item) int { return cmp.Compare(a.Began.UnixNano(), b.Began.UnixNano()) })
	*s = *fresh
}

func began(started *time.Time, created time.Time) time.Time {
	if started != nil {
		return *started
	}

	return created
}

func ended(completed *time.Time) time.Time {
	if completed != nil {
		return *completed
	}

	return time.Time{}
}
