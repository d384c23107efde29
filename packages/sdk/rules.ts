// Under which rules a swap is agreed, and where the market's differ from the customer's own.

import { bitcoinContract } from '@parley/chains/bitcoin/contract.ts';
import { evmContract } from '@parley/chains/evm/plan.ts';
import { solanaContract } from '@parley/chains/solana/contract.ts';
import { tronContract } from '@parley/chains/tron/plan.ts';
import { formulaVersion } from '@parley/core/deadlines.ts';
import { type ChainPolicy, depthNumbers, policyNumbers } from '@parley/core/policy.ts';
import {
  type Contract,
  contractId,
  policyDigest,
  type Rules,
  type RulesDifference,
  rulesDifferences,
  rulesOf,
} from '@parley/core/rules.ts';
import { RulesError } from './errors.ts';
import { type ChainView, type OwnLeg, type PinnedChains, sourceIn } from './trade.ts';
import type { MarketRules } from './types.ts';

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

/**
 * Where the market's published rules differ, by the number: `ethereum.policy.normal.settleSeconds`.
 */
export function differencesOf(said: MarketRules, own: PinnedChains): RulesDifference[] {
  const compared = (field: string, expected: unknown, got: unknown): RulesDifference[] =>
    expected === got ? [] : [{ field, expected: String(expected), got: String(got) }];
  const chains = Object.keys(own).flatMap((chain) => {
    const { view } = sourceIn(own, chain);
    const theirs = said.chains.find((each) => each.chain === chain);
    if (theirs === undefined) return compared(chain, 'served', 'not served');
    const numbers = numbersOf(view.policy);
    const got = numbersOf(theirs.policy);
    const contract = contractOf(view);
    const listed = ({ shards = [] }: Pick<Contract, 'shards'>) => shards.join(' ') || 'none';
    return [
      ...compared(`${chain}.contract`, contractId(contract), theirs.contract.id),
      ...compared(`${chain}.contract.shards`, listed(contract), listed(theirs.contract)),
      ...numbers.flatMap(([name, number], at) =>
        compared(`${chain}.policy.${name}`, number, got[at]?.[1]),
      ),
    ];
  });
  return [...compared('formula', formulaVersion, said.formula), ...chains];
}

function numbersOf(policy: ChainPolicy): (readonly [string, number | null])[] {
  const plain = [...policyNumbers, 'windowSeconds'] as const;
  return [
    ...plain.map((name) => [name, policy[name]] as const),
    ...(['normal', 'high'] as const).flatMap((which) =>
      depthNumbers.map((name) => [`${which}.${name}`, policy[which][name]] as const),
    ),
  ];
}
