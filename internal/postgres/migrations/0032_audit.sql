-- Who did what. Rows are numbered without gaps, and each contains the hash of the previous one (internal/audit). Rows are only added,
-- one at a time under an advisory lock, and stay forever.
CREATE TABLE audit_log (
    id          bigint PRIMARY KEY CHECK (id > 0),
    at          timestamptz NOT NULL,
    actor       text        NOT NULL,
    actor_kind  text        NOT NULL,
    key_id      text        NOT NULL,
    key_prefix  text        NOT NULL,
    role        text        NOT NULL,
    action      text        NOT NULL,
    target_type text        NOT NULL,
    target_id   text        NOT NULL,
    request_id  text        NOT NULL,
    remote      text        NOT NULL,
    outcome     text        NOT NULL,
    details     jsonb       NOT NULL,
    -- Unique, so that a writer that does not take the lock fails instead of starting a second chain.
    prev_hash   text        NOT NULL UNIQUE,
    hash        text        NOT NULL
);

CREATE INDEX audit_log_actor ON audit_log (actor, id);
CREATE INDEX audit_log_action ON audit_log (action, id);
CREATE INDEX audit_log_target ON audit_log (target_id, id);

CREATE FUNCTION refuse_audit_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION 'audit_log is append-only: % is refused', TG_OP USING ERRCODE = 'insufficient_privilege';
END $$;

CREATE TRIGGER audit_log_append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON audit_log
    FOR EACH STATEMENT EXECUTE FUNCTION refuse_audit_change();
