package note_test

import (
	"errors"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/note/infer"
	"tarsy.dev/tarsy/internal/note/store"
	"tarsy.dev/tarsy/internal/structured"
	"tarsy.dev/tarsy/llm"
	"tarsy.dev/tarsy/llm/script"
	"tarsy.dev/tarsy/notebook"
)

// paid is a stored call as these tests compare it.
type paid struct {
	NoteID, Purpose, Provider, ModelName string
	Usage                                tarsy.Usage
	CreatedAt                            time.Time
}

// calls returns the stored calls, oldest first.
func (p *processing) calls() []paid {
	p.Helper()

	rows, err := p.pool.Query(p.Context(), `SELECT note_id, purpose, provider, model_name, usage, created_at FROM note_calls ORDER BY id`)
	require.NoError(p, err)

	found, err := pgx.CollectRows(rows, pgx.RowToStructByName[paid])
	require.NoError(p, err)

	for i := range found {
		found[i].CreatedAt = found[i].CreatedAt.UTC()
	}

	return found
}

func TestEveryCallOfModelIsStoredWithItsPrice(t *testing.T) {
	p := newProcessing(t)
	p.Price = func(model string, at time.Time, u tarsy.Usage) tarsy.Usage {
		require.Equal(t, "model", model)
		require.Equal(t, captured, at)
		u.CostUSD = float64(u.TotalTokens) / 8

		return u
	}
	p.project("Checkout", "")
	n := p.capture("Ana adds a load test.")

	used := func(text string, input int) script.Reply {
		return script.Reply{Text: text, Usage: &llm.UsageChunk{InputTokens: input, OutputTokens: 2, CachedTokens: 1}}
	}
	call := func(purpose string, input int) paid {
		return paid{
			NoteID: n.ID, Purpose: purpose, Provider: "scripted", ModelName: "model", CreatedAt: captured,
			Usage: tarsy.Usage{InputTokens: input, OutputTokens: 2, CachedTokens: 1, TotalTokens: input + 2, CostUSD: float64(input+2) / 8},
		}
	}
	entity := `{"entities":[{"type":"task","title":"Add a load test","content":"","owner":"Ana","due_date":"","tags":[],"evidence":"Ana adds a load test","confidence":0.9}]}`
	place := `{"entities":[{"entity":1,"project_id":"","epic_id":"","new_epic_name":"","new_epic_description":"","confidence":0.9,"duplicate_of":"","reason":""}]}`

	// An invalid answer and one whose result is not stored were paid for too.
	p.script.Add(used("nothing", 10), used(entity, 20), used(entity, 30), used(place, 40))

	fails := func(*store.Tx, []notebook.EntityDetail) error { return errors.New("not stored") }
	require.ErrorIs(t, p.Extract(t.Context(), n.ID, 1, fails), structured.ErrSchema)
	require.ErrorContains(t, p.Extract(t.Context(), n.ID, 1, fails), "not stored")
	p.extract(n.ID, 1)
	p.organize(n.ID, 1)

	want := []paid{
		call(infer.PurposeExtract, 10), call(infer.PurposeExtract, 20), call(infer.PurposeExtract, 30), call(infer.PurposeOrganize, 40),
	}
	require.Equal(t, want, p.calls())

	// So was one whose note is reprocessed before the answer arrives.
	version, gate := p.requeue(n.ID), p.script.Gate("late")
	late := used(entity, 50)
	late.Gate = gate
	p.script.Add(late)

	done := make(chan error, 1)
	go func() {
		done <- p.Extract(t.Context(), n.ID, version, func(*store.Tx, []notebook.EntityDetail) error { return nil })
	}()

	<-gate.Reached()
	p.requeue(n.ID)
	gate.Open()
	require.NoError(t, <-done)
	require.Equal(t, append(want, call(infer.PurposeExtract, 50)), p.calls())
}
