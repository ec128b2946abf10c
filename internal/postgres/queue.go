package postgres

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/progress"
)

const (
	// claimLock serializes claims across servers, which makes the limits exact.
	claimLock = 0x7461727379_02
	// claimStatement is the name of the prepared claimSQL, and claimByTeamStatement that of claimByTeamSQL.
	claimStatement       = "tarsy_claim"
	claimByTeamStatement = "tarsy_claim_by_team"
)

// ClaimParams are the parameters of a claim: which server claims, and how much.
type ClaimParams struct {
	ServerID string
	// Slots is how many more sessions this server can take.
	Slots int
	// MaxSessions is the limit across all servers; every lease counts, even an expired one.
	MaxSessions int
	// MaxPerTeam is the limit for the sessions of one team, and TeamLimits overrides it for single teams by name. Zero and nil mean none.
	MaxPerTeam int
	TeamLimits map[string]int
	// Cancels is how many sessions that only need to be cancelled may be taken in addition, and Chats how many finished ones with
	// a question to answer; neither counts against a limit.
	Cancels int
	Chats   int
	// Held are the sessions that this server already works on: it does not take its own expired leases.
	Held  []string
	Lease time.Duration
	// Version is the engine version of this server, and Has what its configuration provides, in the terms of a recipe's needs. It
	// takes only what it can run.
	Version int
	Has     []string
	// AbandonBefore lets it take sessions that no server can run: those that have waited since before then, and whose needs no
	// server has announced since. The zero time takes none.
	AbandonBefore time.Time
}

// Claim is a session that was just claimed.
type Claim struct {
	Lease

	Until time.Time
	// Uncounted claims exist to cancel the session or to answer a question, and count against no limit.
	Uncounted bool
	// RecipeHash identifies the session's recipe; it is empty for a session that follows the configuration.
	RecipeHash string
	State      progress.State
	// Unloadable is the error if the session could not be read, otherwise nil. Such a claim has no State, and must be released.
	Unloadable error

	// unstarted sessions have no rows but their own.
	unstarted bool
}

type claimRow struct {
	sessionRow

	Fence        int64
	Uncounted    bool
	OpenRequests int
	RecipeHash   string
}

// A session waits for a server that has what it needs; waitingSQL selects those that can be taken.
const (
	waitingSQL = `s.runnable_at IS NOT NULL AND s.lease_until IS NULL AND s.completed_at IS NULL`
	// kindSQL groups sessions with the same needs.
	kindSQL = `coalesce(s.recipe_hash, s.chain_id)`
	// strandedSQL is the condition that no server seen since @abandon has what is needed.
	strandedSQL = `NOT EXISTS (SELECT 1 FROM servers v WHERE v.seen_at > @abandon AND v.engine_version >= n.engine_version AND n.needs <@ v.has)`
)

