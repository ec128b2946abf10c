package chain_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy/internal/chain"
)

func TestSynthesisCountsAfterEveryParallelStage(t *testing.T) {
	t.Parallel()

	alone, several := chain.Stage{Agents: make([]chain.Agent, 1)}, chain.Stage{Agents: make([]chain.Agent, 3)}

	require.Equal(t, 1, chain.Chain{Stages: []chain.Stage{alone}}.StageCount())
	require.Equal(t, 2, chain.Chain{Stages: []chain.Stage{several}}.StageCount())
	require.Equal(t, 5, chain.Chain{Stages: []chain.Stage{alone, several, several}, Chat: &chain.Agent{}}.StageCount(), "chat is no stage of the chain")
}
