-- What was cleaned up: the journal's events up to trimmed_seq are gone. Only a holder writes events, so a session that
-- nobody has held since it was trimmed, at the fence trimmed_fence, has none to trim. That a plain last_seq > trimmed_seq
-- would say as well; but last_seq moves with every step, and an index that names it would make every step's update touch
-- all indexes of the table.
ALTER TABLE sessions ADD COLUMN trimmed_seq bigint NOT NULL DEFAULT 0;
ALTER TABLE sessions ADD COLUMN trimmed_fence bigint NOT NULL DEFAULT -1;
ALTER TABLE sessions ADD CHECK (trimmed_seq BETWEEN 0 AND last_seq);

-- The questions of the clean-up: which sessions that are over have a journal, and which are not deleted.
CREATE INDEX sessions_untrimmed ON sessions (completed_at, id) WHERE completed_at IS NOT NULL AND trimmed_fence < fence;
CREATE INDEX sessions_over ON sessions (completed_at, id) WHERE completed_at IS NOT NULL AND deleted_at IS NULL;
