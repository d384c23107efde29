// A chain that is not there: real policy numbers, addresses by pattern, and a `checkAmount` that a
// test may replace. For market tests, where nothing is settled; every other call throws.

import { hash } from 'node:crypto';
import type { ChainAdapter } from '@parley/chains/adapter.ts';
import { ParleyError } from '@parley/core/errors.ts';
import type { ChainKey, Family } from '@parley/core/families.ts';
import type { ChainPolicy } from '@parley/core/policy.ts';

const day = 86_400;

const alike = {
  driftSeconds: 0,
  windowSeconds: 0,
  reactSeconds: 1_800,
  signSeconds: 600,
  detectSeconds: 60,
};
const policies: Readonly<Record<'bitcoin' | 'evm', ChainPolicy>> = {
  bitcoin: {
    ...alike,
    floorSeconds: day,
    normal: { confirmations: 3, settleSeconds: 112 * 60, outageSeconds: 3_600 },
    high: { confirmations: 6, settleSeconds: 165 * 60, outageSeconds: 3_600 },
    lateClaimSeconds: 3 * 3_600,
  },
  evm: {
    ...alike,
    floorSeconds: 4 * 3_600,
    normal: { confirmations: 12, settleSeconds: 300, outageSeconds: 3_600 },
    high: { confirmations: 32, settleSeconds: 900, outageSeconds: 3_600 },
    lateClaimSeconds: 900,
  },
};

const addresses: Readonly<Record<'bitcoin' | 'evm', RegExp>> = {
  bitcoin: /^(bcrt1[02-9ac-hj-np-z]{6,80}|[mn2][1-9A-HJ-NP-Za-km-z]{25,34})$/i,
  evm: /^0x[0-9a-fA-F]{40}$/,
};

/** The least amount that the stub takes. */
const stubDust = 546n;

export function stubAdapter(
  chain: ChainKey,
  family: 'bitcoin' | 'evm',
  overrides: Partial<ChainAdapter> = {},
): ChainAdapter {
  const absent = (): never => {
    throw new Error(`the stub of ${chain} has no node`);
  };
  return {
    chain,
    family: family as Family,
    policy: policies[family],
    contract: { address: family === 'evm' ? '0xstub' : null, version: 'stub' },
    parseAddress: (text) => {
      if (!addresses[family].test(text)) {
        throw new ParleyError('bad_address', `"${text}" is not an address of ${chain}`, { chain });
      }
      return family === 'evm' || text.toLowerCase().startsWith('bcrt1') ? text.toLowerCase() : text;
    },
    // Any address that commits to the terms will do where nothing is settled.
    plan: (terms) => {
      const text = JSON.stringify(terms, (_, each) =>
        typeof each === 'bigint' ? `${each}` : each,
      );
      return { address: `escrow-${hash('sha256', text)}`, redeemScript: null };
    },
    heads: absent,
    watch: () => {},
    unwatch: () => {},
    changes: absent,
    look: absent,
    readEscrow: absent,
    preflight: absent,
    buildFund: absent,
    buildClaim: absent,
    buildRefund: absent,
    readSigned: absent,
    isKnown: async () => false,
    broadcast: absent,
    checkAmount: async (_token, amount) => {
      if (amount < stubDust) {
        throw new ParleyError(
          'amount_too_small',
          `${amount} on ${chain} could not be claimed: the least is ${stubDust}`,
          { chain, amount, least: stubDust },
        );
      }
    },
    close: async () => {},
    ...overrides,
  };
}
