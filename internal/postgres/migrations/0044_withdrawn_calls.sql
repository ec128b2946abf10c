-- A server of a release that does not know approvals cancels a session and leaves its waiting calls as they are. They are withdrawn with the
-- session here, as this release does in the step that ends it; then the trigger finds none. Sessions that complete have none.
CREATE FUNCTION withdraw_waiting_calls() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    withdrawn jsonb := jsonb_build_object('status', 'withdrawn',
        'decided_at', to_char(NEW.completed_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'));
BEGIN
    WITH calls AS (
        UPDATE mcp_interactions SET status = 'failed', is_error = true, error_message = 'the call was not made', completed_at = NEW.completed_at
        WHERE session_id = NEW.id AND status = 'waiting' RETURNING id, timeline_event_id
    ), approved AS (
        UPDATE approvals a SET approval = a.approval || withdrawn FROM calls c WHERE a.id = c.id AND a.approval ->> 'status' = 'waiting'
        RETURNING c.timeline_event_id, a.approval
    )
    UPDATE timeline_events e SET metadata = jsonb_set(e.metadata, '{approval}', p.approval) FROM approved p
    WHERE e.id = p.timeline_event_id AND e.metadata ? 'approval';

    RETURN NULL;
END
$$;

CREATE TRIGGER withdraw_waiting_calls AFTER UPDATE OF completed_at ON sessions FOR EACH ROW
    WHEN (OLD.completed_at IS DISTINCT FROM NEW.completed_at AND NEW.completed_at IS NOT NULL AND NEW.status <> 'completed')
    EXECUTE FUNCTION withdraw_waiting_calls();
