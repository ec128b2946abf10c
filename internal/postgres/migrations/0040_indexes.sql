-- Statements on connections that use index scans only, for which there was no index. The planner gave their scans a cost that means "never".

-- The purge deletes the requests of its sessions; there were indexes of open requests only. It costs an entry for each cancellation, question and
-- decision.
CREATE INDEX requests_session ON requests (session_id);

-- Each chat that is purged, and each project that is deleted, looks for rows that refer to it. It costs an entry for each question, and for each
-- review item that is about a project.
CREATE INDEX chat_user_messages_chat ON chat_user_messages (chat_id);
CREATE INDEX review_items_project ON review_items (project_id) WHERE project_id IS NOT NULL;

-- A new project is placed behind the last one, and a note is compared with the active projects. There are few projects, and they rarely change.
CREATE INDEX projects_position ON projects (position, id);
CREATE INDEX projects_active ON projects (id) WHERE status = 'active';
