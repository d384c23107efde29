// Which signatures of its holders each token takes, as it was last found.

import type { TokenAbilities } from '../../chains/interface/fund-ways.ts';
import type { ChainKey } from '../../core/families.ts';
import type { Tx } from './database.ts';

export type KeptAbilities = { readonly abilities: TokenAbilities; readonly found_at: Date };

export async function keptAbilities(
  tx: Tx,
  chain: ChainKey,
  token: string,
): Promise<KeptAbilities | null> {
  const [row] = await tx.rows<KeptAbilities>({
    name: 'token_abilities',
    text: `select abilities, found_at from token_abilities where chain = $1 and token = $2`,
    values: [chain, token],
  });
  return row ?? null;
}

/** What is kept and stays is written again only once it is old: some nodes have it tried often. */
export async function keepAbilities(
  tx: Tx,
  about: { chain: ChainKey; token: string; abilities: TokenAbilities; at: Date },
): Promise<void> {
  await tx.rows({
    name: 'token_abilities_keep',
    text: `insert into token_abilities (chain, token, abilities, found_at)
      values ($1, $2, $3, $4)
      on conflict (chain, token) do update set abilities = $3, found_at = $4
      where token_abilities.abilities <> $3::jsonb
        or token_abilities.found_at < $4::timestamptz - interval '1 hour'`,
    values: [about.chain, about.token, JSON.stringify(about.abilities), about.at],
  });
}
