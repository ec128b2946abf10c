-- Who gave feedback and who takes care of a session is an identity: others may have the same name. It is empty where the previous release wrote the row, and for
-- callers without one; then the name decides.

-- Locked first, as every step commit does, and at once as strongly as anything below needs.
LOCK TABLE sessions IN ACCESS EXCLUSIVE MODE;

ALTER TABLE feedback ADD COLUMN author_id text NOT NULL DEFAULT '';
ALTER TABLE session_handling ADD COLUMN assignee_id text NOT NULL DEFAULT '';
ALTER TABLE session_list ADD COLUMN assignee_id text NOT NULL DEFAULT '';

-- One opinion per identity. The previous release needs that there is one per name too.
CREATE UNIQUE INDEX feedback_session_author_id ON feedback (session_id, author_id) WHERE author_id <> '';

-- Somebody's own sessions have their identity, or their name and no identity. A session that is assigned is in one of both indexes. The index of all names
-- would not do: in it, the few without an identity are among all that have one.
CREATE INDEX session_list_assignee_id ON session_list (assignee_id, status, created_at, session_id) WHERE assignee_id <> '';
CREATE INDEX session_list_assignee_name ON session_list (assignee, status, created_at, session_id) WHERE assignee <> '' AND assignee_id = '';

-- The previous release changes the name only, which leaves the identity of somebody else behind.
CREATE FUNCTION clear_assignee_id() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    NEW.assignee_id := '';
    RETURN NEW;
END
$$;

CREATE TRIGGER session_handling_reassigned BEFORE UPDATE OF assignee ON session_handling FOR EACH ROW
    WHEN (OLD.assignee_id <> '' AND NEW.assignee_id = OLD.assignee_id AND NEW.assignee <> OLD.assignee) EXECUTE FUNCTION clear_assignee_id();
CREATE TRIGGER session_list_reassigned BEFORE UPDATE OF assignee ON session_list FOR EACH ROW
    WHEN (OLD.assignee_id <> '' AND NEW.assignee_id = OLD.assignee_id AND NEW.assignee <> OLD.assignee) EXECUTE FUNCTION clear_assignee_id();
