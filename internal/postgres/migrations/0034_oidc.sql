-- A browser may be logged in by a user of an OpenID Connect issuer instead of a key. Groups and teams are what the issuer claimed at the login; the
-- role is derived from the groups at each request. Earlier releases join browser sessions with their keys, and so do not find these.
ALTER TABLE browser_sessions
    ALTER COLUMN key_id DROP NOT NULL,
    ADD COLUMN issuer      text,
    ADD COLUMN subject     text,
    ADD COLUMN user_name   text,
    ADD COLUMN user_groups text[] NOT NULL DEFAULT '{}',
    ADD COLUMN user_teams  text[] NOT NULL DEFAULT '{}',
    ADD CONSTRAINT browser_sessions_login_check CHECK (
        (key_id IS NOT NULL AND issuer IS NULL AND subject IS NULL AND user_name IS NULL)
        OR (key_id IS NULL AND issuer <> '' AND subject <> '' AND user_name <> '' AND issuer IS NOT NULL AND subject IS NOT NULL AND user_name IS NOT NULL)
    ) NOT VALID;

CREATE INDEX browser_sessions_user ON browser_sessions (issuer, subject) WHERE issuer IS NOT NULL;
