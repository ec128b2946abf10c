package agent

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/structured"
	"tarsy.dev/tarsy/llm"
	"tarsy.dev/tarsy/llm/script"
)

func verdictInput() VerdictInput {
	return VerdictInput{
		ClosingInput: ClosingInput{SessionID: "session", Analysis: "the root cause [call 1.1.1]", Models: []Fallback{{Provider: "test", Model: "m-1"}}, Limit: 30 * time.Second},
		Calls:        []tarsy.Citation{{Call: "1.1.1", EventID: "event-1"}, {Call: "1.2.1", EventID: "event-2"}},
	}
}

func verdictAnswer() VerdictAnswer {
	return VerdictAnswer{
		Outcome: tarsy.OutcomeCauseFound, Cause: "The disk of db-1\nis full [call 1.1.1].", Confidence: tarsy.ConfidenceHigh,
		ConfidenceReason: "df shows it [call 1.1.1, 1.2.1].", Impact: "Writes fail [call 9.9.9].",
		NextSteps: []StepAnswer{
			{Title: "Free space", Why: "It is full [call 1.1.1].", Command: "kubectl exec db-1 -- vacuum", Risk: tarsy.RiskLow, Reversible: true},
			{Title: "Read the runbook", URL: "javascript:alert(1)", Risk: tarsy.RiskNone},
		},
		NotChecked: []string{"The replica.", " "},
	}
}

func encoded(t *testing.T, a VerdictAnswer) string {
	t.Helper()

	raw, err := json.Marshal(a)
	require.NoError(t, err)

	return string(raw)
}

func TestVerdictHasOnlyCitationsThatExist(t *testing.T) {
	t.Parallel()

	b := newBench(t)
	b.model.Add(script.Reply{Text: encoded(t, verdictAnswer())})

	judged := Judge(t.Context(), b.config(), verdictInput())
	require.NoError(t, judged.Err)
	require.Len(t, judged.Interactions, 1)
	require.Equal(t, tarsy.InteractionVerdict, judged.Interactions[0].InteractionType)

	first, second := tarsy.Citation{Call: "1.1.1", EventID: "event-1"}, tarsy.Citation{Call: "1.2.1", EventID: "event-2"}
	require.Equal(t, &tarsy.Verdict{
		Outcome:    tarsy.OutcomeCauseFound,
		Cause:      tarsy.Claim{Text: "The disk of db-1 is full [call 1.1.1].", Citations: []tarsy.Citation{first}},
		Confidence: tarsy.ConfidenceHigh, ConfidenceReason: tarsy.Claim{Text: "df shows it [call 1.1.1, 1.2.1].", Citations: []tarsy.Citation{first, second}},
		Impact: tarsy.Claim{Text: "Writes fail [call 9.9.9].", Citations: []tarsy.Citation{}},
		NextSteps: []tarsy.NextStep{
			{Title: "Free space", Why: tarsy.Claim{Text: "It is full [call 1.1.1].", Citations: []tarsy.Citation{first}}, Command: "kubectl exec db-1 -- vacuum", Risk: tarsy.RiskLow, Reversible: true},
			{Title: "Read the runbook", Why: tarsy.Claim{Citations: []tarsy.Citation{}}, Risk: tarsy.RiskNone},
		},
		NotChecked: []tarsy.Claim{{Text: "The replica.", Citations: []tarsy.Citation{}}},
	}, judged.Verdict)

	request := b.model.Calls()[0].Request
	require.JSONEq(t, string(verdictSchema.JSON()), string(request.ResponseSchema))
	require.Contains(t, request.Messages[1].Content, "the root cause [call 1.1.1]")
}

