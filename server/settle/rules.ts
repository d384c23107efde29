// The rules of a trade, by the adapters of its two chains.

import type { ChainAdapter } from '../../chains/adapter.ts';
import type { ChainPolicy } from '../../core/policy.ts';
import {
  type ChainRules,
  contractId,
  policyDigest,
  type Rules,
  rulesOf,
} from '../../core/rules.ts';

/** A page shows a hundred threads, and a policy never changes once it is made. */
const digests = new WeakMap<ChainPolicy, string>();

export function rulesOfChain({ policy, contract }: ChainAdapter): ChainRules {
  const policies = digests.get(policy) ?? policyDigest(policy);
  digests.set(policy, policies);
  return { contract: contractId(contract), policies };
}

/** The rules that a swap of these legs would be agreed under now. */
export function rulesOfLegs({
  a,
  b,
}: {
  readonly a: { readonly adapter: ChainAdapter };
  readonly b: { readonly adapter: ChainAdapter };
}): Rules {
  return rulesOf({ a: rulesOfChain(a.adapter), b: rulesOfChain(b.adapter) });
}
