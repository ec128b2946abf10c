package engine

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestASynthesisCountsAfterEveryStageOfSeveralAgents(t *testing.T) {
	t.Parallel()

	alone, several := RecipeStage{Agents: make([]RecipeAgent, 1)}, RecipeStage{Agents: make([]RecipeAgent, 3)}

	require.Equal(t, 1, Recipe{Stages: []RecipeStage{alone}}.StageCount())
	require.Equal(t, 2, Recipe{Stages: []RecipeStage{several}}.StageCount())
	require.Equal(t, 5, Recipe{Stages: []RecipeStage{alone, several, several}, Chat: &RecipeAgent{}}.StageCount(), "chat is no stage of the chain")
}
