// One simulated chain: blocks, a mempool, and the rules of the escrows of its family. Bitcoin's
// escrow takes any payment and knows no late claim; the others take one exact funding of the named
// funder, claims before the timelock only, and show the secret of a claim that failed. The whole
// state is computed from the blocks, so that a reorganisation is cutting them off.

import { hash } from 'node:crypto';
import { bitcoinPolicies } from '@parley/chains/bitcoin/policy.ts';
import type { Family } from '@parley/core/families.ts';
import type { ChainPolicy } from '@parley/core/policy.ts';
import type { EscrowTerms } from '@parley/core/terms.ts';
import type { Chance } from './chance.ts';

export type Verb = 'fund' | 'claim' | 'refund' | 'move';

export type SimTransaction = {
  readonly chain: string;
  readonly verb: Verb;
  /** The escrow it is about; for `move`, nobody's. */
  readonly escrow: string;
  readonly by: string;
  /** Its inputs: a chain takes one of two that share one. */
  readonly coins: readonly string[];
  /** Base units that it pays in; a spend has 0. */
  readonly amount: string;
  readonly secret: string | null;
  /** All that the inputs of a Bitcoin claim push, where that is not in the usual order; hex. */
  readonly pushes?: readonly string[];
  /** Its offer for a place in a block; the better one of two that spend the same stays. */
  readonly fee: number;
  /** Of a refund before the timelock: the payee's consent. */
  readonly release?: string;
  /** Of Taproot: the spend that both sides have signed. */
  readonly together?: string;
  /** For an operator's gas key: its place in a row, and after when no block takes it. */
  readonly gas?: { readonly nonce: number | null; readonly diesAt: number | null };
};

/** A payee's consent, as its key signs it. */
export const releaseWord = (payout: string, escrow: string) => `${payout} gives up ${escrow}`;

type Spend = Pick<SimTransaction, 'verb' | 'escrow' | 'coins' | 'fee'>;

/** What both sides of a Taproot escrow sign: all that a signature commits to. */
export const togetherWord = ({ verb, escrow, coins, fee }: Spend) =>
  `both ${verb} ${escrow} with ${coins.join()} for ${fee}`;

/** How it travels: JSON in hex, whose hash is its id. */
export const rawOf = (transaction: SimTransaction): string =>
  Buffer.from(JSON.stringify(transaction)).toString('hex');

export const txidOf = (raw: string): string => hash('sha256', raw);

export function transactionOf(raw: string): SimTransaction | null {
  try {
    const parsed = JSON.parse(Buffer.from(raw, 'hex').toString()) as SimTransaction;
    return typeof parsed.escrow === 'string' && Array.isArray(parsed.coins) ? parsed : null;
  } catch {
    return null;
  }
}

export type Sent = { readonly txid: string; readonly tx: SimTransaction };

export type Mined = Sent & {
  readonly height: number;
  /** Without effect otherwise: it reverted. */
  readonly ok: boolean;
};

export type Block = {
  readonly height: number;
  readonly hash: string;
  /** Unix seconds, by its miner's clock. */
  readonly time: number;
  /** When it was made, by the wall. */
  readonly wall: number;
  readonly txs: readonly Mined[];
};

export type Holding = {
  readonly txid: string;
  readonly amount: bigint;
  readonly height: number;
  spentBy: Mined | null;
};

export type SimChain = {
  readonly chain: string;
  readonly family: Family;
  readonly policy: ChainPolicy;
  readonly blocks: Block[];
  readonly mempool: Map<string, Sent>;
  /** Every escrow that anybody ever planned. */
  readonly plans: Map<string, EscrowTerms>;
  readonly about: Map<string, Mined[]>;
  readonly holdings: Map<string, Holding[]>;
  readonly balances: Map<string, bigint>;
  /** Balances before the first block, to begin again from. */
  readonly genesis: Map<string, bigint>;
  /** Secrets that were ever in a block or a mempool, by hashlock. */
  readonly shown: Map<string, string>;
  readonly spent: Set<string>;
  issued: bigint;
  fees: bigint;
  /** Least fee that a block takes. */
  feeFloor: number;
  /** Seconds that its miners' clocks are ahead of the wall. */
  drift: number;
  /** It stood still, and its blocks take the times that come after the last one's before that. */
  worksThrough: boolean;
  forks: number;
};

/** On all but Bitcoin. */
const blockSeconds = 60;

const timelockBounds = { least: 1_800, most: 30 * 86_400 } as const;

const hour = 3_600;

