package board_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/ident"
	"tarsy.dev/tarsy/internal/note/store"
	"tarsy.dev/tarsy/notebook"
)

func (f *fixture) projectNames(t *testing.T, q notebook.ProjectQuery) []string {
	t.Helper()

	names := []string{}

	for q.Limit = 1; ; {
		page, err := f.Projects(t.Context(), q)
		require.NoError(t, err)

		for _, p := range page.Projects {
			names = append(names, p.Name)
		}

		if page.Next == nil {
			require.Len(t, names, page.Total)

			return names
		}

		q.After = page.Next
	}
}

func TestProjectsAreListedInTheirOrderAndFound(t *testing.T) {
	t.Parallel()

	f := newFixture(t)
	login, billing := f.project(t, "Login"), f.project(t, "Billing 100%")
	f.epic(t, login.ID, "Safari")
	require.Equal(t, []string{"Login", "Billing 100%"}, f.projectNames(t, notebook.ProjectQuery{}))

	updated, err := f.UpdateProject(t.Context(), billing.ID, 1, notebook.ProjectInput{BeforeID: login.ID, Status: new(notebook.ProjectArchived)}, "bob")
	require.NoError(t, err)
	require.Equal(t, int64(2), updated.Version)
	require.Equal(t, []string{"Billing 100%", "Login"}, f.projectNames(t, notebook.ProjectQuery{}))
	require.Equal(t, []string{"Login"}, f.projectNames(t, notebook.ProjectQuery{Statuses: []notebook.ProjectStatus{notebook.ProjectActive}}))
	require.Equal(t, []string{"Login"}, f.projectNames(t, notebook.ProjectQuery{Search: "safari"}))
	require.Equal(t, []string{"Billing 100%"}, f.projectNames(t, notebook.ProjectQuery{Search: "0%"}))
	require.Empty(t, f.projectNames(t, notebook.ProjectQuery{Search: "g%1"}))
}

func TestProjectCountsAcceptedEntities(t *testing.T) {
	t.Parallel()

	f := newFixture(t)
	project := f.project(t, "Login")

	for _, status := range []notebook.EntityStatus{notebook.EntityOpen, notebook.EntityInProgress, notebook.EntityDone} {
		f.task(t, string(status), func(in *notebook.EntityInput) { in.ProjectID, in.Status = &project.ID, &status })
	}

	_, err := f.pool.Exec(t.Context(), `UPDATE entities SET state = 'rejected' WHERE title = 'open'`)
	require.NoError(t, err)

	found, err := f.Project(t.Context(), project.ID)
	require.NoError(t, err)
	require.Equal(t, 1, found.OpenCount)
	require.Equal(t, 2, found.TotalCount)
}

func TestNamesAreUniqueWithoutCase(t *testing.T) {
	t.Parallel()

	f := newFixture(t)
	login, billing := f.project(t, "Login"), f.project(t, "Billing")
	safari, firefox := f.epic(t, login.ID, "Safari"), f.epic(t, login.ID, "Firefox")
	f.epic(t, billing.ID, "safari")

	taken := func(err error) {
		t.Helper()
		require.Equal(t, tarsy.CodeNameTaken, tarsy.CodeOf(err))
		require.Equal(t, "name", fieldOf(err))
	}

	_, err := f.CreateProject(t.Context(), notebook.ProjectInput{Name: new(" LOGIN ")}, "bob")
	taken(err)

	_, err = f.UpdateProject(t.Context(), billing.ID, 1, notebook.ProjectInput{Name: new("login")}, "bob")
	taken(err)

	_, err = f.CreateEpic(t.Context(), login.ID, notebook.EpicInput{Name: new("safari")}, "bob")
	taken(err)

	_, err = f.UpdateEpic(t.Context(), firefox.ID, 1, notebook.EpicInput{Name: new("SAFARI")}, "bob")
	taken(err)

	_, err = f.UpdateEpic(t.Context(), safari.ID, 1, notebook.EpicInput{Name: new("SAFARI")}, "bob")
	require.NoError(t, err, "its own name is free")

	_, err = f.CreateTag(t.Context(), "web", "bob")
	require.NoError(t, err)
	_, err = f.CreateTag(t.Context(), " WEB ", "bob")
	taken(err)
}

