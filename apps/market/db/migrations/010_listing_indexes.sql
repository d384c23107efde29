-- What is due: candidates that somebody asked for apart from those of launchpads, which come after.
drop index candidates_due;
create index candidates_due on candidates ((source = 'api'), next_check_at)
  where status = 'pending';
-- Those of a launchpad that wait.
create index candidates_by_source on candidates (source) where status = 'pending';
-- Those whose time is over.
create index candidates_expiring on candidates (gives_up_at) where status = 'pending';
-- Newest first, for operators.
create index candidates_by_age on candidates (created_at desc, id);
