package api_test

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy"
)

// myID returns the identity of a caller.
func (f *fixture) myID(t *testing.T, headers []string) string {
	t.Helper()

	return get[meResponse](t, f, "/api/v1/me", headers...).ID
}

// requireApart checks that two callers named Ana neither replace nor withdraw each other's feedback, nor list each other's sessions as
// their own.
func (f *fixture) requireApart(t *testing.T, first, second []string) {
	t.Helper()

	_, path := f.ended(t)
	ids := []string{f.myID(t, first), f.myID(t, second)}
	require.NotEqual(t, ids[0], ids[1])

	give := func(rating string, headers []string) tarsy.Feedback {
		got := f.request(t, http.MethodPut, path, `{"rating": "`+rating+`"}`, headers...)
		require.Equal(t, http.StatusOK, got.status, got.body)

		return decode[tarsy.Feedback](t, got)
	}

	one, other := give("right", first), give("wrong", second)
	require.Equal(t, []string{"Ana", ids[0], "Ana (2)", ids[1]}, []string{one.Author, one.AuthorID, other.Author, other.AuthorID})
	require.Equal(t, one.ID, give("partly", first).ID)
	require.Len(t, get[feedbackPage](t, f, path, first...).Feedback, 2)

	require.Equal(t, http.StatusNoContent, f.request(t, http.MethodDelete, path, "", second...).status)
	f.requireProblem(t, f.request(t, http.MethodDelete, path, "", second...), http.StatusNotFound, tarsy.CodeFeedbackNotFound)

	left := get[feedbackPage](t, f, path, first...).Feedback
	require.Len(t, left, 1)
	require.Equal(t, one.ID, left[0].ID)

	var sessions []string

	for i, headers := range [][]string{first, second} {
		id := f.session(t, func(*tarsy.Session) {})
		sessions = append(sessions, id)

		handled := f.handle(t, id, `{"assignee": "me"}`, headers...)
		require.Equal(t, []string{"Ana", ids[i]}, []string{handled.Assignee, handled.AssigneeID})
	}

	named := f.session(t, func(*tarsy.Session) {})
	require.Empty(t, f.handle(t, named, `{"assignee": "Ana"}`, first...).AssigneeID, "a name is nobody's in particular")

	for i, headers := range [][]string{first, second} {
		mine := get[struct{ Sessions []tarsy.SessionItem }](t, f, "/api/v1/sessions?assignee=me", headers...).Sessions
		require.Len(t, mine, 2)
		require.Equal(t, []string{named, sessions[i]}, []string{mine[0].ID, mine[1].ID})
		require.Len(t, get[struct{ Sessions []tarsy.SessionItem }](t, f, "/api/v1/sessions?assignee=Ana", headers...).Sessions, 3, "by name")
	}
}

func TestKeysWithOneNameAreDifferentPeople(t *testing.T) {
	t.Parallel()

	f := newFixture(t, locked)
	key, first := f.key(t, "Ana", tarsy.ScopeWrite)
	_, second := f.key(t, "Ana", tarsy.ScopeWrite)

	require.Equal(t, key.ID, f.myID(t, first))
	f.requireApart(t, first, second)
}

func TestUsersWithOneNameAreDifferentPeople(t *testing.T) {
	t.Parallel()

	f := newFixture(t, withIssuer)
	first := f.loggedIn(t, "1", "Ana", "sre")

	require.Regexp(t, `^user:[0-9a-f]{32}$`, f.myID(t, first))
	f.requireApart(t, first, f.loggedIn(t, "2", "Ana", "sre"))
}

func TestUserAndKeyWithOneNameAreDifferentPeople(t *testing.T) {
	t.Parallel()

	f := newFixture(t, withIssuer)
	_, key := f.key(t, "Ana", tarsy.ScopeWrite)
	f.requireApart(t, f.loggedIn(t, "1", "Ana", "sre"), key)
}

func TestProxyUserAndKeyWithOneNameAreDifferentPeople(t *testing.T) {
	t.Parallel()

	f := newFixture(t, withUsers)
	_, key := f.key(t, "Ana", tarsy.ScopeWrite)

	require.Equal(t, "user:Ana", f.myID(t, user("Ana", "sre")))
	f.requireApart(t, user("Ana", "sre"), key)
}