// claimSQLWith returns the claim, which takes, in this order: sessions whose cancellation is requested, finished sessions with a
// question to answer, the same two kinds with an expired lease, other expired leases (a takeover does not change the number of
// leases), and waiting sessions, oldest first, up to the limit across servers.
//
// Of the last two it takes those that this server can run, and those that no server can run and that have waited since @abandon,
// which are then failed. Waiting sessions are taken by kind: the kinds are found by skipping from one to the next in the index,
// so any number of sessions that this server cannot run costs one step.
//
// While claiming is paused it takes only what is to be cancelled. A pause is written under the lock of all claims, so no claim misses it.
func claimSQLWith(waiting string) string {
	return `
WITH RECURSIVE paused AS (` + pausedSQL(tarsy.PauseClaiming, "@now") + `
), allowed AS (
    SELECT CASE WHEN EXISTS (SELECT FROM paused) THEN 0 ELSE @slots::bigint END AS slots,
           CASE WHEN EXISTS (SELECT FROM paused) THEN 0 ELSE @chats::bigint END AS chats
), cancels AS (
    SELECT s.id FROM sessions s
    WHERE s.runnable_at <= @now AND s.lease_until IS NULL AND s.open_requests > 0
      AND EXISTS (SELECT 1 FROM requests q WHERE q.session_id = s.id AND q.status = 'open' AND q.kind = 'cancel')
    ORDER BY s.runnable_at, s.id LIMIT @cancels
    FOR UPDATE OF s SKIP LOCKED
), chats AS (
    SELECT s.id FROM sessions s
    WHERE s.runnable_at <= @now AND s.lease_until IS NULL AND s.completed_at IS NOT NULL AND s.engine_version <= @version
      AND s.id NOT IN (SELECT id FROM cancels)
    ORDER BY s.runnable_at, s.id LIMIT (SELECT chats FROM allowed)
    FOR UPDATE OF s SKIP LOCKED
), orphaned_cancels AS (
    SELECT s.id FROM sessions s
    WHERE s.lease_until <= @now AND s.open_requests > 0 AND s.id <> ALL (@held::uuid[])
      AND EXISTS (SELECT 1 FROM requests q WHERE q.session_id = s.id AND q.status = 'open' AND q.kind = 'cancel')
    ORDER BY s.lease_until, s.id LIMIT @cancels - (SELECT count(*) FROM cancels)
    FOR UPDATE OF s SKIP LOCKED
), orphaned_chats AS (
    SELECT s.id FROM sessions s
    WHERE s.lease_until <= @now AND s.completed_at IS NOT NULL AND s.engine_version <= @version
      AND s.id <> ALL (@held::uuid[]) AND s.id NOT IN (SELECT id FROM orphaned_cancels)
    ORDER BY s.lease_until, s.id LIMIT (SELECT a.chats FROM allowed a) - (SELECT count(*) FROM chats)
    FOR UPDATE OF s SKIP LOCKED
), expired AS (
    SELECT s.id FROM sessions s LEFT JOIN recipes r ON r.hash = s.recipe_hash
    CROSS JOIN LATERAL (SELECT s.engine_version, coalesce(r.needs, ARRAY['chain:' || s.chain_id]) AS needs) n
    WHERE s.lease_until <= @now AND s.completed_at IS NULL AND s.engine_version <= @version
      AND s.id <> ALL (@held::uuid[]) AND s.id NOT IN (SELECT id FROM orphaned_cancels)
      AND (n.needs <@ @has::text[] OR s.lease_until <= @abandon AND ` + strandedSQL + `)
    ORDER BY s.lease_until, s.id LIMIT (SELECT slots FROM allowed)
    FOR UPDATE OF s SKIP LOCKED
), room AS (
    SELECT greatest(0, least((SELECT slots FROM allowed) - (SELECT count(*) FROM expired),
        @maxsessions - (SELECT count(*) FROM sessions WHERE lease_until IS NOT NULL AND lease_counted))) AS n
), kinds AS (
    (SELECT s.engine_version, ` + kindSQL + ` AS kind FROM sessions s
     WHERE ` + waitingSQL + ` AND s.engine_version <= @version
     ORDER BY s.engine_version, ` + kindSQL + ` LIMIT 1)
    UNION ALL
    SELECT next.engine_version, next.kind FROM kinds k CROSS JOIN LATERAL (
        SELECT s.engine_version, ` + kindSQL + ` AS kind FROM sessions s
        WHERE ` + waitingSQL + ` AND s.engine_version <= @version AND (s.engine_version, ` + kindSQL + `) > (k.engine_version, k.kind)
        ORDER BY s.engine_version, ` + kindSQL + ` LIMIT 1) next
), needed AS (
    SELECT k.engine_version, k.kind, coalesce(r.needs, ARRAY['chain:' || k.kind]) AS needs
    FROM kinds k LEFT JOIN recipes r ON r.hash = k.kind
), claimable AS (
    SELECT n.engine_version, n.kind, CASE WHEN n.needs <@ @has::text[] THEN @now ELSE @abandon END AS before
    FROM needed n WHERE n.needs <@ @has::text[] OR ` + strandedSQL + `
), waiting AS (` + waiting + `
), taken AS (
    SELECT id FROM cancels UNION ALL SELECT id FROM chats UNION ALL SELECT id FROM orphaned_cancels UNION ALL SELECT id FROM orphaned_chats
    UNION ALL SELECT id FROM expired UNION ALL SELECT id FROM waiting
)
UPDATE sessions s SET fence = s.fence + 1, pod_id = @server, lease_until = @until,
    lease_counted = s.id = ANY (ARRAY (SELECT id FROM waiting)) OR s.lease_counted AND s.id = ANY (ARRAY (SELECT id FROM expired)),
    interruptions = ` + interruptionsSQL + `
WHERE s.id = ANY (ARRAY (SELECT id FROM taken))
RETURNING s.fence, NOT s.lease_counted AS uncounted, s.open_requests, coalesce(s.recipe_hash, '') AS recipe_hash, ` + sessionRowColumns.Of("s")
}

