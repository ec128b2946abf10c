package postgres_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/audit"
	"tarsy.dev/tarsy/internal/postgres"
	"tarsy.dev/tarsy/internal/postgres/account"
	"tarsy.dev/tarsy/internal/postgres/storetest"
	"tarsy.dev/tarsy/internal/progress"
)

// A decision and who made it are found together: the row of the audit log is part of the same transaction.
func TestDecisionAndItsAuditRowAreStoredTogether(t *testing.T) {
	t.Parallel()

	f := newFixture(t)
	db := f.Server(t)
	call := f.Wait(t, db, storetest.Expiry)

	decide := func(actor string) (bool, error) {
		ctx := audit.By(t.Context(), tarsy.AuditEntry{
			At: f.Clock.Now(), Actor: actor, ActorKind: tarsy.ActorKey, Action: "approval.approve", TargetID: call.ID, Outcome: tarsy.AuditOK,
		})

		return db.AddDecision(ctx, storetest.NewRequest(call.SessionID, tarsy.RequestApproval, f.Clock.Now()),
			tarsy.ApprovalDecision{ApprovalID: call.ID, Status: tarsy.ApprovalApproved})
	}

	f.Exec(t, `ALTER TABLE audit_log ADD CONSTRAINT refused CHECK (actor <> 'mallory')`)

	_, err := decide("mallory")
	require.Error(t, err)
	require.Equal(t, []string{call.ID}, approvalIDs(t, db, ""), "without a row there is no decision")

	added, err := decide("ana")
	require.NoError(t, err)
	require.True(t, added)

	added, err = decide("ben")
	require.NoError(t, err)
	require.False(t, added)

	rows, err := account.New(db).Audit(t.Context(), tarsy.AuditFilter{Limit: 10})
	require.NoError(t, err)
	require.Len(t, rows, 1, "a decision that came too late is none")
	require.Equal(t, "ana", rows[0].Actor)
}

// The recipe of a session that was not stored is not stored either, so it must be stored with the next session.
func TestRecipeOfSessionWithoutItsAuditRowIsStoredLater(t *testing.T) {
	t.Parallel()

	f := newFixture(t)
	db := f.Server(t)
	recipe := func() postgres.Terms {
		return postgres.Terms{EngineVersion: 1, Recipe: &progress.Recipe{Hash: "h", Body: json.RawMessage(`{"chain": "c"}`)}}
	}

	f.Exec(t, `ALTER TABLE audit_log ADD CONSTRAINT refused CHECK (actor <> 'mallory')`)

	deciding := audit.By(t.Context(), tarsy.AuditEntry{At: f.Clock.Now(), Actor: "mallory", ActorKind: tarsy.ActorKey, Action: "session.rerun", Outcome: tarsy.AuditOK})
	refused := storetest.NewSession(f.Clock.Now())
	require.Error(t, db.CreateSession(deciding, refused, recipe()))

	_, err := db.RequestTarget(t.Context(), refused.ID)
	require.Equal(t, tarsy.CodeSessionNotFound, tarsy.CodeOf(err))

	session := storetest.NewSession(f.Clock.Now())
	require.NoError(t, db.CreateSession(t.Context(), session, recipe()))

	stored, err := db.SessionRecipe(t.Context(), session.ID)
	require.NoError(t, err)
	require.JSONEq(t, `{"chain": "c"}`, string(stored))
}