/** Real numbers, but for depths: blocks are a minute apart on all but Bitcoin. */
function policyOf(
  [normal, high]: readonly [number, number],
  [settleSeconds, outageSeconds]: readonly [number, number],
  driftSeconds: number,
  windowSeconds: number | null,
): ChainPolicy {
  const reach = { settleSeconds, outageSeconds };
  return {
    floorSeconds: 4 * hour,
    reactSeconds: 1_800,
    signSeconds: 600,
    detectSeconds: 60,
    normal: { ...reach, confirmations: normal },
    high: { ...reach, confirmations: high, settleSeconds: settleSeconds * (high / normal) },
    lateClaimSeconds: driftSeconds,
    driftSeconds,
    windowSeconds,
  };
}

export const policies: Readonly<Record<Family | 'rollup', ChainPolicy>> = {
  bitcoin: bitcoinPolicies.mainnet,
  evm: policyOf([4, 8], [900, hour], 60, 0),
  tron: policyOf([3, 3], [900, hour], 60, 0),
  solana: policyOf([2, 2], [600, 6 * hour], 1_800, null),
  // An EVM chain whose clock stops with it.
  rollup: policyOf([4, 8], [900, 12 * hour], 1_800, 12 * hour),
};

export function newChain(
  about: Pick<SimChain, 'chain' | 'family' | 'policy'>,
  atSeconds: number,
): SimChain {
  const made: SimChain = {
    ...about,
    blocks: [],
    mempool: new Map(),
    plans: new Map(),
    about: new Map(),
    holdings: new Map(),
    balances: new Map(),
    genesis: new Map(),
    shown: new Map(),
    spent: new Set(),
    issued: 0n,
    fees: 0n,
    feeFloor: 2,
    forks: 0,
    drift: 0,
    worksThrough: false,
  };
  for (let height = 0; height < 12; height += 1) {
    const time = atSeconds - (12 - height) * blockSeconds;
    push(made, { height, time, wall: time, txs: [] });
  }
  return made;
}

export const tipOf = (chain: SimChain): Block => chain.blocks.at(-1) as Block;

/** By the clock that its newest block has. */
export const chainClock = (chain: SimChain): number => clockAt(chain, tipOf(chain).height);

/** Payments that were mined into an escrow, oldest first. */
export const heldIn = (chain: SimChain, escrow: string | null | undefined): readonly Holding[] =>
  chain.holdings.get(escrow ?? '') ?? [];

export const holdsAny = (chain: SimChain, escrow: string | null): boolean =>
  heldIn(chain, escrow).some(({ spentBy }) => spentBy === null);

/** The mined transactions about an escrow, oldest first. */
export const minedAbout = (chain: SimChain, escrow: string | null): readonly Mined[] =>
  chain.about.get(escrow ?? '') ?? [];

export const allMined = (chain: SimChain): Mined[] => [...chain.about.values()].flat();

/** The mempool's transactions, all about an escrow, or one verb of it. */
export const waitingAt = (chain: SimChain, escrow: string | null, verb?: Verb) =>
  [...chain.mempool.values()].filter(
    ({ tx }) => tx.escrow === escrow && (verb === undefined || tx.verb === verb),
  );

export const rivalsOf = (chain: SimChain, coins: readonly string[]): Sent[] =>
  [...chain.mempool.values()].filter(({ tx }) => tx.coins.some((coin) => coins.includes(coin)));

/** Coins from nowhere, counted. */
export function issue(chain: SimChain, owner: string, amount: bigint): void {
  add(chain.balances, owner, amount);
  add(chain.genesis, owner, amount);
  chain.issued += amount;
}

function add(balances: Map<string, bigint>, owner: string, amount: bigint): void {
  balances.set(owner, (balances.get(owner) ?? 0n) + amount);
}

/** By which the chain judges timelocks, as of the block at `height`. */
export function clockAt(chain: SimChain, height: number): number {
  if (chain.family !== 'bitcoin') return chain.blocks[height]?.time ?? 0;
  const times = chain.blocks.slice(Math.max(0, height - 10), height + 1).map(({ time }) => time);
  return times.sort((one, other) => one - other)[Math.floor(times.length / 2)] ?? 0;
}

function push(chain: SimChain, block: Omit<Block, 'hash'>): void {
  const found = hash('sha256', `${chain.chain} ${chain.forks} ${block.height} ${block.time}`);
  chain.blocks.push({ ...block, hash: found });
}

const missingInput = 'an input is missing';

type At = { readonly height: number; readonly time: number };

