CREATE TABLE api_keys (
    id           uuid PRIMARY KEY,
    name         text        NOT NULL CHECK (name <> ''),
    prefix       text        NOT NULL UNIQUE,
    hash         bytea       NOT NULL UNIQUE,
    scopes       text[]      NOT NULL CHECK (scopes <@ ARRAY ['read', 'write', 'admin'] AND cardinality(scopes) > 0),
    created_at   timestamptz NOT NULL,
    last_used_at timestamptz,
    revoked_at   timestamptz
);
