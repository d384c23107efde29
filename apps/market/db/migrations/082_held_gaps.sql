-- Missing time holds agreements until an operator goes on: no chain is read back for it.
-- compatible from 081: nothing was released that reads chains back
-- small gaps: a row for each time that was missing

drop table gap_readings;
update gaps set why = 'lineage' where why = 'restored';
alter table gaps
  add column holds boolean not null default false,
  drop constraint gaps_why_check,
  add constraint gaps_why_check check (why in ('silence', 'went_back', 'lineage'));
alter table heartbeat drop column restored;
alter table hashlocks drop column seen_on;
