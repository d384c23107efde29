// The GasAccount of a simulated chain: nonces in a row on EVM, bytes that die by themselves on TRON
// and Solana, fees at the chain's own floor, and what a node that is down, slow or behind shows.

import type {
  GasAccount,
  GasOutcome,
  GasSlot,
  GasTransaction,
  GasWork,
  Outbid,
  Paid,
} from '@parley/chains/gas/account.ts';
import { mustBeOf } from '@parley/chains/gas/work.ts';
import { ParleyError } from '@parley/core/errors.ts';
import { opens } from '@parley/core/hashlock.ts';
import type { Gas, SigningTime } from '@parley/watchtower/port.ts';
import {
  allMined,
  clockAt,
  type Mined,
  nonceCoin,
  rawOf,
  type SimChain,
  type SimTransaction,
  transactionOf,
  txidOf,
} from './chain.ts';
import { type AdapterParts, factsOf, mustAnswer, planOf, viewOf } from './node.ts';

export type GasParts = AdapterParts & {
  readonly address: string;
  readonly onSigned?: ((chain: SimChain, tx: SimTransaction) => void) | undefined;
};

/** The price of a unit at most 99.9 % of times; chains whose fees are above are beyond budget. */
export const reserveFee = 200;

/** `rich`: it can do whatever it is for. */
export type Funds = 'rich' | 'poor' | 'capped';

export type Post = {
  readonly chain: SimChain;
  readonly address: string;
  readonly funds: Funds;
  readonly issued: bigint;
  readonly dailyCap: bigint;
  readonly graces: Gas['graces'];
};

/** How long signed bytes can be mined, seconds; as the real accounts have it. */
const lifeSeconds = { evm: null, tron: 120, solana: 180, bitcoin: null } as const;
/** Fees of this moment may be what the 99.9 % know nothing of. */
const presentMultiple = 3;
/** Where a limit is signed and not the fee itself: so much above it. */
const slack = 3;

function simGasAccount(parts: GasParts): GasAccount {
  const { node, at, address } = parts;
  const { chain } = node;
  const call = <R>(name: string, work: () => R): Promise<R> =>
    at(`${chain.chain} gas ${name}`, () => {
      mustAnswer(parts, name);
      return work();
    });
  const hasNonces = chain.family === 'evm';
  const account: GasAccount = {
    chain: chain.chain,
    address,
    balance: () => call('balance', () => balanceNow(parts)),
    minedNonce: () => call('minedNonce', () => (hasNonces ? minedNonce(parts) : null)),
    reserve: (work) =>
      call('reserve', () => {
        mustBeOf(chain.chain, work);
        return BigInt(Math.max(reserveFee, presentMultiple * leastFee(chain)) + slack);
      }),
    quote: (work) =>
      call('quote', () => {
        mustBeOf(chain.chain, work);
        tried(parts, work);
        return BigInt(Math.max(leastFee(chain), 2 * chain.feeFloor) + slack);
      }),
    sign: async (work, slot) => call('sign', () => sign(parts, work, slot)),
    outbid: (sent) => call('outbid', () => outbidBy(parts, sent)),
    outcome: (sent) => call('outcome', () => outcomeOf(parts, sent)),
    paid: (txid) => call('paid', () => paidFor(parts, txid)),
  };
  if (!hasNonces) return account;
  return { ...account, pendingNonce: () => call('pendingNonce', () => pendingNonce(parts)) };
}

const leastFee = ({ feeFloor }: SimChain) => feeFloor + 1;

/** The key's transactions in blocks of the chain above the node's own. */
function aboveView({ node, address }: GasParts): Mined[] {
  const { height } = viewOf(node, node.lag);
  const blocks = node.chain.blocks.slice(height + 1);
  return blocks.flatMap(({ txs }) => txs.filter(({ tx }) => tx.by === address));
}

function balanceNow(parts: GasParts): bigint {
  const { node, address } = parts;
  const now = node.chain.balances.get(address) ?? 0n;
  return aboveView(parts).reduce((sum, { tx }) => sum + BigInt(tx.fee), now);
}

/** The first from a nonce on that is not among these coins. */
function nextNonce(coins: ReadonlySet<string>, address: string, from = 0): number {
  let nonce = from;
  while (coins.has(nonceCoin(address, nonce))) nonce += 1;
  return nonce;
}

const minedNonce = (parts: GasParts): number =>
  nextNonce(parts.node.chain.spent, parts.address) - aboveView(parts).length;

function pendingNonce(parts: GasParts): number {
  const { node, address } = parts;
  const mined = minedNonce(parts);
  if (!viewOf(node, node.lag).mempool) return mined;
  const waiting = new Set([...node.chain.mempool.values()].flatMap(({ tx }) => tx.coins));
  return nextNonce(waiting, address, mined);
}