// interruptionsSQL adds a takeover to the interruptions of a session: a server that stops cleanly leaves no lease behind. A lost
// server was last seen when it renewed its lease. The list is limited, because a session may crash every server that takes it.
const interruptionsSQL = `CASE WHEN s.lease_until IS NULL OR jsonb_array_length(s.interruptions) >= 100 THEN s.interruptions
        ELSE s.interruptions || jsonb_build_object('server_id', s.pod_id, 'resumed_by', @server::text,
            'last_seen_at', s.lease_until - (@until::timestamptz - @now::timestamptz), 'resumed_at', @now::timestamptz) END`

// The ways to choose waiting sessions: claimable has the kinds that can be taken, and room how many sessions.
const (
	oldestSQL = `
    SELECT w.id FROM claimable c CROSS JOIN LATERAL (
        SELECT s.id, s.runnable_at FROM sessions s
        WHERE ` + waitingSQL + ` AND s.engine_version = c.engine_version AND ` + kindSQL + ` = c.kind
          -- A severe alert is runnable from before it came: how long it has waited is told by created_at.
          AND s.runnable_at <= c.before AND s.created_at <= c.before
          AND s.id NOT IN (SELECT id FROM cancels)
        ORDER BY s.runnable_at, s.id LIMIT (SELECT n FROM room)
        FOR UPDATE OF s SKIP LOCKED) w
    ORDER BY w.runnable_at, w.id LIMIT (SELECT n FROM room)`

	// oldestByTeamSQL leaves out sessions of teams that are at their limit. It reads every waiting session, because sessions of
	// those teams may come before others. It chooses before it locks, so a session that is locked is left for the next claim.
	oldestByTeamSQL = `
    SELECT s.id FROM sessions s WHERE s.id = ANY (ARRAY (
        SELECT e.id FROM (
            SELECT s.id, s.runnable_at, s.team, row_number() OVER (PARTITION BY s.team ORDER BY s.runnable_at, s.id) AS place
            FROM claimable c JOIN sessions s ON ` + waitingSQL + ` AND s.engine_version = c.engine_version AND ` + kindSQL + ` = c.kind
              AND s.runnable_at <= c.before AND s.created_at <= c.before AND s.id NOT IN (SELECT id FROM cancels)
        ) e LEFT JOIN (
            SELECT team, count(*) AS n FROM sessions WHERE lease_until IS NOT NULL AND lease_counted GROUP BY team
        ) r ON r.team = e.team
        WHERE e.team = '' OR e.place + coalesce(r.n, 0) <= coalesce((@teamlimits::jsonb ->> e.team)::bigint, nullif(@perteam::bigint, 0), e.place + coalesce(r.n, 0))
        ORDER BY e.runnable_at, e.id LIMIT (SELECT n FROM room)))
    FOR UPDATE OF s SKIP LOCKED`
)

var (
	claimSQL       = claimSQLWith(oldestSQL)
	claimByTeamSQL = claimSQLWith(oldestByTeamSQL)
)

