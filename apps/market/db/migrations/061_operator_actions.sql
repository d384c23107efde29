-- What operators did, each in the transaction of its effect. It is only added to: whoever has the
-- commands has not the right to make it look otherwise, and who owns the table must drop the trigger
-- first. Kept for ever: a few rows a day.

create table operator_actions (
  id bigint generated always as identity primary key,
  at timestamptz not null,
  operator text not null,
  os_user text not null,
  host text not null,
  command text not null,
  arguments jsonb not null,
  outcome text not null check (outcome in ('done', 'unchanged', 'refused')),
  facts jsonb not null
);

create function operator_actions_stand() returns trigger language plpgsql as $$
begin
  raise exception 'operator_actions is only added to: % is refused', lower(tg_op);
end $$;

create trigger operator_actions_stand before update or delete or truncate on operator_actions
  for each statement execute function operator_actions_stand();