func TestAnswerThatIsNoVerdictFails(t *testing.T) {
	t.Parallel()

	change := func(do func(*VerdictAnswer)) string {
		a := verdictAnswer()
		do(&a)

		return encoded(t, a)
	}

	for name, text := range map[string]string{
		"text":                "It is the disk.",
		"an unknown outcome":  change(func(a *VerdictAnswer) { a.Outcome = "solved" }),
		"no confidence":       change(func(a *VerdictAnswer) { a.Confidence = "" }),
		"an unknown risk":     change(func(a *VerdictAnswer) { a.NextSteps[0].Risk = "huge" }),
		"a cause of nothing":  change(func(a *VerdictAnswer) { a.Cause = " \n" }),
		"a field left out":    strings.Replace(encoded(t, verdictAnswer()), `"impact"`, `"effect"`, 1),
		"two verdicts":        encoded(t, verdictAnswer()) + encoded(t, verdictAnswer()),
		"lists that are null": strings.Replace(encoded(t, verdictAnswer()), `["The replica."," "]`, `null`, 1),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			b := newBench(t)
			b.model.Add(script.Reply{Text: text})

			judged := Judge(t.Context(), b.config(), verdictInput())
			require.ErrorIs(t, judged.Err, structured.ErrSchema)
			require.Nil(t, judged.Verdict)
			require.NotEmpty(t, judged.Interactions[0].ErrorMessage)
		})
	}

	b := newBench(t)
	b.model.Add(script.Reply{Text: encoded(t, verdictAnswer()), Stop: llm.StopMaxTokens})
	require.ErrorIs(t, Judge(t.Context(), b.config(), verdictInput()).Err, structured.ErrSchema, "it may be cut")
}

// A provider without schemas rejects the request. The schema then goes into the prompt.
func TestModelWithoutSchemaSupportGetsSchemaInPrompt(t *testing.T) {
	t.Parallel()

	b := newBench(t)
	b.model.Add(
		script.Reply{Err: &llm.Error{Class: llm.ClassInvalid, Message: "response_format is not supported"}},
		script.Reply{Text: "```json\n" + encoded(t, verdictAnswer()) + "\n```"},
	)

	judged := Judge(t.Context(), b.config(), verdictInput())
	require.NoError(t, judged.Err)
	require.Equal(t, tarsy.OutcomeCauseFound, judged.Verdict.Outcome)
	require.Len(t, judged.Interactions, 2)

	second := b.model.Calls()[1].Request
	require.Empty(t, second.ResponseSchema)
	require.Contains(t, second.Messages[0].Content, string(verdictSchema.JSON()))
}

func TestModelWithoutSchemasAndWithSmallContextIsAskedInWordsForLess(t *testing.T) {
	t.Parallel()

	b := newBench(t)
	b.model.Add(
		script.Reply{Err: &llm.Error{Class: llm.ClassInvalid, Message: "response_format is not supported"}},
		script.Reply{Err: &llm.Error{Class: llm.ClassContextTooLong, Message: "too long"}},
		script.Reply{Text: encoded(t, verdictAnswer())},
	)

	in := verdictInput()
	in.Analysis = strings.Repeat("a long analysis ", 200_000)

	judged := Judge(t.Context(), b.config(), in)
	require.NoError(t, judged.Err)
	require.Len(t, judged.Interactions, 3)

	second, third := b.model.Calls()[1].Request, b.model.Calls()[2].Request
	require.Empty(t, third.ResponseSchema)
	require.Less(t, len(third.Messages[1].Content), len(second.Messages[1].Content))
}

func TestNextModelWritesVerdictThatFirstCannot(t *testing.T) {
	t.Parallel()

	b := newBench(t)
	b.model.Add(script.Reply{Text: "It is the disk."}, script.Reply{Text: encoded(t, verdictAnswer())})

	in := verdictInput()
	in.Models = append(in.Models, Fallback{Provider: "other", Model: "m-2"})

	judged := Judge(t.Context(), b.config(), in)
	require.NoError(t, judged.Err)
	require.NotNil(t, judged.Verdict)
	require.Len(t, judged.Fallbacks, 1)

	late := verdictInput()
	late.Deadline = b.config().Clock.Now()
	require.ErrorIs(t, Judge(t.Context(), b.config(), late).Err, errNoVerdictTime)
}
