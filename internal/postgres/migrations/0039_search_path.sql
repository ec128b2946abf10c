-- Every claim looks for servers that were seen lately. The connections that claim use index scans only, and without an index the planner gave
-- this scan a cost that means "never", which was enough for PostgreSQL to compile the claim on every execution.
CREATE INDEX servers_seen ON servers (seen_at);

-- Functions that earlier releases created have no search path of their own, or that of the role that created them. Whatever path is
-- current, the end of the migration replaces it by the schema: see pinFunctionsSQL.
ALTER FUNCTION search_tokens(text) SET search_path FROM CURRENT;
ALTER FUNCTION search_words(text, text) SET search_path FROM CURRENT;
ALTER FUNCTION search_query(text[], boolean[], text) SET search_path FROM CURRENT;
ALTER FUNCTION session_words(text, text, text) SET search_path FROM CURRENT;
ALTER FUNCTION session_title(text, text, text, text) SET search_path FROM CURRENT;
ALTER FUNCTION session_list_insert() SET search_path FROM CURRENT;
ALTER FUNCTION session_list_update() SET search_path FROM CURRENT;
ALTER FUNCTION session_list_delete() SET search_path FROM CURRENT;
ALTER FUNCTION usage_slot() SET search_path FROM CURRENT;
ALTER FUNCTION count_llm_usage() SET search_path FROM CURRENT;
ALTER FUNCTION count_tool_usage() SET search_path FROM CURRENT;
ALTER FUNCTION search_spaced(text) SET search_path FROM CURRENT;
ALTER FUNCTION search_text(text) SET search_path FROM CURRENT;
ALTER FUNCTION search_set(text) SET search_path FROM CURRENT;
ALTER FUNCTION count_note_usage() SET search_path FROM CURRENT;
ALTER FUNCTION label_words(jsonb) SET search_path FROM CURRENT;
ALTER FUNCTION record_quality(uuid[]) SET search_path FROM CURRENT;
ALTER FUNCTION session_quality_update() SET search_path FROM CURRENT;
ALTER FUNCTION session_quality_delete() SET search_path FROM CURRENT;
ALTER FUNCTION refuse_audit_change() SET search_path FROM CURRENT;