function sign(parts: GasParts, work: GasWork, slot: GasSlot): GasTransaction {
  const { node, address, chance } = parts;
  const { chain } = node;
  mustBeOf(chain.chain, work);
  const { escrow, secret } = tried(parts, work);
  const life = lifeSeconds[chain.family];
  const { height } = viewOf(node, node.lag);
  const diesAt = life === null ? null : clockAt(chain, height) + life;
  const fee = feeOf(chain, slot);
  const { nonce } = slot;
  if (chain.family === 'evm' && nonce === null) throw new Error('no nonce to take');
  const coin = nonce === null ? `coin-${chance.hex(8)}` : nonceCoin(address, nonce);
  const verb = work.verb === 'void' ? 'move' : work.verb;
  const tx: SimTransaction = {
    chain: chain.chain,
    verb,
    escrow,
    by: address,
    coins: [coin],
    amount: '0',
    secret,
    fee,
    gas: { nonce, diesAt },
  };
  const raw = rawOf(tx);
  parts.onSigned?.(chain, tx);
  const touches = work.verb === 'void' ? [] : [{ escrow, verb: work.verb, secret }];
  const mostCost = BigInt(fee + (nonce === null ? slack : 0));
  const cost = { offer: BigInt(fee), mostCost };
  return { txid: txidOf(raw), raw, touches, payer: address, nonce, ...cost, diesAt, height };
}

/** As the node has the escrow now. */
function tried(parts: GasParts, work: GasWork): { escrow: string; secret: string | null } {
  if (work.verb === 'void') return { escrow: '', secret: null };
  const { node } = parts;
  const { chain } = node;
  const { terms } = work;
  const { address: escrow } = planOf(chain, terms);
  if (work.verb === 'claim' && !opens(work.secret, terms.hashlock)) {
    throw new ParleyError('wrong_secret', 'it opens nothing', {});
  }
  const view = { ...viewOf(node, node.lag), mempool: false };
  const { balance } = factsOf(chain, view, { escrow, required: 1, secret: null });
  if (balance === 0n) throw new ParleyError('nothing_there', `${escrow} is empty`, { escrow });
  const isPassed = clockAt(chain, view.height) >= terms.timelock;
  if (isPassed !== (work.verb === 'refund')) {
    throw new ParleyError('payout_would_fail', `the ${work.verb} would fail`, { escrow });
  }
  return { escrow, secret: work.verb === 'claim' ? work.secret : null };
}

/** Twice what a block wants, as far as that may be spent, and an eighth more than a rival's. */
function feeOf(chain: SimChain, { above, mostCost, nonce }: GasSlot): number {
  const rival = above === null ? 0 : Math.ceil((Number(above.offer) * 9) / 8) + 1;
  const least = Math.max(leastFee(chain), rival);
  const most = Number(mostCost) - (nonce === null ? slack : 0);
  if (most < least) {
    const sentence = `it may cost ${least} now, and ${mostCost} is the limit`;
    throw new ParleyError('fee_above_limit', sentence, { least, mostCost });
  }
  return Math.min(most, Math.max(least, 2 * chain.feeFloor));
}

function minedOf({ node }: GasParts, txid: string): Mined | null {
  const { height } = viewOf(node, node.lag);
  const mined = allMined(node.chain);
  return mined.find((each) => each.txid === txid && each.height <= height) ?? null;
}

type Sent = Pick<GasTransaction, 'txid' | 'nonce' | 'diesAt'>;

function outcomeOf(parts: GasParts, { txid, nonce, diesAt }: Sent): GasOutcome {
  const { node } = parts;
  const { chain } = node;
  const { height, mempool } = viewOf(node, node.lag);
  const found = minedOf(parts, txid);
  const solid = height - chain.policy.high.confirmations + 1;
  if (found !== null) {
    if (!found.ok) return 'failed';
    return found.height <= solid ? 'deep' : 'mined';
  }
  if (nonce !== null && minedNonce(parts) > nonce) return 'gone';
  if (diesAt !== null && clockAt(chain, solid) >= diesAt) return 'gone';
  // Solana tells of nothing that waits.
  const shows = mempool && chain.family !== 'solana';
  return shows && chain.mempool.has(txid) ? 'pending' : 'unknown';
}

function paidFor(parts: GasParts, txid: string): Paid | null {
  const found = minedOf(parts, txid);
  return found === null ? null : { cost: BigInt(found.tx.fee), said: 1 };
}

/** Blocks that came without it although it paid enough. */
const passedOver = 3;

type Waiting = Parameters<NonNullable<GasAccount['outbid']>>[0];

function outbidBy({ node }: GasParts, { raw, height, refused }: Waiting): Outbid | null {
  const fee = transactionOf(raw)?.fee ?? 0;
  if (fee < leastFee(node.chain)) return 'price';
  const now = viewOf(node, node.lag).height;
  return refused || height === null || now - height >= passedOver ? 'passed over' : null;
}

/** A key as one process has it. */
export function gasOf(post: Post, parts: Omit<GasParts, 'address'>): Gas {
  const { address, dailyCap, graces } = post;
  const account = simGasAccount({ ...parts, address });
  return { account, dailyCap, takesRequests: true, lowBalance: 0n, graces };
}

/**
 * Within an event no time passes: a caller that waits for its lock lets another be served instead.
 */
export function simTime(
  meanwhile: () => Promise<unknown>,
  clock: (pausedMs: number) => number,
): SigningTime {
  let paused = 0;
  return {
    elapsedMs: () => paused,
    // Its signal is not looked at: only a request's may end here, by real time, on which no story
    // may depend; and who waits comes to an end by its patience, which these pauses use up.
    pause: async (ms) => {
      paused += ms;
      await meanwhile();
    },
    // The seed alone decides what is slow here.
    limit: () => new AbortController().signal,
    leaseClock: () => new Date(clock(paused)),
  };
}
