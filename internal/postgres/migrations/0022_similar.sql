-- Every organization of a note looks for similar entities. Entries that wait to be sorted into the index would be read each time, all of
-- them: up to 4 MB. Entities have few words, so sorting them in at once is cheap.
ALTER INDEX entities_words SET (fastupdate = off);
SELECT gin_clean_pending_list('entities_words');
