-- When an API key expires; a key without a row does not. Earlier releases read every column of api_keys, so this is a
-- table of its own. They do not know that keys expire.
CREATE TABLE api_key_expiries (
    key_id     uuid PRIMARY KEY REFERENCES api_keys (id) ON DELETE CASCADE,
    expires_at timestamptz NOT NULL
);
