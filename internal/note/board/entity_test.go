package board_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/calendar"
	"tarsy.dev/tarsy/internal/ident"
	"tarsy.dev/tarsy/internal/note/store"
	"tarsy.dev/tarsy/notebook"
)

func TestEntityIsCreatedChangedAndDeletedWithEvents(t *testing.T) {
	t.Parallel()

	f := newFixture(t)
	project := f.project(t, "Login")
	epic := f.epic(t, project.ID, "Safari")

	entity := f.task(t, "  Fix\n hunter2  ", func(in *notebook.EntityInput) {
		in.Content, in.Owner, in.DueOn, in.Tags = new(" see hunter2\nand more "), new("ana"), new("2026-12-01"), new([]string{"Web UI", "login", "LOGIN"})
		in.EpicID = &epic.ID
	})
	require.Equal(t, "Fix [MASKED]", entity.Title)
	require.Equal(t, "see [MASKED]\nand more", entity.Content)
	require.Equal(t, []string{"login", "web ui"}, entity.Tags)
	require.Equal(t, notebook.EntityAccepted, entity.State)
	require.Equal(t, "ana", entity.CreatedBy)
	require.Equal(t, "ana", entity.EditedBy)
	require.Equal(t, project.ID, *entity.ProjectID)

	stored, err := f.Entity(t.Context(), entity.ID)
	require.NoError(t, err)
	require.Equal(t, entity.Title, stored.Title)
	require.InDelta(t, entity.Position, stored.Position, 0)
	require.Equal(t, entity.Tags, stored.Tags)

	updated, err := f.UpdateEntity(t.Context(), entity.ID, 1, notebook.EntityInput{DueOn: new(""), Tags: new([]string{}), ProjectID: new("")}, "bob")
	require.NoError(t, err)
	require.Equal(t, int64(2), updated.Version)
	require.Equal(t, "bob", updated.EditedBy)
	require.Equal(t, "Fix [MASKED]", updated.Title, "what is not sent stays")
	require.Nil(t, updated.DueOn)
	require.Empty(t, updated.Tags)
	require.Nil(t, updated.ProjectID)
	require.Nil(t, updated.EpicID, "the epic goes with its project")

	_, err = f.UpdateEntity(t.Context(), entity.ID, 1, notebook.EntityInput{Owner: new("eve")}, "eve")
	require.Equal(t, tarsy.CodeChangedMeanwhile, tarsy.CodeOf(err))
	require.Equal(t, tarsy.CodeChangedMeanwhile, tarsy.CodeOf(f.DeleteEntity(t.Context(), entity.ID, 1, "eve")))

	require.NoError(t, f.DeleteEntity(t.Context(), entity.ID, 2, "bob"))

	_, err = f.Entity(t.Context(), entity.ID)
	require.Equal(t, tarsy.CodeEntityNotFound, tarsy.CodeOf(err))
	require.Equal(t, tarsy.CodeEntityNotFound, tarsy.CodeOf(f.DeleteEntity(t.Context(), entity.ID, 2, "bob")))

	events := f.events(t, 5)
	require.Equal(t, []string{
		notebook.TypeProjectChanged, notebook.TypeEpicChanged, notebook.TypeEntityCreated, notebook.TypeEntityUpdated, notebook.TypeEntityDeleted,
	}, types(events))
	require.Equal(t, entity.ID, events[2].EntityID)
	require.Equal(t, project.ID, events[2].ProjectID)
	require.Equal(t, "bob", events[3].Author)
	require.Equal(t, "accepted", events[3].Status)
}

func types(events []notebook.NotePayload) []string {
	names := make([]string, len(events))
	for i, event := range events {
		names[i] = event.Type
	}

	return names
}

func TestEntityWithNewStatusIsLastInColumn(t *testing.T) {
	t.Parallel()

	f := newFixture(t)
	a := f.task(t, "a")
	f.task(t, "b", func(in *notebook.EntityInput) { in.Status = new(notebook.EntityDone) })

	_, err := f.UpdateEntity(t.Context(), a.ID, 1, notebook.EntityInput{Status: new(notebook.EntityDone)}, "bob")
	require.NoError(t, err)
	require.Equal(t, []string{"b", "a"}, f.column(t, notebook.EntityDone))
}

