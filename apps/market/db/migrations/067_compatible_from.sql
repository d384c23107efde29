-- Which version applied a migration, and the least migration that a version must know to work on
-- what it left; null: whatever worked before. apps/market/db/migrate.ts reads both.

alter table migrations add column version text, add column compatible_from text;
