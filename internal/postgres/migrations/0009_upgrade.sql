-- What a session runs by. The recipe is its chain as it was resolved when the alert was submitted; it is stored once,
-- by its content. Needs names what a server must have configured to run it: mcp:<server>, llm:<provider>. A session
-- of an earlier release has no recipe; it needs chain:<its chain>.
CREATE TABLE recipes (
    hash       text        PRIMARY KEY,
    needs      text[]      NOT NULL,
    recipe     jsonb       NOT NULL,
    created_at timestamptz NOT NULL
);

-- The servers that run sessions, and what each has configured: a session that none of them can run fails in the end.
CREATE TABLE servers (
    id             text        PRIMARY KEY,
    engine_version integer     NOT NULL,
    has            text[]      NOT NULL,
    seen_at        timestamptz NOT NULL
);

-- engine_version is the lowest version of the engine that can continue the session.
ALTER TABLE sessions ADD COLUMN recipe_hash text, ADD COLUMN engine_version integer NOT NULL DEFAULT 1;

-- The claimer looks at each kind of waiting session by itself, so that those it cannot run do not stand in the way of
-- those it can, however many they are.
DROP INDEX sessions_runnable;
CREATE INDEX sessions_waiting ON sessions (engine_version, coalesce(recipe_hash, chain_id), runnable_at, id)
    WHERE runnable_at IS NOT NULL AND lease_until IS NULL AND completed_at IS NULL;