func TestEntityInputIsRefusedWithItsField(t *testing.T) {
	t.Parallel()

	f := newFixture(t)
	project := f.project(t, "Login")
	other := f.epic(t, f.project(t, "Billing").ID, "Invoices")
	entity := f.task(t, "a")
	long := func(n int) *string { return new(strings.Repeat("ä", n)) }

	for name, c := range map[string]struct {
		in    notebook.EntityInput
		code  tarsy.Code
		field string
	}{
		"title empty":           {notebook.EntityInput{Title: new(" \n ")}, tarsy.CodeInvalidField, "title"},
		"title too long":        {notebook.EntityInput{Title: long(store.MaxTitle + 1)}, tarsy.CodeInvalidField, "title"},
		"content too long":      {notebook.EntityInput{Content: long(store.MaxContent + 1)}, tarsy.CodeInvalidField, "content"},
		"owner too long":        {notebook.EntityInput{Owner: long(store.MaxOwner + 1)}, tarsy.CodeInvalidField, "owner"},
		"tag too long":          {notebook.EntityInput{Tags: &[]string{*long(store.MaxTag + 1)}}, tarsy.CodeInvalidField, "tags"},
		"no such type":          {notebook.EntityInput{Type: new(notebook.EntityType("idea"))}, tarsy.CodeInvalidField, "type"},
		"no such status":        {notebook.EntityInput{Status: new(notebook.EntityStatus("later"))}, tarsy.CodeInvalidField, "status"},
		"no date":               {notebook.EntityInput{DueOn: new("tomorrow")}, tarsy.CodeInvalidField, "due_on"},
		"project no id":         {notebook.EntityInput{ProjectID: new("login")}, tarsy.CodeInvalidField, "project_id"},
		"no such project":       {notebook.EntityInput{ProjectID: new(ident.New())}, tarsy.CodeProjectNotFound, "project_id"},
		"no such epic":          {notebook.EntityInput{EpicID: new(ident.New())}, tarsy.CodeEpicNotFound, "epic_id"},
		"epic of other project": {notebook.EntityInput{ProjectID: &project.ID, EpicID: &other.ID}, tarsy.CodeInvalidField, "epic_id"},
	} {
		_, err := f.UpdateEntity(t.Context(), entity.ID, 1, c.in, "bob")
		require.Equal(t, c.code, tarsy.CodeOf(err), "%s: %v", name, err)
		require.Equal(t, c.field, fieldOf(err), name)
	}

	_, err := f.UpdateEntity(t.Context(), entity.ID, 1, notebook.EntityInput{
		Title: long(store.MaxTitle), Content: long(store.MaxContent), Owner: long(store.MaxOwner), Tags: &[]string{*long(store.MaxTag)},
	}, "bob")
	require.NoError(t, err, "the limits themselves are allowed")

	for _, c := range []struct {
		in    notebook.EntityInput
		field string
	}{{notebook.EntityInput{Title: new("a")}, "type"}, {notebook.EntityInput{Type: new(notebook.EntityTask)}, "title"}} {
		_, err := f.CreateEntity(t.Context(), c.in, "bob")
		require.Equal(t, tarsy.CodeMissingField, tarsy.CodeOf(err))
		require.Equal(t, c.field, fieldOf(err))
	}
}

func TestDeletedEntityClosesReviewItems(t *testing.T) {
	t.Parallel()

	f := newFixture(t)
	a, b := f.task(t, "a"), f.task(t, "b")
	item := func(tx *store.Tx, entity, duplicate string) string {
		id := ident.New()
		store.InsertReviewItem(tx, notebook.ReviewItem{
			ID: id, Kind: notebook.ReviewDuplicate, Status: notebook.ReviewOpen, EntityID: &entity, Proposal: notebook.Proposal{DuplicateOf: duplicate}, CreatedAt: tx.Now, Version: 1,
		})

		return id
	}

	var own, others string

	f.change(t, func(tx *store.Tx) error {
		own, others = item(tx, a.ID, b.ID), item(tx, b.ID, a.ID)

		return nil
	})

	require.NoError(t, f.DeleteEntity(t.Context(), a.ID, 1, "bob"))

	items, err := store.ReviewItems(t.Context(), f.rows.Reader(), `WHERE true`)
	require.NoError(t, err)
	require.Len(t, items, 1, "its own items go with it")
	require.Equal(t, others, items[0].ID)
	require.Equal(t, notebook.ReviewObsolete, items[0].Status)

	events := f.events(t, 7)
	require.Equal(t, []string{notebook.TypeReviewResolved, notebook.TypeReviewResolved, notebook.TypeEntityDeleted}, types(events[4:]))
	require.ElementsMatch(t, []string{own, others}, []string{events[4].ReviewID, events[5].ReviewID})
}

