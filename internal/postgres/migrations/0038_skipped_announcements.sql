-- An announcement that has nothing to tell any more, such as that of an approval that was decided meanwhile, is recorded as skipped.
ALTER TABLE announcements
    DROP CONSTRAINT announcements_state_check,
    ADD CONSTRAINT announcements_state_check CHECK (state IN ('pending', 'sent', 'failed', 'skipped')) NOT VALID;
