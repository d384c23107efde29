-- Which signatures of its holders a token takes, found by trying them: `{ permit, authorization }`,
-- each the token's EIP-712 domain or null. What a node could not answer is not kept.
create table token_abilities (
  chain text not null,
  token text not null,
  abilities jsonb not null,
  found_at timestamptz not null,
  primary key (chain, token)
);

-- When the text of an authorization for it was given, or a signature over one was seen, first. Until
-- that signature can open nothing any more, the leg does not move off.
alter table escrows add column authorized_at timestamptz;