func TestListFindsEntitiesByEachFilter(t *testing.T) {
	t.Parallel()

	f := newFixture(t)
	project := f.project(t, "Login")
	epic := f.epic(t, project.ID, "Safari")
	session, note := ident.New(), ident.New()

	f.task(t, "in epic", func(in *notebook.EntityInput) { in.EpicID, in.DueOn = &epic.ID, new("2026-12-01") })
	f.task(t, "in project", func(in *notebook.EntityInput) {
		in.ProjectID, in.Tags, in.Owner, in.DueOn = &project.ID, new([]string{"Web"}), new("Ana"), new("2026-12-31")
	})
	f.task(t, "done risk", func(in *notebook.EntityInput) {
		in.Type, in.Status = new(notebook.EntityRisk), new(notebook.EntityDone)
	})
	f.change(t, func(tx *store.Tx) error {
		require.NoError(t, store.InsertNote(t.Context(), tx, notebook.Note{
			ID: note, Content: "words", Source: notebook.NoteFromCLI, Author: "ana", Status: notebook.NoteQueued, Version: 1, CreatedAt: tx.Now, UpdatedAt: tx.Now,
		}, nil))

		id := ident.New()

		store.InsertEntity(tx, notebook.EntityDetail{
			Entity: notebook.Entity{
				ID: id, NoteID: &note, SessionID: &session, Type: notebook.EntityTask, Title: "from note", Content: "Restart the checkout-api", Status: notebook.EntityOpen,
				State: notebook.EntityProposed, CreatedBy: "tarsy", CreatedAt: tx.Now.Add(1), UpdatedAt: tx.Now, Version: 1,
			},
			Sources: []notebook.EntitySource{{EntityID: id, NoteID: note, Quote: "words", StartOffset: 0, EndOffset: 5}},
		})

		return nil
	})

	day := func(text string) *calendar.Date {
		date, err := calendar.ParseDate(text)
		require.NoError(t, err)

		return &date
	}

	for name, c := range map[string]struct {
		query notebook.EntityQuery
		found []string
	}{
		"all":         {notebook.EntityQuery{}, []string{"from note", "done risk", "in project", "in epic"}},
		"board":       {notebook.EntityQuery{Board: true}, []string{"in epic", "in project", "from note", "done risk"}},
		"type":        {notebook.EntityQuery{Types: []notebook.EntityType{notebook.EntityRisk, notebook.EntityDecision}}, []string{"done risk"}},
		"status":      {notebook.EntityQuery{Statuses: []notebook.EntityStatus{notebook.EntityDone, notebook.EntityDropped}}, []string{"done risk"}},
		"state":       {notebook.EntityQuery{States: []notebook.EntityState{notebook.EntityProposed}}, []string{"from note"}},
		"project":     {notebook.EntityQuery{ProjectID: project.ID}, []string{"in project", "in epic"}},
		"epic":        {notebook.EntityQuery{EpicID: epic.ID}, []string{"in epic"}},
		"unfiled":     {notebook.EntityQuery{Unfiled: true}, []string{"from note", "done risk"}},
		"note":        {notebook.EntityQuery{NoteID: note}, []string{"from note"}},
		"session":     {notebook.EntityQuery{SessionID: session}, []string{"from note"}},
		"owner":       {notebook.EntityQuery{Owner: "aNA"}, []string{"in project"}},
		"tag":         {notebook.EntityQuery{Tag: "WEB"}, []string{"in project"}},
		"due from":    {notebook.EntityQuery{DueFrom: day("2026-12-02")}, []string{"in project"}},
		"due to":      {notebook.EntityQuery{DueTo: day("2026-12-01")}, []string{"in epic"}},
		"due both":    {notebook.EntityQuery{DueFrom: day("2026-12-01"), DueTo: day("2026-12-31")}, []string{"in project", "in epic"}},
		"words":       {notebook.EntityQuery{Search: "RESTART checkout-api note"}, []string{"from note"}},
		"other words": {notebook.EntityQuery{Search: "restart billing"}, []string{}},
		"together":    {notebook.EntityQuery{ProjectID: project.ID, Search: "in", Board: true}, []string{"in epic", "in project"}},
	} {
		for limit := 1; limit <= 5; limit++ {
			c.query.Limit = limit
			require.Equal(t, c.found, f.titles(t, c.query), "%s, pages of %d", name, limit)
		}
	}
}

func TestExportHasEveryEntityOnceAndNames(t *testing.T) {
	t.Parallel()

	const count = 1001 // three pages

	f := newFixture(t)
	project := f.project(t, "Login")
	epic := f.epic(t, project.ID, "Safari")
	f.many(t, count)
	f.task(t, "last", func(in *notebook.EntityInput) { in.EpicID = &epic.ID })

	seen := map[string]bool{}

	for e, err := range f.Export(t.Context(), notebook.EntityQuery{Limit: 1, Board: true}) {
		require.NoError(t, err)
		require.False(t, seen[e.ID])

		if len(seen) == 0 {
			require.Equal(t, "last", e.Title)
			require.Equal(t, "Login", e.Project)
			require.Equal(t, "Safari", e.Epic)
		}

		seen[e.ID] = true
	}

	require.Len(t, seen, count+1)
}
