package note_test

import (
	"context"
	"encoding/json"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/jonboulle/clockwork"
	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy/flow/journal"
	"tarsy.dev/tarsy/internal/ident"
	"tarsy.dev/tarsy/internal/kit/slowness"
	"tarsy.dev/tarsy/internal/note"
	"tarsy.dev/tarsy/internal/note/infer"
	"tarsy.dev/tarsy/internal/note/store"
	"tarsy.dev/tarsy/internal/postgres/pgtest"
	"tarsy.dev/tarsy/llm/script"
	"tarsy.dev/tarsy/notebook"
)

var patience = slowness.Scale(20 * time.Second)

// captured is the time of every note in these tests: a Monday.
var captured = time.Date(2026, 11, 16, 9, 30, 0, 0, time.UTC)

// processing is a Processor with its own database and a scripted model.
type processing struct {
	*testing.T
	*note.Processor

	pool   *pgxpool.Pool
	script *script.Script
	// head is the position of the last event that was read.
	head journal.Position
}

func newProcessing(t *testing.T) *processing {
	t.Helper()
	t.Parallel()

	config, err := pgxpool.ParseConfig(pgtest.New(t))
	require.NoError(t, err)

	config.ConnConfig.Tracer = tripTracer{}

	pool, err := pgxpool.NewWithConfig(t.Context(), config)
	require.NoError(t, err)
	t.Cleanup(pool.Close)

	db, err := store.Open(t.Context(), store.Config{Write: pool, Read: pool, Clock: clockwork.NewFakeClockAt(captured)})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, db.Close()) })

	s := script.New(script.Options{})
	model := infer.New(infer.Config{LLM: s, Provider: "scripted", Model: "model"})

	return &processing{T: t, Processor: &note.Processor{Store: db, Model: model}, pool: pool, script: s}
}

func (p *processing) change(change func(*store.Tx)) {
	p.Helper()
	require.NoError(p, p.Store.Change(p.Context(), func(tx *store.Tx) error {
		change(tx)

		return nil
	}))
}

// capture stores a note that waits for its extraction.
func (p *processing) capture(content string) notebook.Note {
	p.Helper()

	n := notebook.Note{
		ID: ident.New(), Content: content, Source: notebook.NoteFromCLI, Author: "ana", Status: notebook.NoteQueued, Version: 1, CreatedAt: captured,
		UpdatedAt: captured,
	}
	p.change(func(tx *store.Tx) { require.NoError(p, store.InsertNote(p.Context(), tx, n, nil)) })

	return n
}

// requeue makes a note wait for another extraction, as a request to reprocess it does.
func (p *processing) requeue(id string) int64 {
	p.Helper()

	n := p.note(id)
	n.Version, n.Status, n.Processed, n.ProcessedAt, n.ProcessingError = n.Version+1, notebook.NoteQueued, false, nil, ""
	p.change(func(tx *store.Tx) { store.UpdateNote(tx, n) })

	return n.Version
}

// task returns an answer about a task that is stated in the note.
func task(title, evidence string) infer.EntityAnswer {
	return infer.EntityAnswer{Type: notebook.EntityTask, Title: title, Tags: []string{}, Evidence: evidence, Confidence: 0.9}
}

func (p *processing) answers(agent string, answer any) {
	p.Helper()

	raw, err := json.Marshal(answer)
	require.NoError(p, err)
	p.script.Route(agent, script.Reply{Text: string(raw)})
}

func (p *processing) extractionAnswers(entities ...infer.EntityAnswer) {
	p.Helper()

	if entities == nil {
		entities = []infer.EntityAnswer{}
	}

	p.answers(infer.AgentExtract, infer.ExtractAnswer{Entities: entities})
}

func (p *processing) organizationAnswers(places ...infer.PlaceAnswer) {
	p.Helper()

	for i := range places {
		places[i].Entity = i + 1
	}

	p.answers(infer.AgentOrganize, infer.OrganizeAnswer{Entities: places})
}

// extract runs the extraction of a note's version and returns the entities that finish received.
func (p *processing) extract(id string, version int64) []notebook.EntityDetail {
	p.Helper()

	finished := 0

	var entities []notebook.EntityDetail

	require.NoError(p, p.Extract(p.Context(), id, version, func(_ *store.Tx, got []notebook.EntityDetail) error {
		finished++
		entities = got

		return nil
	}))
	require.Equal(p, 1, finished)

	return entities
}

