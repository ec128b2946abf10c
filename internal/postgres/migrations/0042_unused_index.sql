-- Lists have not read this index since 0010, which kept it for the release before. Every session wrote four entries into it: at intake and with each update of
-- its row that changes an index.
LOCK TABLE sessions IN ACCESS EXCLUSIVE MODE;
DROP INDEX sessions_created;
