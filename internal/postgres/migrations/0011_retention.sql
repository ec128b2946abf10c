-- Which deleted sessions are due to be purged.
CREATE INDEX sessions_deleted ON sessions (deleted_at, id) WHERE deleted_at IS NOT NULL;
