// Tests only: a swap as an honest market would answer it, made by the same pure core, and ways to
// alter every field of a JSON value in turn.

import assert from 'node:assert/strict';
import { secp256k1 } from '@noble/curves/secp256k1.js';
import { bytesToHex, hexToBytes } from '@noble/hashes/utils.js';
import { addressesOfPubkey } from '@parley/chains/bitcoin/keys.ts';
import { bitcoinNetworks } from '@parley/chains/bitcoin/networks.ts';
import { bitcoinEscrow } from '@parley/chains/bitcoin/plan.ts';
import { evmDeployment, evmEscrow } from '@parley/chains/evm/plan.ts';
import { evmChains } from '@parley/chains/evm/policy.ts';
import { type Deadlines, deadlines } from '@parley/core/deadlines.ts';
import { fundBy } from '@parley/core/gates.ts';
import { hashlockOf } from '@parley/core/hashlock.ts';
import type { ChainPolicy } from '@parley/core/policy.ts';
import type { Destination, Escrow, EscrowTerms } from '@parley/core/terms.ts';
import { funderOf, type LegName, type Party, roleOf } from '@parley/core/trade.ts';
import type { Chains, PartyChain } from '../chains.ts';
import { VerificationError } from '../errors.ts';
import { ownRules } from '../rules.ts';
import type { SwapRecord } from '../stores/store.ts';
import {
  type ChainView,
  type OwnTrade,
  type PinnedAsset,
  type PinnedChains,
  sourceIn,
} from '../trade.ts';
import type { Swap, SwapLeg } from '../types.ts';
import { verifySwap } from '../verify.ts';

export const secret = '5e'.repeat(32);
export const now = 1_800_000_000;
export const swapId = '0193f0a0-0000-7000-8000-000000000001';

const bitcoinPolicy: ChainPolicy = {
  floorSeconds: 86_400,
  normal: { confirmations: 3, settleSeconds: 6_720, outageSeconds: 3_600 },
  high: { confirmations: 6, settleSeconds: 9_900, outageSeconds: 3_600 },
  lateClaimSeconds: 7_200,
  driftSeconds: 0,
  windowSeconds: 0,
  reactSeconds: 1_800,
  signSeconds: 600,
  detectSeconds: 60,
};

export const bitcoinView: ChainView & { family: 'bitcoin' } = {
  family: 'bitcoin',
  chain: 'bitcoin-regtest',
  network: bitcoinNetworks.regtest,
  policy: bitcoinPolicy,
};
export const evmView: ChainView & { family: 'evm' } = {
  family: 'evm',
  chain: 'evm-dev',
  chainId: 31_337,
  deployment: evmDeployment(31_337),
  policy: evmChains['evm-dev'].policy,
};
/** The customer's pinned chains where these views are its own. */
export function pinnedTo(...views: readonly ChainView[]): PinnedChains {
  return Object.fromEntries(views.map((view) => [view.chain, { source: { view } }]));
}
export const pinned = pinnedTo(bitcoinView, evmView);

/** The same chains, one with another source or wallet. */
export function withChain(chains: Chains, chain: string, change: Partial<PartyChain>): Chains {
  return { ...chains, [chain]: { source: sourceIn(chains, chain), ...chains[chain], ...change } };
}

export const keys = { maker: '11'.repeat(32), taker: '22'.repeat(32) } as const;

export function bitcoinOf(party: Party): Destination {
  const pubkey = bytesToHex(secp256k1.getPublicKey(hexToBytes(keys[party]), true));
  return { pubkey, address: addressesOfPubkey(pubkey, bitcoinView.network).p2wpkh };
}

const evmAddresses: Record<Party, string> = {
  maker: '0x70997970C51812dc3A010C7d01b50e0d17dc79C8',
  taker: '0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC',
};
export function evmOf(party: Party): Destination {
  return { address: evmAddresses[party], pubkey: null };
}

const btc: PinnedAsset = {
  id: '0193f0a0-0000-7000-8000-0000000000b1',
  chain: 'bitcoin-regtest',
  token: null,
  decimals: 8,
  highValueFrom: 1_000_000_000n,
};
const dollar: PinnedAsset = {
  id: '0193f0a0-0000-7000-8000-0000000000d1',
  chain: 'evm-dev',
  token: '0x5FbDB2315678afecb367f032d93F642f64180aa3',
  decimals: 6,
  highValueFrom: null,
};

