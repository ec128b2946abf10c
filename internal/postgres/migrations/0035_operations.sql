-- What people on call do: pauses of all servers, and links that share one session.

-- One row for each kind. A row whose end is over means nothing; the next pause replaces it.
CREATE TABLE pauses (
    kind      text PRIMARY KEY CHECK (kind IN ('intake', 'claiming')),
    reason    text        NOT NULL,
    author    text        NOT NULL,
    paused_at timestamptz NOT NULL,
    ends_at   timestamptz CHECK (ends_at > paused_at)
);

-- The secret of a link is kept by nobody but those who have the link.
CREATE TABLE session_shares (
    id           uuid PRIMARY KEY,
    session_id   uuid        NOT NULL REFERENCES sessions (id) ON DELETE CASCADE,
    hash         bytea       NOT NULL UNIQUE,
    author       text        NOT NULL,
    created_at   timestamptz NOT NULL,
    expires_at   timestamptz NOT NULL CHECK (expires_at > created_at),
    revoked_at   timestamptz,
    last_used_at timestamptz,
    uses         bigint      NOT NULL DEFAULT 0
);
CREATE INDEX session_shares_session ON session_shares (session_id, created_at);
