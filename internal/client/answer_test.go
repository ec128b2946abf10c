package client_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/client"
)

func TestExchangesListQuestionsWithTheirOwnAnswers(t *testing.T) {
	t.Parallel()

	stage := func(id string, kind tarsy.StageType) tarsy.StageDetail {
		return tarsy.StageDetail{Stage: tarsy.Stage{ID: id, StageType: kind}}
	}
	event := func(stageID string, kind tarsy.EventType, content string) tarsy.TimelineEvent {
		return tarsy.TimelineEvent{
			StageID: &stageID, EventType: kind, Content: content, Metadata: tarsy.NewMetadata(tarsy.QuestionMetadata{Author: "ann"}),
		}
	}

	require.Equal(t, []client.Exchange{{Question: "why?", Author: "ann", Answer: "It leaks."}, {Question: "and now?", Author: "ann"}},
		client.Exchanges(tarsy.SessionDetail{Stages: []tarsy.StageDetail{
			stage("0", tarsy.StageInvestigation), stage("1", tarsy.StageChat), stage("2", tarsy.StageChat),
		}}, []tarsy.TimelineEvent{
			event("0", tarsy.EventFinalAnalysis, "The disk is full."), {EventType: tarsy.EventExecutiveSummary, Content: "A leak."},
			event("1", tarsy.EventUserQuestion, "why?"), event("1", tarsy.EventResponse, "It leaks."), event("1", tarsy.EventFinalAnalysis, "It leaks."),
			event("2", tarsy.EventUserQuestion, "and now?"), event("2", tarsy.EventError, "The model is down."),
		}))
}