/** The taker sells 0.01 BTC for 600 dollars: it is the initiator. */
export function tradeOf(party: Party): OwnTrade {
  const bitcoin = bitcoinOf(party);
  const evm = evmOf(party);
  return {
    party,
    rfqId: '0193f0a0-0000-7000-8000-0000000000f1',
    threadId: '0193f0a0-0000-7000-8000-0000000000e1',
    makerId: '0193f0a0-0000-7000-8000-0000000000a1',
    takerId: '0193f0a0-0000-7000-8000-0000000000a2',
    direction: 'sell_base',
    base: btc,
    baseAmount: 1_000_000n,
    quote: dollar,
    quoteAmount: 600_000_000n,
    hashlock: party === 'taker' ? hashlockOf(secret) : null,
    acceptedAt: now - 5,
    refundTo: party === 'taker' ? bitcoin : evm,
    payTo: party === 'taker' ? evm : bitcoin,
  };
}

/** An honest market's view for `party`; `agreedAt` in Unix seconds, `high` of high value. */
export function honestSwap(party: Party, agreedAt = now - 2, high: readonly LegName[] = []): Swap {
  const trade = tradeOf(party);
  const timing = (leg: LegName) => {
    const { policy } = leg === 'a' ? evmView : bitcoinView;
    return { policy, depth: high.includes(leg) ? policy.high : policy.normal };
  };
  const timings = { a: timing('a'), b: timing('b') };
  const times = deadlines(agreedAt, timings, 'b');
  const leg = (name: LegName) => ({
    ...shownLeg(name, termsOf(name, times.refundAt[name], lastOf(times, name))),
    requiredConfirmations: timings[name].depth.confirmations,
  });
  const next: Swap['next'] = [
    { by: 'initiator', action: 'fund', leg: 'b', before: times.initiatorFundBy, why: '' },
  ];
  const showing = { id: swapId, legs: { a: leg('a'), b: leg('b') }, deadlines: times, next };
  const rules = ownRules({ a: { view: evmView }, b: { view: bitcoinView } });
  return { ...swapShown(trade, secret, now, showing), rules };
}

/** Until when a leg is funded: `b` is long. */
export const lastOf = (deadlines: Deadlines, leg: LegName) =>
  fundBy({ deadlines }, { long: leg === 'b' });

/** Terms of a leg: dollars from the maker on EVM (a), coins from the taker on Bitcoin (b). */
export function termsOf(
  leg: LegName,
  timelock: number,
  fundBefore = timelock - 3_600,
): EscrowTerms {
  const evm = leg === 'a';
  const of = evm ? evmOf : bitcoinOf;
  const [from, to]: [Party, Party] = evm ? ['maker', 'taker'] : ['taker', 'maker'];
  return {
    chain: evm ? 'evm-dev' : 'bitcoin-regtest',
    hashlock: hashlockOf(secret),
    payout: of(to),
    refund: of(from),
    token: evm ? dollar.token : null,
    amount: evm ? 600_000_000n : 1_000_000n,
    timelock,
    ...(evm && { fundBefore, lane: { number: '5a'.repeat(12), counter: 3 } }),
  };
}

/** A leg as a market shows it whose escrow is that of `terms`. */
export function shownLeg(leg: LegName, terms: EscrowTerms): SwapLeg {
  const isEvm = leg === 'a';
  const escrow = isEvm
    ? evmEscrow(terms, evmDeployment(31_337))
    : bitcoinEscrow(terms, bitcoinView.network);
  return legShown(leg, terms, escrow, { assetId: (isEvm ? dollar : btc).id, depth: isEvm ? 2 : 3 });
}

/** The SDK needs no field beyond these: the market's others are left out. */
export function legShown(
  leg: LegName,
  { chain, amount, timelock, lane, payout, refund }: EscrowTerms,
  { address: escrow, redeemScript }: Escrow,
  { assetId, depth }: { readonly assetId: string; readonly depth: number },
): SwapLeg {
  const read: Partial<SwapLeg> = {
    leg,
    chain,
    assetId,
    amount: amount.toString(),
    funder: funderOf(leg),
    long: leg === 'b',
    status: 'unfunded',
    timelock,
    escrow,
    lane: lane ?? null,
    redeemScript,
    payoutAddress: payout.address,
    payoutPubkey: payout.pubkey,
    payoutForm: payout.form ?? null,
    refundForm: refund.form ?? null,
    refundAddress: refund.address,
    refundPubkey: refund.pubkey,
    fundTx: null,
    claimTx: null,
    refundTx: null,
    confirmations: 0,
    requiredConfirmations: depth,
  };
  return read as SwapLeg;
}

type Showing = Pick<Swap, 'id' | 'legs' | 'deadlines' | 'next'>;

