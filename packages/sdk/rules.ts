// Under which rules a swap is agreed, and where the market's differ from the customer's own.

import { bitcoinContract } from '@parley/chains/bitcoin/escrow-tree.ts';
import { evmContract } from '@parley/chains/evm/plan.ts';
import { solanaContract } from '@parley/chains/solana/plan.ts';
import { tronContract } from '@parley/chains/tron/plan.ts';
import {
  type Contract,
  contractId,
  policyDigest,
  type Rules,
  rulesDifferences,
  rulesOf,
} from '@parley/core/rules.ts';
import { RulesError } from './errors.ts';
import type { ChainView, OwnLeg } from './trade.ts';

export function contractOf(view: ChainView): Contract {
  switch (view.family) {
    case 'evm':
      return evmContract(view.deployment);
    case 'bitcoin':
      return bitcoinContract;
    case 'tron':
      return tronContract(view.deployment);
    case 'solana':
      return solanaContract(view.deployment);
  }
}

type Legs = { readonly a: Pick<OwnLeg, 'view'>; readonly b: Pick<OwnLeg, 'view'> };

export function ownRules({ a, b }: Legs): Rules {
  const of = ({ view }: Pick<OwnLeg, 'view'>) => ({
    contract: contractId(contractOf(view)),
    policies: policyDigest(view.policy),
  });
  return rulesOf({ a: of(a), b: of(b) });
}

/** Throws RulesError with all that differs; returns the customer's own rules. */
export function mustHaveRules(said: unknown, legs: Legs): Rules {
  const own = ownRules(legs);
  const differences = rulesDifferences(own, said);
  if (differences.length === 0) return own;
  const chains = { a: legs.a.view.chain, b: legs.b.view.chain };
  throw new RulesError(
    differences.map(({ field, ...values }) => {
      const leg = field.split('.')[2];
      const chain = leg === 'a' || leg === 'b' ? ` (${chains[leg]})` : '';
      return { field: `${field}${chain}`, ...values };
    }),
  );
}