func TestDeletedProjectLeavesEntitiesUnfiled(t *testing.T) {
	t.Parallel()

	f := newFixture(t)
	project := f.project(t, "Login")
	epic := f.epic(t, project.ID, "Safari")
	entity := f.task(t, "a", func(in *notebook.EntityInput) { in.EpicID = &epic.ID })
	other := f.task(t, "b")
	item := ident.New()

	f.change(t, func(tx *store.Tx) error {
		store.InsertReviewItem(tx, notebook.ReviewItem{
			ID: item, Kind: notebook.ReviewAssignment, Status: notebook.ReviewOpen, EntityID: &other.ID, Proposal: notebook.Proposal{AssignProjectID: project.ID},
			CreatedAt: tx.Now, Version: 1,
		})

		return nil
	})

	require.Equal(t, tarsy.CodeChangedMeanwhile, tarsy.CodeOf(f.DeleteProject(t.Context(), project.ID, 2, "bob")))
	require.NoError(t, f.DeleteProject(t.Context(), project.ID, 1, "bob"))

	found, err := f.Entity(t.Context(), entity.ID)
	require.NoError(t, err)
	require.Nil(t, found.ProjectID)
	require.Nil(t, found.EpicID)
	require.Equal(t, int64(2), found.Version)
	require.Equal(t, "ana", found.EditedBy)

	_, err = f.Epic(t.Context(), epic.ID)
	require.Equal(t, tarsy.CodeEpicNotFound, tarsy.CodeOf(err))

	items, err := store.ReviewItems(t.Context(), f.rows.Reader(), `WHERE r.id = $1`, item)
	require.NoError(t, err)
	require.Equal(t, notebook.ReviewObsolete, items[0].Status)

	events := f.events(t, 7)
	require.Equal(t, notebook.TypeReviewResolved, events[5].Type)
	require.Equal(t, notebook.TypeProjectChanged, events[6].Type)
	require.Equal(t, "deleted", events[6].Status)
	require.Equal(t, "bob", events[6].Author)
}

func TestDeletedEpicLeavesEntitiesInProject(t *testing.T) {
	t.Parallel()

	f := newFixture(t)
	project := f.project(t, "Login")
	epic := f.epic(t, project.ID, "Safari")
	entity := f.task(t, "a", func(in *notebook.EntityInput) { in.EpicID = &epic.ID })

	require.NoError(t, f.DeleteEpic(t.Context(), epic.ID, 1, "bob"))

	found, err := f.Entity(t.Context(), entity.ID)
	require.NoError(t, err)
	require.Equal(t, project.ID, *found.ProjectID)
	require.Nil(t, found.EpicID)
}

func TestEpicsHaveOrderInTheirProject(t *testing.T) {
	t.Parallel()

	f := newFixture(t)
	project := f.project(t, "Login")
	a, b := f.epic(t, project.ID, "a"), f.epic(t, project.ID, "b")

	updated, err := f.UpdateEpic(t.Context(), a.ID, 1, notebook.EpicInput{AfterID: b.ID, Status: new(notebook.EpicDone), Description: new("hunter2")}, "bob")
	require.NoError(t, err)
	require.Equal(t, "[MASKED]", updated.Description)

	found, err := f.Project(t.Context(), project.ID)
	require.NoError(t, err)
	require.Equal(t, []string{"b", "a"}, []string{found.Epics[0].Name, found.Epics[1].Name})
	require.Equal(t, notebook.EpicDone, found.Epics[1].Status)
}

func TestTagsAreListedRenamedAndDeleted(t *testing.T) {
	t.Parallel()

	f := newFixture(t)
	entity := f.task(t, "a", func(in *notebook.EntityInput) { in.Tags = new([]string{"web", "login"}) })

	_, err := f.CreateTag(t.Context(), "Unused", "bob")
	require.NoError(t, err)

	first, err := f.Tags(t.Context(), notebook.TagQuery{Limit: 2})
	require.NoError(t, err)
	require.Equal(t, notebook.TagPage{Tags: []notebook.Tag{{Name: "login", EntityCount: 1}, {Name: "unused"}}, Next: "unused", Total: 3}, first)

	rest, err := f.Tags(t.Context(), notebook.TagQuery{Limit: 2, After: first.Next})
	require.NoError(t, err)
	require.Equal(t, notebook.TagPage{Tags: []notebook.Tag{{Name: "web", EntityCount: 1}}, Total: 3}, rest)

	found, err := f.Tags(t.Context(), notebook.TagQuery{Limit: 2, Search: "OG"})
	require.NoError(t, err)
	require.Equal(t, 1, found.Total)

	_, err = f.RenameTag(t.Context(), "web", "login", "bob")
	require.Equal(t, tarsy.CodeNameTaken, tarsy.CodeOf(err))

	renamed, err := f.RenameTag(t.Context(), "web", "Front  end", "bob")
	require.NoError(t, err)
	require.Equal(t, notebook.Tag{Name: "front end", EntityCount: 1}, renamed)
	require.NoError(t, f.DeleteTag(t.Context(), "login", "bob"))

	changed, err := f.Entity(t.Context(), entity.ID)
	require.NoError(t, err)
	require.Equal(t, []string{"front end"}, changed.Tags)
	require.Equal(t, int64(3), changed.Version, "who saw the old tags must look again")

	_, err = f.RenameTag(t.Context(), "web", "x", "bob")
	require.Equal(t, tarsy.CodeTagNotFound, tarsy.CodeOf(err))
	require.Equal(t, tarsy.CodeTagNotFound, tarsy.CodeOf(f.DeleteTag(t.Context(), "web", "bob")))

	for _, event := range f.events(t, 5)[1:] {
		require.Equal(t, notebook.TypeTagChanged, event.Type)
	}
}
