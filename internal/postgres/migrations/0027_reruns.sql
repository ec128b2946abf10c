-- What a re-run was asked for, and the re-runs of a session.

-- Locked first, as every step commit does, and at once as strongly as anything below needs.
LOCK TABLE sessions IN ACCESS EXCLUSIVE MODE;

ALTER TABLE sessions ADD COLUMN llm_provider text NOT NULL DEFAULT '';

-- Few sessions are re-runs, so it costs the others nothing.
CREATE INDEX sessions_rerun_of ON sessions (rerun_of) WHERE rerun_of IS NOT NULL;
