-- A browser that somebody logged in with a key. Of the cookie's secret only the hash is kept. What the session may do is
-- what its key may do at the time of each request, so that a revoked key ends it without a word here.
CREATE TABLE browser_sessions (
    hash       bytea PRIMARY KEY,
    key_id     uuid        NOT NULL REFERENCES api_keys (id) ON DELETE CASCADE,
    csrf_token text        NOT NULL CHECK (csrf_token <> ''),
    created_at timestamptz NOT NULL,
    expires_at timestamptz NOT NULL CHECK (expires_at > created_at)
);

CREATE INDEX browser_sessions_expires ON browser_sessions (expires_at);
CREATE INDEX browser_sessions_key ON browser_sessions (key_id);
