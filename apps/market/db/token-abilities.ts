// Which signatures of its holders each token takes, as it was last found.

import type { TokenAbilities } from '@parley/chains/interface/fund-ways.ts';
import type { ChainKey } from '@parley/core/families.ts';
import { none, one } from '@parley/host/postgres/statements.ts';

type KeptAbilities = { readonly abilities: TokenAbilities; readonly foundAt: Date };

export const keptAbilities = one<[chain: ChainKey, token: string], KeptAbilities>(
  'token_abilities',
)`
  select abilities, found_at as "foundAt" from token_abilities where chain = $1 and token = $2`;

/**
 * An ability that is kept and unchanged is written again only once it is old: some nodes have it
 * tried often.
 */
export const keepAbilities = none<
  [about: { chain: ChainKey; token: string; abilities: TokenAbilities; at: Date }]
>('token_abilities_keep')`
  insert into token_abilities (chain, token, abilities, found_at)
    values (:chain, :token, :abilities::jsonb, :at)
    on conflict (chain, token) do update set abilities = :abilities::jsonb, found_at = :at
    where token_abilities.abilities <> :abilities::jsonb
      or token_abilities.found_at < :at::timestamptz - interval '1 hour'`;
