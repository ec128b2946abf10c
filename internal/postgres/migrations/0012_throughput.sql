-- What a step costs. Steps lock sessions before anything else, so this does too.
LOCK TABLE sessions IN ACCESS EXCLUSIVE MODE;

-- A step holds the lock of its session's row and refuses rows of other sessions, and purging a session deletes its rows
-- table by table. Checking the foreign key of every row took 6 % of PostgreSQL's time and showed nothing else. The rows
-- of chats and requests are few; theirs stay.
ALTER TABLE stages DROP CONSTRAINT stages_session_id_fkey;
ALTER TABLE executions DROP CONSTRAINT executions_session_id_fkey;
ALTER TABLE timeline_events DROP CONSTRAINT timeline_events_session_id_fkey;
ALTER TABLE messages DROP CONSTRAINT messages_session_id_fkey;
ALTER TABLE llm_interactions DROP CONSTRAINT llm_interactions_session_id_fkey;
ALTER TABLE mcp_interactions DROP CONSTRAINT mcp_interactions_session_id_fkey;

-- Texts of more than 2 kB are compressed. The default method took 5 % of PostgreSQL's time, and lz4 a fifth of that. Not every
-- build of PostgreSQL has it. What is stored already stays as it is.
DO $$
DECLARE
    wide record;
BEGIN
    FOR wide IN
        SELECT a.attrelid::regclass AS relation, a.attname AS name
        FROM pg_attribute a
        WHERE a.attrelid IN ('sessions'::regclass, 'events'::regclass, 'messages'::regclass, 'timeline_events'::regclass,
                'llm_interactions'::regclass, 'mcp_interactions'::regclass)
            AND a.attnum > 0 AND NOT a.attisdropped AND a.attstorage = 'x'
    LOOP
        EXECUTE format('ALTER TABLE %s ALTER COLUMN %I SET COMPRESSION lz4', wide.relation, wide.name);
    END LOOP;
EXCEPTION
    WHEN feature_not_supported THEN NULL;
END
$$;
