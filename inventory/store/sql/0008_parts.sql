-- The orders of a rollout are runs NAME-MODE or NAME-MODE-K of their own; lists show the whole alone.
ALTER TABLE runs ADD COLUMN of_run INTEGER REFERENCES runs (id);
CREATE INDEX runs_of_run ON runs (of_run) WHERE of_run IS NOT NULL;
