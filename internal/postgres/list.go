package postgres

import (
	"context"
	"fmt"
	"iter"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/jackc/pgx/v5"

	"tarsy.dev/tarsy"
)

// itemSQL reads a page of the list: it turns the places of its sessions, in order, into rows. The usage of each session is summed
// up from its calls on every read, because storing the sums with the session would make every step write more. now is the
// argument that has the time, and tables are further tables of the WITH clause, which has the table waiting: sessions with open
// approvals. Waiting calls are few, so they are read once and not for each session, and the join is planned once. The caller
// appends a FROM clause with sessions as s, and then itemJoin.
func itemSQL(now string, tables ...string) string {
	waiting := `waiting AS MATERIALIZED (` + OpenApprovals("c.session_id, count(*) AS calls", now) + ` GROUP BY c.session_id)`

	return `
WITH ` + strings.Join(append([]string{waiting}, tables...), ", ") + `
SELECT s.id, s.alert_type, ` + factColumns.Of("s") + `, (` + alertStateSQL + `) AS alert, s.chain_id, s.status, s.author, s.rerun_of, s.pod_id, s.stage_count, s.current_stage_index, s.executive_summary, s.outcome, s.cause, ` + ratingSQL + ` AS rating,
    (` + handlingItemSQL + `) AS handling,
    s.error_code, s.error_message, s.concluded_early, s.created_at, s.started_at, s.completed_at, s.last_seq AS version,
    (SELECT ` + sumUsage + ` FROM llm_interactions WHERE session_id = s.id) AS usage,
    (SELECT count(*) FROM mcp_interactions WHERE session_id = s.id) AS tool_calls, coalesce(waiting.calls, 0) AS waiting_approvals`
}

const itemJoin = ` LEFT JOIN waiting ON waiting.session_id = s.id`

// Sessions returns a page of the list. Sessions that match a search are ordered by relevance, whatever order is requested.
func (db *DB) Sessions(ctx context.Context, f tarsy.SessionFilter) ([]tarsy.SessionItem, error) {
	if !f.Visible.Includes(f.Team) {
		return nil, nil
	}

	if f.Search != "" {
		return db.search(ctx, f)
	}

	query := newListQuery(f)

	sql := query.page(f)
	if sql == "" {
		return nil, nil
	}

	query.args["now"] = db.clock.Now()

	items, err := Collect[tarsy.SessionItem](ctx, db.readers, sql, query.args)
	if err != nil {
		return nil, fmt.Errorf("list sessions: %w", err)
	}

	return items, nil
}

// listGroup is a group of sessions that are listed together: those with one status in session_list, or some of the unfinished
// ones, whose status there is empty.
type listGroup struct {
	rank int
	// status is that of session_list.
	status string
	// outcome is the only outcome; empty means any or none.
	outcome tarsy.Outcome
	// open are the statuses of unfinished sessions; nil means all of them.
	open []tarsy.SessionStatus
	// handling is the only handling state; empty means any.
	handling tarsy.HandlingState
	// waiting, if not empty, makes this the group of sessions with open approvals, and is the condition on their status and outcome.
	waiting string
}

// listQuery reads session_list. A list is read group by group and then sorted: each group is a range of an index for any filter
// and either order, so the cost of a page does not depend on the number of sessions.
type listQuery struct {
	groups []listGroup
	where  []string
	args   pgx.NamedArgs
	// either are mutually exclusive conditions, one of which must hold; nil means no condition.
	either []string
	// visible are the teams of the sessions that the reader can see, including the empty one; nil means any.
	visible []string
}