// A user stays the same person after a change of name, in another browser too.
func TestRenamedUserKeepsFeedbackAndSessions(t *testing.T) {
	t.Parallel()

	f := newFixture(t, withIssuer)
	_, path := f.ended(t)
	before, after := f.loggedIn(t, "1", "Ana", "sre"), f.loggedIn(t, "1", "Anna L.", "sre")
	id := f.session(t, func(*tarsy.Session) {})
	f.handle(t, id, `{"assignee": "me"}`, before...)

	given := decode[tarsy.Feedback](t, f.request(t, http.MethodPut, path, `{"rating": "right"}`, before...))
	again := decode[tarsy.Feedback](t, f.request(t, http.MethodPut, path, `{"rating": "wrong"}`, after...))
	require.Equal(t, given.ID, again.ID)
	require.Equal(t, "Anna L.", again.Author)
	require.Len(t, get[feedbackPage](t, f, path, before...).Feedback, 1)

	mine := get[struct{ Sessions []tarsy.SessionItem }](t, f, "/api/v1/sessions?assignee=me", after...).Sessions
	require.Len(t, mine, 1)
	require.Equal(t, id, mine[0].ID)

	handled := f.handle(t, id, `{"assignee": "me"}`, after...)
	require.Equal(t, []string{"Anna L.", f.myID(t, after)}, []string{handled.Assignee, handled.AssigneeID})

	require.Equal(t, http.StatusNoContent, f.request(t, http.MethodDelete, path, "", after...).status)
}

// A proxy may authenticate itself with one key and name its users.
func TestProxyUsersWithOneKeyAreDifferentPeople(t *testing.T) {
	t.Parallel()

	f := newFixture(t, locked, behindProxy)
	_, key := f.key(t, "proxy", tarsy.ScopeWrite)
	_, path := f.ended(t)
	ana, bob := append([]string{"X-Forwarded-User", "Ana"}, key...), append([]string{"X-Forwarded-User", "Bob"}, key...)

	one := decode[tarsy.Feedback](t, f.request(t, http.MethodPut, path, `{"rating": "right"}`, ana...))
	other := decode[tarsy.Feedback](t, f.request(t, http.MethodPut, path, `{"rating": "wrong"}`, bob...))
	require.Equal(t, []string{"Ana", "Bob"}, []string{one.Author, other.Author})
	require.Len(t, get[feedbackPage](t, f, path, key...).Feedback, 2)
	f.requireProblem(t, f.request(t, http.MethodDelete, path, "", key...), http.StatusNotFound, tarsy.CodeFeedbackNotFound)
	require.Equal(t, http.StatusNoContent, f.request(t, http.MethodDelete, path, "", bob...).status)
	require.Equal(t, one, get[feedbackPage](t, f, path, key...).Feedback[0])
}

// Where no key is required only the name distinguishes callers.
func TestCallersWithoutIdentityAreTheirName(t *testing.T) {
	t.Parallel()

	f := newFixture(t, behindProxy)
	id, path := f.ended(t)
	ana := []string{"X-Forwarded-User", "Ana"}

	require.Empty(t, f.myID(t, ana))
	require.Empty(t, f.myID(t, nil))

	one := decode[tarsy.Feedback](t, f.request(t, http.MethodPut, path, `{"rating": "right"}`, ana...))
	other := decode[tarsy.Feedback](t, f.request(t, http.MethodPut, path, `{"rating": "wrong"}`))
	require.Equal(t, []string{"Ana", "", tarsy.DefaultAuthor, ""}, []string{one.Author, one.AuthorID, other.Author, other.AuthorID})
	require.Equal(t, one.ID, decode[tarsy.Feedback](t, f.request(t, http.MethodPut, path, `{"rating": "partly"}`, ana...)).ID)

	f.handle(t, id, `{"assignee": "me"}`, ana...)
	require.Len(t, get[struct{ Sessions []tarsy.SessionItem }](t, f, "/api/v1/sessions?assignee=me", ana...).Sessions, 1)
	require.Empty(t, get[struct{ Sessions []tarsy.SessionItem }](t, f, "/api/v1/sessions?assignee=me").Sessions)
}

// A login returns the same identity that /api/v1/me returns later.
func TestLoginAnswersIdentity(t *testing.T) {
	t.Parallel()

	f := newFixture(t, locked, behindProxy)
	issued, key := f.key(t, "Ana", tarsy.ScopeWrite)

	for want, headers := range map[string][]string{issued.ID: nil, issued.ID + "/user:Bob": {"X-Forwarded-User", "Bob"}} {
		got := f.request(t, http.MethodPost, "/api/v1/login", `{"key": "`+secretOf(key)+`"}`, headers...)
		require.Equal(t, http.StatusOK, got.status, got.body)
		require.Equal(t, want, decode[meResponse](t, got).ID)
		require.Equal(t, want, f.myID(t, append([]string{"Cookie", got.header.Get("Set-Cookie")}, headers...)))
	}
}