/** A market's view for the party of `trade`; `at`: Unix seconds. */
export function swapShown(trade: OwnTrade, own: string, at: number, showing: Showing): Swap {
  const { threadId, rfqId, makerId, takerId, party } = trade;
  const instant = new Date(at * 1000).toISOString();
  const read: Omit<Swap, 'rules'> = {
    threadId,
    rfqId,
    makerId,
    takerId,
    initiatorUserId: takerId,
    ...showing,
    status: 'agreed',
    hashlock: hashlockOf(own),
    secret: null,
    role: roleOf(party, 'b'),
    createdAt: instant,
    updatedAt: instant,
  };
  return read as Swap;
}

/** Fields that cannot cost the customer anything, whatever they say, and why. */
const harmless: readonly [RegExp, string][] = [
  [/^(createdAt|updatedAt)$/, 'shown only: times are taken from the deadlines, checked'],
  [/^rules/, 'compared before the acceptance; the times and escrows themselves are checked'],
  [/^status$/, 'the SDK computes it from its own chains'],
  [/^next/, 'advice: the SDK computes its own steps'],
  [/^legs\.[ab]\.(status|fundTx|claimTx|refundTx|confirmations)$/, 'read from its own chains'],
];

/** `keyless`: the legs of families without keys, where an absent one means null, which it is. */
export function isHarmless(
  path: string,
  how: string,
  keyless: readonly LegName[] = ['a'],
): boolean {
  const [, leg] = /^legs\.([ab])\.(?:payout|refund)Pubkey$/.exec(path) ?? [];
  if (leg !== undefined) return how === 'absent' && keyless.includes(leg as LegName);
  return harmless.some(([shape]) => shape.test(path));
}

type Alteration = { readonly path: string; readonly how: string; readonly value: unknown };

/** Every way to alter one field: another value of its type, another type, absence. */
export function* alterations(value: unknown, path = ''): Generator<Alteration> {
  for (const [how, other] of alternatives(value)) yield { path, how, value: other };
  if (typeof value !== 'object' || value === null) return;
  const list = Array.isArray(value);
  for (const [name, part] of Object.entries(value)) {
    const at = list ? `${path}[${name}]` : path === '' ? name : `${path}.${name}`;
    const put = (changed: unknown): unknown =>
      list
        ? value.map((each: unknown, index) => (String(index) === name ? changed : each))
        : { ...value, [name]: changed };
    for (const each of alterations(part, at)) yield { ...each, value: put(each.value) };
    if (!list && part !== null) {
      const { [name]: _, ...rest } = value as Record<string, unknown>;
      yield { path: at, how: 'absent', value: rest };
    }
  }
}

function alternatives(value: unknown): [string, unknown][] {
  if (typeof value === 'string') {
    const last = value.at(-1);
    const digit = last === '1' ? '2' : '1';
    return [
      ['last character', value.slice(0, -1) + digit],
      ['longer', `${value}0`],
      ['empty', ''],
      ['null', null],
    ];
  }
  if (typeof value === 'number') {
    return [
      ['more', value + 1],
      ['less', value - 1],
      ['much more', value * 2 + 86_400],
    ];
  }
  if (typeof value === 'boolean') return [['flipped', !value]];
  if (value === null) return [['something', 'ab'.repeat(33)]];
  if (Array.isArray(value))
    return [
      ['shorter', value.slice(1)],
      ['longer', [...value, value[0]]],
    ];
  return [];
}

/** Each altered field of what is `honest` is refused, but for those that are harmless. */
export function mustRefuseLies(
  honest: Swap,
  verify: (lie: Swap) => unknown,
  keyless?: readonly LegName[],
): void {
  let lies = 0;
  for (const { path, how, value } of alterations(honest)) {
    if (path === '' || isHarmless(path, how, keyless)) continue;
    lies += 1;
    assert.throws(() => verify(value as Swap), isRefusal, `${path} (${how}) was believed`);
  }
  assert.ok(lies > 150, `only ${lies} lies were told`);
}

function isRefusal(error: unknown): true {
  assert.ok(error instanceof VerificationError, String(error));
  assert.notEqual(error.field, '');
  assert.notEqual(error.expected, error.got);
  assert.match(error.message, /must be .*; the market says /s);
  return true;
}

/** For `assert.throws`: refused by this field. */
export const byField = (field: string) => (error: unknown) =>
  error instanceof VerificationError && error.field === field;

/** A side's record of the honest swap once it is verified. */
export function keptRecord(party: Party, more: Partial<SwapRecord> = {}): SwapRecord {
  const trade = tradeOf(party);
  const swap = verifySwap(honestSwap(party), trade, pinned, { swapId, now });
  return { trade, swap, funding: null, claim: null, refund: null, publicSecret: null, ...more };
}
