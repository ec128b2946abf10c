package postgres_test

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/ident"
	"tarsy.dev/tarsy/internal/postgres"
	"tarsy.dev/tarsy/internal/postgres/storetest"
)

// previousPutSQL is how the release before identities stored feedback.
const previousPutSQL = `INSERT INTO feedback AS f (id, session_id, author, rating, why, real_cause, created_at, updated_at)
SELECT $1::uuid, $2, $3, $4, '', '', $5, $5
ON CONFLICT (session_id, author) DO UPDATE SET
    rating = excluded.rating, why = excluded.why, real_cause = excluded.real_cause, updated_at = greatest(f.updated_at, excluded.updated_at)`

// give stores a person's feedback.
func (f *fixture) give(t *testing.T, db *postgres.DB, sessionID string, by tarsy.Person, rating tarsy.Rating) tarsy.Feedback {
	t.Helper()

	given := newFeedback(sessionID, by.Name, rating, f.Clock.Now())
	given.AuthorID = by.ID

	stored, err := db.PutFeedback(t.Context(), given)
	require.NoError(t, err)

	return stored
}

// opinions returns the ratings of a session's feedback by author and identity.
func opinions(t *testing.T, db *postgres.DB, sessionID string) map[tarsy.Person]tarsy.Rating {
	t.Helper()

	found, err := db.Feedback(t.Context(), sessionID)
	require.NoError(t, err)

	ratings := map[tarsy.Person]tarsy.Rating{}
	for _, each := range found {
		ratings[tarsy.Person{Name: each.Author, ID: each.AuthorID}] = each.Rating
	}

	return ratings
}

type ratings = map[tarsy.Person]tarsy.Rating

func TestFeedbackOfIdentitiesWithOneNameIsKeptApart(t *testing.T) {
	t.Parallel()

	f := newFixture(t)
	db := f.Server(t)
	id := f.ended(t, db, 2).ID
	first, second := tarsy.Person{Name: "Ana", ID: "key-1"}, tarsy.Person{Name: "Ana", ID: "key-2"}

	f.give(t, db, id, first, tarsy.RatingRight)
	stored := f.give(t, db, id, second, tarsy.RatingWrong)
	require.Equal(t, "Ana (2)", stored.Author)
	require.Equal(t, stored.ID, f.give(t, db, id, second, tarsy.RatingPartly).ID, "it replaces its own")
	f.give(t, db, id, tarsy.Person{Name: "Ana (3)", ID: "key-3"}, tarsy.RatingWrong)
	f.give(t, db, id, tarsy.Person{Name: "Ana", ID: "key-4"}, tarsy.RatingWrong)
	require.Equal(t, ratings{
		first: tarsy.RatingRight, {Name: "Ana (2)", ID: "key-2"}: tarsy.RatingPartly, {Name: "Ana (3)", ID: "key-3"}: tarsy.RatingWrong,
		{Name: "Ana (4)", ID: "key-4"}: tarsy.RatingWrong,
	}, opinions(t, db, id))

	for _, none := range []tarsy.Person{{Name: "Ana", ID: "key-5"}, {Name: "Bob"}} {
		_, err := db.DeleteFeedback(t.Context(), id, none)
		require.Equal(t, tarsy.CodeFeedbackNotFound, tarsy.CodeOf(err), "%v has given none", none)
	}

	deleted, err := db.DeleteFeedback(t.Context(), id, second)
	require.NoError(t, err)
	require.Equal(t, stored.ID, deleted.ID)

	_, err = db.DeleteFeedback(t.Context(), id, second)
	require.Equal(t, tarsy.CodeFeedbackNotFound, tarsy.CodeOf(err))
	require.Equal(t, tarsy.RatingRight, opinions(t, db, id)[first])
}

func TestFeedbackOfRenamedIdentityIsReplacedAndRenamed(t *testing.T) {
	t.Parallel()

	f := newFixture(t)
	db := f.Server(t)
	id := f.ended(t, db, 2).ID

	first := f.give(t, db, id, tarsy.Person{Name: "Ana", ID: "key-1"}, tarsy.RatingRight)
	f.give(t, db, id, tarsy.Person{Name: "Bob", ID: "key-2"}, tarsy.RatingRight)
	require.Equal(t, first.ID, f.give(t, db, id, tarsy.Person{Name: "Anna", ID: "key-1"}, tarsy.RatingWrong).ID)
	require.Equal(t, ratings{{Name: "Anna", ID: "key-1"}: tarsy.RatingWrong, {Name: "Bob", ID: "key-2"}: tarsy.RatingRight}, opinions(t, db, id))

	f.give(t, db, id, tarsy.Person{Name: "Bob", ID: "key-1"}, tarsy.RatingPartly)
	require.Equal(t, ratings{{Name: "Bob (2)", ID: "key-1"}: tarsy.RatingPartly, {Name: "Bob", ID: "key-2"}: tarsy.RatingRight}, opinions(t, db, id))

	_, err := db.DeleteFeedback(t.Context(), id, tarsy.Person{Name: "whatever", ID: "key-1"})
	require.NoError(t, err)
}