/** Why a transaction cannot have effect in this block; null = it has. */
function fault(chain: SimChain, tx: SimTransaction, { height, time }: At): string | null {
  if (tx.verb === 'move') return null;
  const terms = chain.plans.get(tx.escrow);
  if (terms === undefined) return 'there is no such escrow';
  const held = heldIn(chain, tx.escrow);
  if (tx.verb === 'fund') return faultOfFunding(chain, tx, terms, time);
  const unspent = held.filter(({ spentBy }) => spentBy === null);
  if (unspent.length === 0) return 'nothing is there';
  const inputs = chain.family === 'bitcoin' ? tx.coins : [];
  if (inputs.some((coin) => !unspent.some(({ txid }) => txid === coin))) return missingInput;
  if (terms.form === 'p2tr' && tx.together === togetherWord(tx)) return null;
  if (tx.verb === 'claim') {
    if (hash('sha256', Buffer.from(tx.secret ?? '', 'hex')) !== terms.hashlock) return 'bad secret';
    if (chain.family === 'bitcoin') return tx.by === terms.payout.pubkey ? null : 'not the claimer';
    return time < terms.timelock ? null : 'the timelock has passed';
  }
  const isReleased = tx.release === releaseWord(terms.payout.address, tx.escrow);
  const isOpen = isReleased || time >= terms.timelock;
  if (chain.family !== 'bitcoin') return isOpen ? null : 'before the timelock';
  if (tx.by !== terms.refund.pubkey) return 'not the funder';
  return clockAt(chain, height - 1) > terms.timelock ? null : 'non-final';
}

function faultOfFunding(
  chain: SimChain,
  tx: SimTransaction,
  terms: EscrowTerms,
  time: number,
): string | null {
  const amount = BigInt(tx.amount);
  if (amount <= 0n) return 'no amount';
  if ((chain.balances.get(tx.by) ?? 0n) < amount + BigInt(tx.fee)) return 'insufficient funds';
  if (chain.family === 'bitcoin') return null;
  if (tx.by !== terms.refund.address) return 'not the funder';
  if (amount !== terms.amount) return 'not the amount';
  if (heldIn(chain, tx.escrow).length > 0) return 'funded before';
  const ahead = terms.timelock - time;
  const isWithin = ahead >= timelockBounds.least && ahead <= timelockBounds.most;
  return isWithin ? null : 'timelock out of bounds';
}

function apply(chain: SimChain, { txid, tx }: Sent, at: At): Mined {
  const { height } = at;
  const ok = fault(chain, tx, at) === null;
  const mined: Mined = { txid, tx, height, ok };
  for (const coin of tx.coins) chain.spent.add(coin);
  chain.about.set(tx.escrow, [...minedAbout(chain, tx.escrow), mined]);
  const fee = BigInt(tx.fee);
  chain.fees += fee;
  if (!ok || tx.verb === 'fund' || tx.verb === 'move' || chain.family !== 'bitcoin') {
    add(chain.balances, tx.by, -fee);
  }
  if (!ok || tx.verb === 'move') return mined;
  const held = heldIn(chain, tx.escrow);
  if (tx.verb === 'fund') {
    const amount = BigInt(tx.amount);
    add(chain.balances, tx.by, -amount);
    chain.holdings.set(tx.escrow, [...held, { txid, amount, height, spentBy: null }]);
    return mined;
  }
  const terms = chain.plans.get(tx.escrow) as EscrowTerms;
  const to = tx.verb === 'claim' ? terms.payout.address : terms.refund.address;
  let paid = chain.family === 'bitcoin' ? -fee : 0n;
  for (const each of held) {
    const taken = each.spentBy === null && takes(chain, tx, each.txid);
    if (!taken) continue;
    each.spentBy = mined;
    paid += each.amount;
  }
  add(chain.balances, to, paid);
  return mined;
}

/** Bitcoin's spends name what they spend. */
export function takes(chain: SimChain, tx: SimTransaction, paymentTxid: string): boolean {
  return chain.family !== 'bitcoin' || tx.coins.includes(paymentTxid);
}

/** A block takes one of two transactions of a gas key with one nonce. */
export const nonceCoin = (owner: string, nonce: number): string => `nonce-${owner}-${nonce}`;

/** Why no block takes it: a gas key's transactions stand in a row, die, and are paid for. */
function barrier(
  chain: SimChain,
  { gas, by, fee }: SimTransaction,
): 'dead' | 'waits' | 'poor' | null {
  if (gas === undefined) return null;
  if (gas.diesAt !== null && tipOf(chain).time >= gas.diesAt) return 'dead';
  if ((chain.balances.get(by) ?? 0n) < BigInt(fee)) return 'poor';
  const { nonce } = gas;
  if (nonce === null || nonce === 0 || chain.spent.has(nonceCoin(by, nonce - 1))) return null;
  return 'waits';
}

