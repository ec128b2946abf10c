-- pg_restore works with an empty search_path, and these functions, which a generated column and an index use, call others by their bare
-- names: a dump of the database could not be restored. They now bring the path of the migration with them.
ALTER FUNCTION search_tokens(text) SET search_path FROM CURRENT;
ALTER FUNCTION search_set(text) SET search_path FROM CURRENT;
