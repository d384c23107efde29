-- What several webhooks of an account are sent of one event is kept once: all of the body but the
-- type and the id of the delivery, with which it begins. A delivery without a body of its own has
-- that of its event, by `position`.

create table delivery_bodies (
  id bigint primary key,
  rest text not null
);

alter table deliveries alter column body drop not null;

-- However deliveries go: by age, with their webhook, or with their account.
create function delivery_bodies_unused() returns trigger language plpgsql as $$
begin
  delete from delivery_bodies b
    where b.id in (select position from gone where body is null)
      and not exists (select from deliveries d where d.position = b.id and d.body is null);
  return null;
end $$;

create trigger delivery_bodies_unused after delete on deliveries
  referencing old table as gone
  for each statement execute function delivery_bodies_unused();

-- Whether it ever answered 2xx. Of those that are there it is not known, and they keep their room.
alter table webhooks add column answered boolean not null default true;
alter table webhooks alter column answered set default false;
