-- Who holds an asset closed, and why. It is open when nobody does and it was never delisted.

alter table assets
  -- By whom: { "settings" | "checks" | "operator": { reasons: [], at } }.
  add column closings jsonb not null default '{}',
  -- For ever.
  add column delisted_at timestamptz,
  -- Among the curated assets of the settings at the last start.
  add column configured boolean not null default false;
update assets set configured = enabled where source = 'curated';
update assets set closings = jsonb_build_object('settings', jsonb_build_object(
    'reasons', jsonb_build_array('no longer among the curated assets of the settings'),
    'at', now()))
  where not enabled;
alter table assets drop column enabled;
alter table assets
  add column enabled boolean not null
    generated always as (closings = '{}'::jsonb and delisted_at is null) stored,
  add column state text not null generated always as (
    case when delisted_at is not null then 'delisted'
      when closings = '{}'::jsonb then 'open' else 'closed' end) stored;

-- The orders of an asset that closes or reopens, in pieces.
create index live_rfqs_by_base on rfqs (base_asset_id, id) where status in ('open', 'negotiating');
create index live_rfqs_by_quote on rfqs (quote_asset_id, id) where status in ('open', 'negotiating');