// Claim takes sessions for this server, and then, in a second statement, loads what the database has of those that have been
// worked on before.
//
// Lock and claim are one message: a server that vanishes while sending it has claimed nothing, and PostgreSQL never holds the
// lock of all claims while it waits for the rest.
func (db *DB) Claim(ctx context.Context, p ClaimParams) ([]Claim, error) {
	now := db.clock.Now()
	until := now.Add(p.Lease)

	// A null array would match nothing.
	held, has := append([]string{}, p.Held...), append([]string{}, p.Has...)

	var claims []Claim

	name, sql := claimStatement, claimSQL
	args := pgx.NamedArgs{
		"now": now, "until": until, "server": p.ServerID, "held": held,
		"slots": p.Slots, "cancels": p.Cancels, "chats": p.Chats, "maxsessions": p.MaxSessions,
		"version": p.Version, "has": has, "abandon": p.AbandonBefore,
	}

	if p.MaxPerTeam > 0 || len(p.TeamLimits) > 0 {
		limits, err := json.Marshal(p.TeamLimits)
		if err != nil {
			return nil, fmt.Errorf("claim sessions: %w", err)
		}

		name, sql = claimByTeamStatement, claimByTeamSQL
		args["perteam"], args["teamlimits"] = p.MaxPerTeam, string(limits)
	}

	err := db.work.AcquireFunc(ctx, func(conn *pgxpool.Conn) error {
		return lockAndRun(ctx, conn.Conn(), claimLock, name, sql, args, func(row pgx.CollectableRow) error {
			claim, err := readClaim(row, until)
			claims = append(claims, claim)

			return err
		})
	})
	if err != nil {
		return nil, fmt.Errorf("claim sessions: %w", err)
	}

	return db.loadClaims(ctx, claims)
}

// queuePlace is the place of a new session in the queue, as a time: each level of severity moves it forward by ageing. The place
// does not change, so a session is overtaken only by more severe ones that arrive within ageing for each level between them, and
// nothing starves.
func queuePlace(session tarsy.Session, ageing time.Duration) time.Time {
	return session.CreatedAt.Add(-time.Duration(session.Severity.Level()) * ageing)
}

// readClaim reads a claimed session. One that cannot be read is still claimed, and its claim has the error.
func readClaim(row pgx.CollectableRow, until time.Time) (Claim, error) {
	r, err := pgx.RowToStructByName[claimRow](row)
	if err == nil {
		return Claim{
			Lease: Lease{SessionID: r.ID, Fence: r.Fence}, Until: until, Uncounted: r.Uncounted, RecipeHash: r.RecipeHash,
			State: progress.State{Session: r.Session, LastSeq: r.LastSeq},
			// Nobody has worked on a session before its first lease.
			unstarted: r.Fence == 1 && r.OpenRequests == 0,
		}, nil
	}

	claim := Claim{Until: until, Unloadable: fmt.Errorf("read claimed session: %w", err)}

	for i, field := range row.FieldDescriptions() {
		switch value := string(row.RawValues()[i]); field.Name {
		case "id":
			claim.SessionID = value
		case "fence":
			if claim.Fence, err = strconv.ParseInt(value, 10, 64); err != nil {
				return claim, fmt.Errorf("read the fence of a claim: %w", err)
			}
		}
	}

	return claim, nil
}

// HandOver releases a lease with its work unfinished: any server may claim the session now, and it keeps its place in the queue.
// A session that counts against no limit is also signaled as a request, so that a server without a free worker notices it.
// Handing over a lost lease is not an error.
func (db *DB) HandOver(ctx context.Context, lease Lease) error { return db.handOver(ctx, lease, nil) }

// Defer releases a lease with its work unfinished, as HandOver does, but nobody claims the session before a time, unless a
// request is made to it.
func (db *DB) Defer(ctx context.Context, lease Lease, until time.Time) error {
	return db.handOver(ctx, lease, &until)
}

func (db *DB) handOver(ctx context.Context, lease Lease, notBefore *time.Time) error {
	var asked bool

	err := db.work.QueryRow(ctx, `UPDATE sessions SET lease_until = NULL, lease_counted = true, runnable_at = coalesce($3, runnable_at)
WHERE id = $1 AND fence = $2 AND lease_until IS NOT NULL
RETURNING completed_at IS NOT NULL OR open_requests > 0`, lease.SessionID, lease.Fence, notBefore).Scan(&asked)
	if err != nil && !errors.Is(err, pgx.ErrNoRows) {
		return fmt.Errorf("hand over session: %w", err)
	}

	if asked {
		db.signals.raise(topicRequests, lease.SessionID)
	}

	db.signals.raise(topicQueue, "")

	return nil
}
