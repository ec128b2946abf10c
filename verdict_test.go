package tarsy_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy"
)

func TestEveryOutcomeHasWords(t *testing.T) {
	t.Parallel()

	var words []string
	for _, outcome := range tarsy.Outcomes() {
		words = append(words, outcome.Words())
	}

	require.Equal(t, []string{"Cause found", "Probable cause", "Inconclusive", "False alarm", "Needs a person"}, words)
	require.Empty(t, tarsy.OutcomeNone.Words())
	require.Equal(t, "already fixed", tarsy.Outcome("already_fixed").Words(), "one of a newer release")
}

func TestNextStepWarnsOfRisk(t *testing.T) {
	t.Parallel()

	for want, step := range map[string]tarsy.NextStep{
		"no risk":                     {Risk: tarsy.RiskNone},
		"low risk, reversible":        {Risk: tarsy.RiskLow, Reversible: true},
		"medium risk, not reversible": {Risk: tarsy.RiskMedium},
	} {
		require.Equal(t, want, step.Caution())
	}
}