// extracted captures a note and extracts one entity for each answer.
func (p *processing) extracted(content string, entities ...infer.EntityAnswer) (notebook.Note, []notebook.EntityDetail) {
	p.Helper()

	n := p.capture(content)
	p.extractionAnswers(entities...)
	created := p.extract(n.ID, 1)
	require.Len(p, created, len(entities))

	return n, created
}

func (p *processing) organize(id string, version int64) {
	p.Helper()

	finished := 0

	require.NoError(p, p.Organize(p.Context(), id, version, func(*store.Tx) error {
		finished++

		return nil
	}))
	require.Equal(p, 1, finished)
}

func (p *processing) note(id string) notebook.Note {
	p.Helper()

	n, err := store.Note(p.Context(), p.Store.Reader(), id)
	require.NoError(p, err)

	return n
}

func (p *processing) entity(id string) notebook.EntityDetail {
	p.Helper()

	e, err := store.Entity(p.Context(), p.Store.Reader(), id)
	require.NoError(p, err)

	return e
}

// titles returns the titles of all entities, oldest first.
func (p *processing) titles() []string {
	p.Helper()

	entities, err := store.Entities(p.Context(), p.Store.Reader(), `ORDER BY e.id`)
	require.NoError(p, err)

	titles := []string{}
	for _, e := range entities {
		titles = append(titles, e.Title)
	}

	return titles
}

// reviews returns all review items, oldest first.
func (p *processing) reviews() []notebook.ReviewItem {
	p.Helper()

	items, err := store.ReviewItems(p.Context(), p.Store.Reader(), `ORDER BY r.id`)
	require.NoError(p, err)

	return items
}

func (p *processing) project(name, description string, epics ...string) (notebook.Project, []notebook.Epic) {
	p.Helper()

	project := notebook.Project{ID: ident.New(), Name: name, Description: description, Status: notebook.ProjectActive}
	_, err := p.pool.Exec(p.Context(), `INSERT INTO projects (id, name, description, created_by, created_at, updated_at) VALUES ($1, $2, $3, 'ana', $4, $4)`,
		project.ID, name, description, captured)
	require.NoError(p, err)

	var created []notebook.Epic

	for _, epic := range epics {
		created = append(created, notebook.Epic{
			ID: ident.New(), ProjectID: project.ID, Name: epic, Status: notebook.EpicOpen, CreatedBy: "ana", CreatedAt: captured, UpdatedAt: captured, Version: 1,
		})
	}

	p.change(func(tx *store.Tx) {
		for _, epic := range created {
			require.NoError(p, store.InsertEpic(p.Context(), tx, epic))
		}
	})
	p.skipEvents(len(epics))

	return project, created
}

func (p *processing) skipEvents(n int) {
	p.Helper()

	if n > 0 {
		p.events(n)
	}
}

// events returns the next n events of the journal.
func (p *processing) events(n int) []notebook.NotePayload {
	p.Helper()

	ctx, cancel := context.WithTimeout(p.Context(), patience)
	defer cancel()

	var payloads []notebook.NotePayload

	for record, err := range p.Store.Journal().Tail(ctx, p.head) {
		require.NoError(p, err)

		var payload notebook.NotePayload

		require.NoError(p, json.Unmarshal(record.Entry.Payload, &payload))
		p.head = record.Position

		if payloads = append(payloads, payload); len(payloads) == n {
			break
		}
	}

	return payloads
}

func eventTypes(payloads []notebook.NotePayload) []string {
	types := make([]string, len(payloads))
	for i, payload := range payloads {
		types[i] = payload.Type
	}

	return types
}

// execute changes rows outside the pipeline.
func (p *processing) execute(sql string, args ...any) {
	p.Helper()

	_, err := p.pool.Exec(p.Context(), sql, args...)
	require.NoError(p, err)
}

// lastPrompt returns the prompt of the last call.
func (p *processing) lastPrompt() string {
	p.Helper()

	calls := p.script.Calls()
	require.NotEmpty(p, calls)

	return calls[len(calls)-1].Request.Messages[1].Content
}
