-- Which session an idempotency key created. Of the key, its sender and the request only hashes are kept. There is no
-- foreign key: a key outlives the rows of a session that was removed early.
CREATE TABLE idempotency_keys (
    hash        bytea PRIMARY KEY,
    fingerprint bytea       NOT NULL,
    session_id  uuid        NOT NULL,
    expires_at  timestamptz NOT NULL
);

CREATE INDEX idempotency_keys_expires ON idempotency_keys (expires_at);