func newListQuery(f tarsy.SessionFilter) listQuery {
	q := listQuery{args: pgx.NamedArgs{}, visible: f.Visible.Values()}
	if f.Team != "" {
		q.visible = nil // f.Team is one of them, see Sessions
	}

	add := func(use bool, condition, name string, value any) {
		if use {
			q.where = append(q.where, condition)
			q.args[name] = value
		}
	}

	add(f.AlertType != "", "l.alert_type = @alert_type", "alert_type", f.AlertType)
	add(f.ChainID != "", "l.chain_id = @chain_id", "chain_id", f.ChainID)
	add(f.Author != "", "l.author = @author", "author", f.Author)

	for _, fact := range []struct{ column, value string }{
		{"severity", string(f.Severity)}, {"service", f.Service}, {"namespace", f.Namespace}, {"cluster", f.Cluster}, {"team", f.Team},
		{"fingerprint", f.Fingerprint},
	} {
		// The index of a fact has only sessions with that fact, and a generic plan uses it only if the statement excludes the
		// empty value.
		add(fact.value != "", "l."+fact.column+" = @"+fact.column+" AND l."+fact.column+" <> ''", fact.column, fact.value)
	}

	q.addLabels(f.Labels)
	add(f.Assignee != "" && f.AssigneeID == "", "l.assignee = @assignee AND l.assignee <> ''", "assignee", f.Assignee)
	q.addAssignee(f)
	q.addTags(f.Tags)
	add(f.CreatedAfter != nil, "l.created_at >= @created_after", "created_after", f.CreatedAfter)
	add(f.CreatedBefore != nil, "l.created_at < @created_before", "created_before", f.CreatedBefore)
	q.addGroups(f)
	q.splitGroups(f.Handling)
	q.addWaiting(f)

	return q
}

// addWaiting makes sessions with open approvals a separate group, the first one, if they are listed first or alone.
func (q *listQuery) addWaiting(f tarsy.SessionFilter) {
	only := f.Approvals == tarsy.ApprovalWaiting

	switch {
	case f.Search != "" && only:
		q.where = append(q.where, "l.session_id IN ("+OpenApprovals("c.session_id", "@now")+")")
	case f.Search != "" || len(q.groups) == 0 || !only && f.Order != tarsy.OrderAttention:
	case only:
		q.groups = []listGroup{{rank: tarsy.RankApproval, waiting: q.statuses(f)}}
	default:
		q.groups = append(q.groups, listGroup{rank: tarsy.RankApproval, waiting: q.statuses(f)})
	}
}

// addLabels restricts a list to sessions with these labels.
func (q *listQuery) addLabels(labels map[string]string) {
	var words []string

	cut := false

	for name, value := range labels {
		word := labelWord(name, value)
		words, cut = append(words, lexeme(word)), cut || len(word) < len("=")+len(name)+len("=")+len(value)
	}

	if len(words) == 0 {
		return
	}

	q.where = append(q.where, "l.words @@ @label_words::tsquery")
	q.args["label_words"] = strings.Join(words, " & ")

	if cut {
		q.where = append(q.where, "EXISTS (SELECT FROM sessions c WHERE c.id = l.session_id AND c.labels @> @labels::jsonb)")
		q.args["labels"] = labels
	}
}

// addOutcomes adds the groups of a list that is filtered by outcome. Only completed sessions have one. Each outcome is a group,
// because sessions of several outcomes are not in the order of an index.
func (q *listQuery) addOutcomes(f tarsy.SessionFilter) {
	if len(f.Statuses) > 0 && !slices.Contains(f.Statuses, tarsy.SessionCompleted) {
		return
	}

	for _, outcome := range tarsy.Outcomes() {
		if slices.Contains(f.Outcomes, outcome) {
			q.groups = append(q.groups, listGroup{rank: tarsy.SessionCompleted.Rank(), status: string(tarsy.SessionCompleted), outcome: outcome})
		}
	}
}

