package plan

import (
	"encoding/json"

	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy"
)

// requireVerdict checks that a session has at most one verdict, only if it completed, and that its row, the session and the journal agree.
func requireVerdict(t require.TestingT, p *play) {
	session := p.state.Session

	var told []int

	for i, e := range p.events {
		if e.Type == tarsy.TypeSessionVerdict {
			told = append(told, i)
		}
	}

	require.Len(t, told, len(p.verdicts), "the journal reports each verdict")

	if len(p.verdicts) == 0 {
		require.Empty(t, session.Outcome)
		require.Empty(t, session.Cause)

		return
	}

	require.Len(t, p.verdicts, 1)
	require.Equal(t, tarsy.SessionCompleted, session.Status)
	require.Empty(t, session.VerdictError)

	verdict := p.verdicts[0]
	require.Equal(t, session.ID, verdict.SessionID)
	require.NotEmpty(t, verdict.ID)
	require.Equal(t, *session.CompletedAt, verdict.CreatedAt)
	require.Equal(t, session.Outcome, verdict.Outcome)
	require.Equal(t, session.Cause, verdict.Cause.Text)

	var end tarsy.SessionStatusPayload

	require.NoError(t, json.Unmarshal(p.events[told[0]+1].Payload, &end))
	require.Equal(t, tarsy.TypeSessionStatus, end.Type, "the end follows the verdict")
	require.Equal(t, tarsy.SessionCompleted, end.Status)
}