/** Whether a node takes it now; else why not. */
export function refusal(chain: SimChain, tx: SimTransaction, nowSeconds: number): string | null {
  const barred = barrier(chain, tx);
  if (barred === 'dead' || barred === 'poor') return barred;
  if (tx.coins.some((coin) => chain.spent.has(coin))) return 'a coin is spent';
  const rivals = rivalsOf(chain, tx.coins);
  if (rivals.some((each) => each.tx.fee >= tx.fee)) return 'a rival pays as much';
  const waiting = [...chain.mempool.values()].some(({ txid }) => tx.coins.includes(txid));
  // Where a failing transaction is mined all the same, a node takes it.
  if (chain.family === 'evm' || chain.family === 'tron') return null;
  const { height, time } = tipOf(chain);
  const next = { height: height + 1, time: Math.max(nowSeconds + chain.drift, time + 1) };
  const why = fault(chain, tx, next);
  // A spend of a payment that waits itself is judged when it is mined.
  return waiting && (why === 'nothing is there' || why === missingInput) ? null : why;
}

/** Into the mempool, in the place of what spends the same; a secret in it is public from now on. */
export function submit(chain: SimChain, tx: SimTransaction): string {
  const txid = txidOf(rawOf(tx));
  for (const each of rivalsOf(chain, tx.coins)) forget(chain, each.txid);
  chain.mempool.set(txid, { txid, tx });
  show(chain, tx);
  return txid;
}

/** A mempool loses it, and what spends it with it; whether it was there. */
export function forget(chain: SimChain, txid: string): boolean {
  if (!chain.mempool.delete(txid)) return false;
  for (const each of [...chain.mempool.values()]) {
    if (each.tx.coins.includes(txid)) forget(chain, each.txid);
  }
  return true;
}

function show(chain: SimChain, { secret }: SimTransaction): void {
  if (secret !== null) chain.shown.set(hash('sha256', Buffer.from(secret, 'hex')), secret);
}

/** The next block's: after a standstill, where the protocol lets it, its parent's and no more. */
function nextTime(chain: SimChain, wall: number): number {
  const now = Math.floor(wall) + chain.drift;
  const { height, time } = tipOf(chain);
  if (chain.family === 'bitcoin') return Math.max(clockAt(chain, height) + 1, now);
  const { windowSeconds } = chain.policy;
  const behind = Math.max(time + blockSeconds, now - (windowSeconds ?? Number.POSITIVE_INFINITY));
  chain.worksThrough &&= behind < now;
  return chain.worksThrough ? behind : Math.max(time + 1, now);
}

/**
 * Puts what `chosen` lets through into a block; a transaction that can have no effect any more is
 * dropped.
 */
export function mine(chain: SimChain, wall: number, chosen: (sent: Sent) => boolean): Block {
  const time = nextTime(chain, wall);
  const height = tipOf(chain).height + 1;
  const txs: Mined[] = [];
  for (const sent of [...chain.mempool.values()]) {
    const spent = sent.tx.coins.some((coin) => chain.spent.has(coin));
    if (spent || (chain.family === 'bitcoin' && fault(chain, sent.tx, { height, time }) !== null)) {
      // On Bitcoin what is invalid is never mined; it may become valid, unless its coin is gone.
      if (spent) forget(chain, sent.txid);
      continue;
    }
    const barred = barrier(chain, sent.tx);
    if (barred === 'dead') chain.mempool.delete(sent.txid);
    if (barred !== null || !chosen(sent)) continue;
    chain.mempool.delete(sent.txid);
    txs.push(apply(chain, sent, { height, time }));
  }
  push(chain, { height, time, wall, txs });
  return tipOf(chain);
}

/** Takes the newest blocks back; their transactions wait again, if `kept` says so. */
export function cutOff(chain: SimChain, count: number, kept: (sent: Sent) => boolean): void {
  const gone = chain.blocks.splice(chain.blocks.length - count, count);
  chain.forks += 1;
  const old = chain.blocks.flatMap(({ txs, time }) => txs.map((each) => ({ each, time })));
  chain.balances.clear();
  for (const [owner, amount] of chain.genesis) chain.balances.set(owner, amount);
  for (const each of [chain.about, chain.holdings, chain.spent]) each.clear();
  chain.fees = 0n;
  for (const { each, time } of old) apply(chain, each, { height: each.height, time });
  for (const { txid, tx } of gone.flatMap(({ txs }) => txs)) {
    const spent = tx.coins.some((coin) => chain.spent.has(coin));
    if (!spent && rivalsOf(chain, tx.coins).length === 0 && kept({ txid, tx })) {
      chain.mempool.set(txid, { txid, tx });
    }
  }
}

/** The amount neither in a balance, an escrow nor paid as a fee: 0 unless money came or went. */
export function missing(chain: SimChain): bigint {
  let total = chain.issued - chain.fees;
  for (const amount of chain.balances.values()) total -= amount;
  for (const { amount, spentBy } of [...chain.holdings.values()].flat()) {
    if (spentBy === null) total -= amount;
  }
  return total;
}

/** Which of those waiting a block takes: those that pay enough, most of the time. */
export function choosing(chain: SimChain, chance: Chance): (sent: Sent) => boolean {
  return ({ tx }) => tx.fee >= chain.feeFloor && chance.hits(0.92);
}