// addGroups adds the groups of a list. Unfinished sessions are one group, unless the order or the filter distinguishes running
// sessions from waiting ones.
func (q *listQuery) addGroups(f tarsy.SessionFilter) {
	if len(f.Outcomes) > 0 {
		q.addOutcomes(f)

		return
	}

	var running, waiting []tarsy.SessionStatus

	for _, status := range tarsy.SessionStatuses() {
		switch wanted := len(f.Statuses) == 0 || slices.Contains(f.Statuses, status); {
		case !wanted:
		case status.Terminal():
			q.groups = append(q.groups, listGroup{rank: status.Rank(), status: string(status)})
		case status == tarsy.SessionPending:
			waiting = append(waiting, status)
		default:
			running = append(running, status)
		}
	}

	if f.Order != tarsy.OrderAttention && len(f.Statuses) == 0 {
		q.groups = append(q.groups, listGroup{})

		return
	}

	if len(running) > 0 {
		q.groups = append(q.groups, listGroup{rank: tarsy.SessionInProgress.Rank(), open: running})
	}

	if len(waiting) > 0 {
		q.groups = append(q.groups, listGroup{rank: tarsy.SessionPending.Rank(), open: waiting})
	}
}

// listColumns are the columns of session_list that lists are filtered by.
const listColumns = "session_id, status, alert_type, chain_id, author, severity, service, namespace, cluster, team, fingerprint, outcome, handling, assignee, assignee_id, created_at, words"

// isRunning selects running sessions by their index, which has no others: few run, however many wait.
const isRunning = "o.status IN ('in_progress', 'cancelling')"

// source returns what a group is read from (a table or a join), further conditions on its rows, and the columns that order it.
// Statuses are literals, for the planner.
func (g listGroup) source() (from string, where []string, at, id string) {
	if g.waiting != "" {
		return "waiting AS w CROSS JOIN LATERAL (SELECT " + listColumns +
			" FROM session_list WHERE session_id = w.session_id OFFSET 0) AS l", []string{g.waiting}, "l.created_at", "l.session_id"
	}

	where = []string{"l.status = '" + g.status + "'"}

	if g.outcome != tarsy.OutcomeNone {
		where = append(where, "l.outcome = '"+string(g.outcome)+"'")
	}

	if g.handling != "" {
		where = append(where, "l.handling = '"+string(g.handling)+"'")
	}

	switch {
	case g.open == nil:
		return "session_list l", where, "l.created_at", "l.session_id"
	case slices.Contains(g.open, tarsy.SessionPending):
		return "session_list l JOIN sessions o ON o.id = l.session_id AND o.status = 'pending'", where, "l.created_at", "l.session_id"
	}

	if len(g.open) == 1 {
		where = append(where, "o.status = '"+string(g.open[0])+"'")
	}

	// Look up each running session by itself, whatever the other filters: none of them justifies reading all waiting sessions.
	return "sessions o CROSS JOIN LATERAL (SELECT " + listColumns + " FROM session_list WHERE session_id = o.id OFFSET 0) AS l",
		append(where, isRunning), "o.created_at", "o.id"
}

// page returns the statement for a page, or an empty string if nothing can follow. The limit and the statuses are literals: with
// parameters the planner would have to guess how few rows are wanted. A rank is read only as far as the ranks before it leave the
// page unfilled: a limit of zero rows reads nothing.
func (q *listQuery) page(f tarsy.SessionFilter) string {
	limit := strconv.Itoa(f.Limit)
	ranks := q.ranks(f)
	left := limit

	var tables, rows []string

	for _, rank := range slices.Sorted(maps.Keys(ranks)) {
		name := "rank_" + strconv.Itoa(rank)
		tables = append(tables, name+` AS MATERIALIZED (SELECT session_id, at, `+strconv.Itoa(rank)+` AS rank FROM (
    SELECT session_id, at FROM (`+strings.Join(ranks[rank], " UNION ALL ")+`) AS groups ORDER BY at DESC, session_id DESC LIMIT `+limit+`) AS page LIMIT greatest(0, `+left+`))`)
		rows = append(rows, "SELECT session_id, at, rank FROM "+name)
		left += " - (SELECT count(*) FROM " + name + ")"
	}

	if len(rows) == 0 {
		return ""
	}

	return itemSQL("@now", tables...) + `
FROM (` + strings.Join(rows, " UNION ALL ") + `) AS page JOIN sessions s ON s.id = page.session_id` + itemJoin + ` ORDER BY rank, at DESC, page.session_id DESC`
}