func TestFeedbackOfPreviousReleaseBelongsToItsName(t *testing.T) {
	t.Parallel()

	f := newFixture(t)
	db := f.Server(t)
	id := f.ended(t, db, 2).ID
	previous := func(author string) {
		f.Exec(t, previousPutSQL, ident.New(), id, author, tarsy.RatingRight, f.Clock.Now())
	}

	previous("Ana")
	previous("Bob")
	require.Equal(t, ratings{{Name: "Ana"}: tarsy.RatingRight, {Name: "Bob"}: tarsy.RatingRight}, opinions(t, db, id))

	ana := tarsy.Person{Name: "Ana", ID: "key-1"}
	f.give(t, db, id, ana, tarsy.RatingWrong)
	require.Equal(t, ratings{ana: tarsy.RatingWrong, {Name: "Bob"}: tarsy.RatingRight}, opinions(t, db, id), "it has an identity now")

	f.give(t, db, id, tarsy.Person{Name: "Ana", ID: "key-2"}, tarsy.RatingPartly)
	previous("Ana")
	require.Equal(t, ratings{
		ana: tarsy.RatingRight, {Name: "Ana (2)", ID: "key-2"}: tarsy.RatingPartly, {Name: "Bob"}: tarsy.RatingRight,
	}, opinions(t, db, id), "the previous release replaces by name")

	_, err := db.DeleteFeedback(t.Context(), id, tarsy.Person{Name: "Bob", ID: "key-3"})
	require.NoError(t, err)
	require.Len(t, opinions(t, db, id), 2)
}

// If no key is required, callers have no identity.
func TestFeedbackWithoutIdentityIsDecidedByName(t *testing.T) {
	t.Parallel()

	f := newFixture(t)
	db := f.Server(t)
	id := f.ended(t, db, 2).ID

	f.give(t, db, id, tarsy.Person{Name: "Ana", ID: "key-1"}, tarsy.RatingRight)
	f.give(t, db, id, tarsy.Person{Name: "Ana"}, tarsy.RatingWrong)
	require.Equal(t, ratings{{Name: "Ana", ID: "key-1"}: tarsy.RatingWrong}, opinions(t, db, id), "the identity stays")

	_, err := db.DeleteFeedback(t.Context(), id, tarsy.Person{Name: "Ana"})
	require.NoError(t, err)
	require.Empty(t, opinions(t, db, id))
}

// Identities with the same name give feedback on two servers concurrently, each several times, on a session with feedback of the
// previous release.
func TestConcurrentFeedbackOfIdentitiesWithOneName(t *testing.T) {
	t.Parallel()

	const people = 12

	f := newFixture(t)
	servers := []*postgres.DB{f.Server(t), f.Server(t)}
	id := f.ended(t, servers[0], 2).ID

	f.Exec(t, previousPutSQL, ident.New(), id, "Ana", tarsy.RatingRight, f.Clock.Now())

	var wg sync.WaitGroup

	for n := range 3 * people {
		wg.Go(func() {
			given := newFeedback(id, "Ana", tarsy.RatingWrong, f.Clock.Now())
			given.AuthorID = "key-" + strconv.Itoa(n%people)

			_, err := servers[n%2].PutFeedback(context.Background(), given)
			assertNoError(t, err)
		})
	}

	wg.Wait()

	var names, identities []string
	for person := range opinions(t, servers[0], id) {
		names, identities = append(names, person.Name), append(identities, person.ID)
	}

	wantNames, wantIdentities := []string{"Ana"}, []string{"key-0"}
	for n := 1; n < people; n++ {
		wantNames, wantIdentities = append(wantNames, fmt.Sprintf("Ana (%d)", n+1)), append(wantIdentities, "key-"+strconv.Itoa(n))
	}

	require.ElementsMatch(t, wantNames, names)
	require.ElementsMatch(t, wantIdentities, identities)
}

// assign assigns a session to a person, as done by that person.
func assign(by tarsy.Person) tarsy.HandlingChange {
	return tarsy.HandlingChange{Assignee: &by.Name, AssigneeID: by.ID}
}

