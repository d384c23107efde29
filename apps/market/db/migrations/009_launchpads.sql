-- How far each launchpad was read, and how much of it was taken.

create table launchpads (
  name text primary key,
  -- What is looked for, as configured: read from the newest on where it becomes another.
  source text not null,
  -- Null: not looked at yet.
  height bigint,
  hash text,
  check ((height is null) = (hash is null)),
  -- Taken in hand, it is due again when the one who took it must be dead.
  due_at timestamptz not null,
  -- The hour that the next two are counted in.
  hour_at timestamptz not null,
  taken integer not null default 0,
  left_out integer not null default 0
);