// ranks returns the statements that read the groups, by rank. Unless the order is OrderAttention, all groups have one rank.
func (q *listQuery) ranks(f tarsy.SessionFilter) map[int][]string {
	ranks := map[int][]string{}

	for group, conditions := range q.parts() {
		from, where, at, id := group.source()
		where = append(append(where, q.where...), conditions...)
		rank := 0

		if f.Order == tarsy.OrderAttention {
			rank = group.rank

			if group.waiting == "" {
				where = append(where, id+" NOT IN (SELECT session_id FROM waiting)")
			}
		}

		if after := f.After; after != nil {
			q.args["after_at"], q.args["after_id"] = after.CreatedAt, after.ID

			switch place := orZero(after.Rank); {
			case rank < place:
				continue
			case rank == place:
				where = append(where, "("+at+", "+id+") < (@after_at, @after_id::uuid)")
			}
		}

		ranks[rank] = append(ranks[rank], `(SELECT l.session_id, l.created_at AS at FROM `+from+` WHERE `+strings.Join(where, " AND ")+`
    ORDER BY `+at+` DESC, `+id+` DESC LIMIT `+strconv.Itoa(f.Limit)+`)`)
	}

	return ranks
}

// manyTeams is the maximum number of teams that are read separately.
const manyTeams = 6

// parts yields each group with a condition on the team and one of either. Every team is a separate part, because several together
// are not in the order of an index; with many teams, the extra statements cost more than the rows that are read in vain.
func (q *listQuery) parts() iter.Seq2[listGroup, []string] {
	conditions := [][]string{nil}

	if len(q.visible) > manyTeams {
		conditions = [][]string{{q.visibleTeams()}}
	} else if q.visible != nil {
		conditions = nil

		for i, team := range q.visible {
			// Sessions with a team and those without have separate indexes; the condition tells the planner which one to use.
			condition := "l.team = ''"
			if team != "" {
				name := "visible_" + strconv.Itoa(i)
				condition, q.args[name] = "l.team = @"+name+" AND l.team <> ''", team
			}

			conditions = append(conditions, []string{condition})
		}
	}

	if len(q.either) > 0 {
		var split [][]string

		for _, condition := range conditions {
			for _, one := range q.either {
				split = append(split, append([]string{one}, condition...))
			}
		}

		conditions = split
	}

	return func(yield func(listGroup, []string) bool) {
		for _, group := range q.groups {
			for _, condition := range conditions {
				if !yield(group, condition) {
					return
				}
			}
		}
	}
}

// visibleTeams is the condition that a session is visible.
func (q *listQuery) visibleTeams() string {
	q.args["visible"] = q.visible

	return "l.team = ANY (@visible)"
}

func orZero(n *int) int {
	if n == nil {
		return 0
	}

	return *n
}

// QueueCounts is how many sessions wait for an investigation and how many are under investigation, over all servers. It counts
// neither questions nor sessions that wait for an approval.
type QueueCounts struct {
	Waiting int
	Leased  int
}

// Queue returns the counts of the queue.
func (db *DB) Queue(ctx context.Context) (QueueCounts, error) {
	counts, err := Collect[QueueCounts](ctx, db.front, `
SELECT (SELECT count(*) FROM sessions WHERE runnable_at <= $1 AND lease_until IS NULL AND completed_at IS NULL) AS waiting,
       (SELECT count(*) FROM sessions WHERE lease_until IS NOT NULL AND lease_counted) AS leased`, db.clock.Now())
	if err != nil {
		return QueueCounts{}, fmt.Errorf("count the queue: %w", err)
	}

	return counts[0], nil
}
