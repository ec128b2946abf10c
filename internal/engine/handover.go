package engine

import (
	"context"
	"time"

	"tarsy.dev/tarsy/internal/postgres"
)

// handOver releases the lease of an unfinished session.
func (r *sessionRun) handOver() {
	const patience = 5 * time.Second

	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()

	r.memory.waitCommitted(ctx)

	if err := r.engine.DB.HandOver(ctx, r.lease); err != nil {
		r.engine.Logger.Warn("could not hand the session over; its lease will expire", "session_id", r.lease.SessionID, "error", err)
	}
}

// newerSchemaPause is how long a session is left to newer servers before this one tries again.
const newerSchemaPause = 30 * time.Second

// newerSchema reports whether the database rejected a step and has a schema of a newer release, which may be able to store the step.
// certain is false if that could not be determined.
func (r *sessionRun) newerSchema(err error) (newer, certain bool) {
	if !postgres.SchemaRefused(err) {
		return false, true
	}

	ctx, cancel := context.WithTimeout(context.Background(), databasePatience)
	defer cancel()

	newer, err = r.engine.DB.NewerSchema(ctx)

	return newer, err == nil
}

// deferToNewer releases the lease so that a server of a newer release can claim the session.
func (r *sessionRun) deferToNewer() {
	ctx, cancel := context.WithTimeout(context.Background(), databasePatience)
	defer cancel()

	r.memory.waitCommitted(ctx)
	r.engine.Logger.Warn("the database has a newer schema, which refused a step; deferring the session to a newer server",
		"session_id", r.lease.SessionID, "retry_after", newerSchemaPause)

	if err := r.engine.DB.Defer(ctx, r.lease, r.engine.now().Add(newerSchemaPause)); err != nil {
		r.engine.Logger.Warn("could not hand the session over; its lease will expire", "session_id", r.lease.SessionID, "error", err)
	}
}
