-- The sessions of an author with an alert type. Either may have very many and both few in common: without this index a list
-- read all sessions of one of them. The chain mostly follows from the alert type, so it has no index with either.
CREATE INDEX session_list_alert_type_author ON session_list (alert_type, author, status, created_at, session_id);
