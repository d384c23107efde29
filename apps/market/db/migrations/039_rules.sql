-- Under which rules a swap was agreed, as packages/core/rules.ts has them: `{ formula, contract: { a, b },
-- policies: { a, b } }`. Null = agreed before they were kept: nothing that is stored derives them.
alter table swaps add column rules jsonb;

-- Under which the standing acceptances of the current price were given. Null = none stands, or it
-- was given before this was kept, and stands no longer.
alter table threads add column accepted_rules jsonb;