func (f *fixture) assignee(t *testing.T, db *postgres.DB, id string) tarsy.Person {
	t.Helper()

	handling, err := db.Handling(t.Context(), id)
	require.NoError(t, err)

	listed := storetest.Value[[]string](t, f.Admin, `SELECT ARRAY[assignee, assignee_id] FROM session_list WHERE session_id = $1`, id)
	require.Equal(t, []string{handling.Assignee, handling.AssigneeID}, listed, "the list has the same")

	return tarsy.Person{Name: handling.Assignee, ID: handling.AssigneeID}
}

// The previous release changes the assignee in both tables and leaves the identity as it is.
func TestAssigneeOfPreviousReleaseHasNoIdentity(t *testing.T) {
	t.Parallel()

	f := newFixture(t)
	db := f.Server(t)
	id := f.ended(t, db, 2).ID
	ana := tarsy.Person{Name: "Ana", ID: "key-1"}
	previous := func(assignee string) {
		f.Exec(t, `UPDATE session_handling SET state = state, assignee = $2 WHERE session_id = $1`, id, assignee)
		f.Exec(t, `UPDATE session_list SET handling = handling, assignee = $2 WHERE session_id = $1`, id, assignee)
	}

	f.handle(t, db, id, "Ana", assign(ana))
	require.Equal(t, ana, f.assignee(t, db, id))

	previous("Ana")
	require.Equal(t, ana, f.assignee(t, db, id), "nothing was changed")

	previous("Bob")
	require.Equal(t, tarsy.Person{Name: "Bob"}, f.assignee(t, db, id))

	f.handle(t, db, id, "Ana", assign(ana))
	previous("")
	require.Equal(t, tarsy.Person{}, f.assignee(t, db, id))
}

func TestAssigneeChangesWithNameAndIdentity(t *testing.T) {
	t.Parallel()

	f := newFixture(t)
	db := f.Server(t)
	id := f.ended(t, db, 2).ID

	for version, person := range []tarsy.Person{
		{Name: "Ana", ID: "key-1"},
		{Name: "Anna", ID: "key-1"}, // the same person under a new name
		{Name: "Anna", ID: "key-2"},
		{Name: "Anna"},
		{Name: "Anna", ID: "key-1"},
		{Name: "Bob", ID: "key-3"},
		{},
	} {
		require.Equal(t, int64(version+1), f.handle(t, db, id, "x", assign(person)).Version)
		require.Equal(t, person, f.assignee(t, db, id))
	}
}

func TestListOfAssigneeIsThatOfTheIdentity(t *testing.T) {
	t.Parallel()

	f := newFixture(t)
	db := f.Server(t)
	ana, twin := tarsy.Person{Name: "Ana", ID: "key-1"}, tarsy.Person{Name: "Ana", ID: "key-2"}
	byName, renamed := tarsy.Person{Name: "Ana"}, tarsy.Person{Name: "Anna", ID: "key-1"}
	sessions := map[tarsy.Person][]string{}

	for _, status := range tarsy.SessionStatuses() {
		for _, person := range []tarsy.Person{ana, twin, byName, renamed, {Name: "Bob", ID: "key-3"}, {}} {
			id := f.put(t, db, status, func(s *tarsy.Session) { s.AlertData = "the disk is full" })
			f.handle(t, db, id, "x", assign(person))

			sessions[person] = append(sessions[person], id)
		}
	}

	require.Len(t, slices.Collect(maps.Keys(sessions)), 6)

	for _, test := range []struct {
		filter tarsy.SessionFilter
		want   []string
	}{
		{tarsy.SessionFilter{Assignee: "Ana", AssigneeID: "key-1"}, slices.Concat(sessions[ana], sessions[renamed], sessions[byName])},
		{tarsy.SessionFilter{Assignee: "Anna", AssigneeID: "key-1"}, slices.Concat(sessions[ana], sessions[renamed])},
		{tarsy.SessionFilter{Assignee: "Ana", AssigneeID: "key-2"}, slices.Concat(sessions[twin], sessions[byName])},
		{tarsy.SessionFilter{Assignee: "Ana"}, slices.Concat(sessions[ana], sessions[twin], sessions[byName])},
	} {
		for _, order := range []tarsy.SessionOrder{tarsy.OrderNewest, tarsy.OrderAttention} {
			test.filter.Order = order
			require.ElementsMatch(t, test.want, listed(t, db, test.filter), "%+v", test.filter)
		}

		test.filter.Search = "disk"
		require.ElementsMatch(t, test.want, listed(t, db, test.filter), "%+v", test.filter)

		test.filter.Search, test.filter.Visible = "", tarsy.Visibility{Limited: true, Teams: []string{"payments"}}
		require.ElementsMatch(t, test.want, listed(t, db, test.filter), "%+v", test.filter)
	}
}
