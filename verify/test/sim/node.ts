// A node of a simulated chain, and the ChainAdapter of one process over it. A node shows of an
// escrow the chain up to the block where it stands, its mempool if it is not behind, and what it
// lies about. Bitcoin's rules are those of the real adapter
// (packages/chains/bitcoin/escrow-facts.ts). An adapter's memory holds what it watches, the secrets
// it saw and what it emitted, and is lost when the process dies. Each call may find the node down,
// slow, behind or lying, and the process may die at it.

import { hash } from 'node:crypto';
import type { ChainAdapter } from '@parley/chains/adapter.ts';
import {
  type EscrowSpend,
  escrowFacts,
  type Payment,
} from '@parley/chains/bitcoin/escrow-facts.ts';
import { findSecret } from '@parley/chains/bitcoin/escrow-script.ts';
import type { Heads, WatchedEscrow } from '@parley/chains/interface/reading.ts';
import type { ReadTransaction } from '@parley/chains/interface/sending.ts';
import { ParleyError } from '@parley/core/errors.ts';
import { type EscrowFacts, nothingSeen, type Sighting } from '@parley/core/facts.ts';
import { freeRefund } from '@parley/core/remains.ts';
import type { EscrowTerms } from '@parley/core/terms.ts';
import {
  allMined,
  clockAt,
  type Holding,
  heldIn,
  type Mined,
  minedAbout,
  refusal,
  rivalsOf,
  type SimChain,
  type SimTransaction,
  submit,
  takes,
  tipOf,
  transactionOf,
  txidOf,
  waitingAt,
} from './chain.ts';
import type { Chance } from './chance.ts';
import { consentOn } from './consent.ts';
import { materialOf } from './material.ts';

export type Lie = 'funded' | 'absent';

export type Node = {
  readonly chain: SimChain;
  down: boolean;
  slow: boolean;
  /** Blocks that the first source, and the second, are behind. */
  lag: number;
  otherLag: number;
  /** The first source's word on an escrow's funding against the truth. */
  readonly lies: Map<string, Lie>;
};

export const nodeWith = (chain: SimChain): Node => ({
  chain,
  down: false,
  slow: false,
  lag: 0,
  otherLag: 0,
  lies: new Map(),
});

export type NodeView = { readonly height: number; readonly mempool: boolean };

export function viewOf({ chain }: Node, lag: number): NodeView {
  return { height: Math.max(0, tipOf(chain).height - lag), mempool: lag === 0 };
}

type Seen = Omit<Mined, 'height'> & { readonly height: number | null };

/** Everything about an escrow that the view shows, mined first. */
function seenOf(chain: SimChain, escrow: string, { height, mempool }: NodeView): Seen[] {
  const mined = minedAbout(chain, escrow).filter((each) => each.height <= height);
  const waiting = mempool ? waitingAt(chain, escrow) : [];
  return [...mined, ...waiting.map((each) => ({ ...each, height: null, ok: true }))];
}

/** The secret that a node finds in a transaction; on Bitcoin wherever it stands in it, by hash. */
function secretIn(chain: SimChain, { escrow, secret, pushes }: SimTransaction): string | null {
  if (chain.family !== 'bitcoin') return secret;
  const items = pushes ?? (secret === null ? [] : [secret]);
  const bytes = items.map((each) => Uint8Array.from(Buffer.from(each, 'hex')));
  return findSecret(bytes, chain.plans.get(escrow)?.hashlock ?? '');
}

/** Secrets that transactions about the escrow show, failed ones too. */
export function secretsIn(chain: SimChain, escrow: string, view: NodeView): string[] {
  const all = seenOf(chain, escrow, view).map(({ tx }) => secretIn(chain, tx));
  return all.filter((each) => each !== null);
}

export type Asking = {
  readonly escrow: string;
  readonly required: number;
  readonly secret: string | null;
};

export function factsOf(chain: SimChain, view: NodeView, asked: Asking): EscrowFacts {
  const seen = seenOf(chain, asked.escrow, view).filter(({ ok }) => ok);
  return chain.family === 'bitcoin'
    ? bitcoinFacts(chain, view, asked, seen)
    : accountFacts(chain, view, asked, seen);
}

function bitcoinFacts(
  chain: SimChain,
  view: NodeView,
  { escrow, required, secret }: Asking,
  seen: readonly Seen[],
): EscrowFacts {
  const spendOf = (payment: string): EscrowSpend | null => {
    const found = seen.find(({ tx }) => isSpend(tx) && takes(chain, tx, payment));
    if (found === undefined) return null;
    const { tx } = found;
    const isClaim = tx.together === undefined ? secretIn(chain, tx) !== null : tx.verb === 'claim';
    return { txid: found.txid, height: found.height, by: isClaim ? 'claim' : 'refund' };
  };
  const payments = seen
    .filter(({ tx }) => tx.verb === 'fund')
    .map(({ txid, tx, height }): Payment => {
      const amount = BigInt(tx.amount);
      return { txid, vout: 0, amount, height, coinbase: false, spend: spendOf(txid) };
    });
  const amount = chain.plans.get(escrow)?.amount ?? 0n;
  const history = { payments, secret, tip: view.height, leastRefund: freeRefund };
  return escrowFacts(history, amount, required);
}

const isSpend = ({ verb }: SimTransaction) => verb === 'claim' || verb === 'refund';

function accountFacts(
  chain: SimChain,
  view: NodeView,
  { escrow, required, secret }: Asking,
  seen: readonly Seen[],
): EscrowFacts {
  const sight = (found: Seen | undefined): Sighting | null => {
    if (found === undefined) return null;
    const confirmations = found.height === null ? 0 : view.height - found.height + 1;
    return { txid: found.txid, confirmations, deep: confirmations >= required };
  };
  const fund = seen.find(({ tx }) => tx.verb === 'fund');
  if (fund === undefined) return { ...nothingSeen, secret };
  const amount = chain.plans.get(escrow)?.amount ?? 0n;
  const spends = seen.filter(({ tx }) => isSpend(tx));
  const mined = spends.find(({ height }) => height !== null);
  const spend = mined ?? spends[0];
  const balance = fund.height !== null && mined === undefined ? amount : 0n;
  const settled = sight(mined)?.deep ?? false;
  return {
    funded: sight(fund),
    claimed: spend?.tx.verb === 'claim' ? sight(spend) : null,
    refunded: spend?.tx.verb === 'refund' ? sight(spend) : null,
    secret,
    balance,
    empty: balance === 0n && settled,
  };
}

/** The first source's answer, where it lies too. */
export function shownBy(node: Node, asked: Asking): EscrowFacts {
  const facts = factsOf(node.chain, viewOf(node, node.lag), asked);
  const lie = node.lies.get(asked.escrow);
  if (lie === undefined || facts.claimed !== null || facts.refunded !== null) return facts;
  if (lie === 'absent') return { ...nothingSeen, secret: facts.secret };
  const txid = facts.funded?.txid ?? '00'.repeat(32);
  const funded = { txid, confirmations: asked.required, deep: true };
  return { ...facts, funded, empty: false };
}

export type AdapterParts = {
  readonly node: Node;
  readonly chance: Chance;
  /** Milliseconds. */
  readonly now: () => number;
  /** Around each call that touches the node: the process may die before or after it. */
  readonly at: <R>(name: string, call: () => R) => Promise<R>;
  /** Told of every transaction that the node took, and whether its secret was known before. */
  readonly onSent: (chain: SimChain, txid: string, wasShown: boolean) => void;
  readonly count: (fault: string) => void;
};

/** An escrow's address commits to its terms; on Bitcoin to neither amount nor payout address. */
export function planOf(chain: SimChain, terms: EscrowTerms) {
  const { hashlock, payout, refund, timelock, token, amount } = terms;
  const bound =
    chain.family === 'bitcoin'
      ? [hashlock, payout.pubkey, refund.pubkey, timelock]
      : [hashlock, payout.address, refund.address, timelock, token, amount.toString()];
  const address = `${chain.chain}-${hash('sha256', JSON.stringify(bound)).slice(0, 40)}`;
  chain.plans.set(address, terms);
  return { address, redeemScript: chain.family === 'bitcoin' ? hash('sha256', address) : null };
}

type Memory = {
  readonly watched: Map<string, WatchedEscrow>;
  readonly secrets: Map<string, string>;
  /** Its last word on an escrow in a change, and whatever it has since answered to readers. */
  readonly told: Map<string, string>;
  readonly read: Map<string, Set<string>>;
  nonce: number;
};

export function simAdapter(parts: AdapterParts): ChainAdapter {
  const { node, at } = parts;
  const { chain } = node;
  const memory: Memory = {
    watched: new Map(),
    secrets: new Map(),
    told: new Map(),
    read: new Map(),
    nonce: 0,
  };
  const nowSeconds = () => Math.floor(parts.now() / 1_000);
  const call = <R>(name: string, work: () => R): Promise<R> =>
    at(`${chain.chain} ${name}`, () => {
      mustAnswer(parts, name);
      return work();
    });
  const read = (watched: WatchedEscrow) => {
    const facts = readNow(parts, memory, watched);
    const { address } = watched;
    if (memory.watched.has(address)) {
      memory.read.set(address, (memory.read.get(address) ?? new Set()).add(digestOf(facts)));
    }
    return facts;
  };
  const built = (tx: SimTransaction) => materialOf(chain.family, tx, nowSeconds());
  const spend = (verb: 'claim' | 'refund', watched: WatchedEscrow, secret: string | null) =>
    built(unsignedSpend(parts, memory, watched, { verb, secret }));
  /** By the payee's word: on Solana the payee sends it. */
  const early = (watched: WatchedEscrow, release: string) => {
    const { by, ...tx } = unsignedSpend(parts, memory, watched, { verb: 'refund', secret: null });
    const isPayees = chain.family === 'solana';
    return built({ ...tx, by: isPayees ? watched.terms.payout.address : by, release });
  };
  return {
    chain: chain.chain,
    family: chain.family,
    policy: chain.policy,
    contract: { address: chain.chain, version: 'simulated' },
    parseAddress: (text) => text,
    plan: (terms) => planOf(chain, terms),
    heads: () => call('heads', () => headsOf(node)),
    watch: (escrows) => {
      for (const each of escrows) {
        if (!memory.watched.has(each.address)) memory.watched.set(each.address, each);
      }
    },
    unwatch: (addresses) => {
      for (const each of addresses) memory.watched.delete(each);
    },
    changes: () =>
      call('changes', () => ({ touched: touchedNow(parts, memory), heads: headsOf(node) })),
    look: (escrows) => call('look', () => ({ heads: headsOf(node), facts: escrows.map(read) })),
    readEscrow: (watched) => call('readEscrow', () => read(watched)),
    mustAgree: (watched) => call('mustAgree', () => mustAgree(parts, watched)),
    preflight: async (terms, about) =>
      call('preflight', () => {
        const held = chain.balances.get(terms.refund.address) ?? 0n;
        if (about !== 'funding' || chain.family === 'bitcoin' || held >= terms.amount) return;
        throw new ParleyError('funding_would_fail', 'the funder holds too little', {});
      }),
    buildFund: ({ escrow }) =>
      call('buildFund', () => {
        const { address, terms } = escrow;
        return built(unsignedFunding(chain, address, terms, nextNonce(parts, memory)));
      }),
    buildClaim: ({ escrow, isPublic }, secret) =>
      call('buildClaim', () => {
        if (!isPublic) mustAgree(parts, escrow);
        return spend('claim', escrow, secret);
      }),
    buildRefund: ({ escrow, release }) =>
      call('buildRefund', () =>
        release === undefined ? spend('refund', escrow, null) : early(escrow, release),
      ),
    ...consentOn(chain, {
      plan: (terms) => planOf(chain, terms),
      build: (escrow, word) => call('buildRelease', () => early(escrow, word)),
    }),
    readSigned: (signed) => call('readSigned', () => readSigned(chain, memory, signed)),
    broadcast: (transaction) => send(parts, memory, transaction),
    isKnown: ({ txid }) => call('isKnown', () => isKnown(chain, txid)),
    checkAmount: () => call('checkAmount', () => {}),
    close: async () => {},
  };
}

function nextNonce({ chance }: AdapterParts, memory: Memory): string {
  memory.nonce += 1;
  return `${memory.nonce}-${chance.hex(6)}`;
}

export function mustAnswer({ node, chance, count }: AdapterParts, name: string): void {
  const { chain } = node.chain;
  if (node.down) {
    count('node down');
    throw new ParleyError('chain_unavailable', `the node of ${chain} is gone`, { chain });
  }
  if (!node.slow || name === 'readSigned' || !chance.hits(0.5)) return;
  count('node slow');
  throw new ParleyError('chain_timeout', `the node of ${chain} did not answer`, { chain });
}

function headsOf(node: Node): Heads {
  const { height } = viewOf(node, node.lag);
  const { hash: found = '' } = node.chain.blocks[height] ?? {};
  return { height, hash: found, clock: clockAt(node.chain, height) };
}

function readNow({ node }: AdapterParts, memory: Memory, watched: WatchedEscrow): EscrowFacts {
  const { address, terms, requiredConfirmations: required } = watched;
  const { chain } = node;
  const view = viewOf(node, node.lag);
  for (const each of secretsIn(chain, address, view)) {
    memory.secrets.set(hash('sha256', Buffer.from(each, 'hex')), each);
  }
  const secret = memory.secrets.get(terms.hashlock) ?? null;
  return shownBy(node, { escrow: address, required, secret });
}

function digestOf({ funded, claimed, refunded, secret, balance, empty }: EscrowFacts): string {
  const moves = [funded, claimed, refunded].map((each) => each && [each.txid, each.deep]);
  return JSON.stringify([moves, secret, balance.toString(), empty]);
}

/** Each change once; a fact that was read meanwhile and has gone again is one too. */
function touchedNow(parts: AdapterParts, memory: Memory): string[] {
  const { told, read } = memory;
  return [...memory.watched.values()].flatMap((watched) => {
    const { address } = watched;
    const digest = digestOf(readNow(parts, memory, watched));
    const said = [told.get(address), ...(read.get(address) ?? [])];
    const isNews = said.some((each) => each !== digest);
    told.set(address, digest);
    read.delete(address);
    return isNews ? [address] : [];
  });
}

/** Blocks that two honest sources may be apart. */
const mostApart = 2;

function mustAgree({ node, count }: AdapterParts, watched: WatchedEscrow): void {
  const { address: escrow, requiredConfirmations: required } = watched;
  const { chain } = node;
  const asked = { escrow, required, secret: null };
  const first = shownBy(node, asked);
  const second = factsOf(chain, viewOf(node, node.otherLag), asked);
  const apart = Math.abs(node.lag - node.otherLag) > mostApart;
  const differ =
    first.funded?.deep !== second.funded?.deep || first.funded?.txid !== second.funded?.txid;
  if (!apart && !differ) return;
  count('sources disagree');
  const sentence = `two sources of ${chain.chain} differ`;
  throw new ParleyError('sources_disagree', sentence, { chain: chain.chain });
}

export function unsignedFunding(
  chain: SimChain,
  escrow: string,
  { refund, amount }: Pick<EscrowTerms, 'refund' | 'amount'>,
  nonce: string,
): SimTransaction {
  const fee = chain.feeFloor + 2;
  const coins = [`coin-${nonce}`];
  const about = { chain: chain.chain, escrow, by: refund.address, coins, fee };
  return { ...about, verb: 'fund', amount: amount.toString(), secret: null };
}

function unsignedSpend(
  parts: AdapterParts,
  memory: Memory,
  { address, terms }: WatchedEscrow,
  { verb, secret }: { verb: 'claim' | 'refund'; secret: string | null },
): SimTransaction {
  const { node } = parts;
  const { chain } = node;
  const { height } = viewOf(node, node.lag);
  const unspent = heldIn(chain, address).filter(
    (each) => each.height <= height && each.spentBy === null,
  );
  const payments = chain.family === 'bitcoin' ? takenBy(chain, verb, unspent, terms) : unspent;
  if (payments.length === 0) {
    throw new ParleyError('nothing_there', `${address} holds no payment`, { escrow: address });
  }
  const to = verb === 'claim' ? terms.payout : terms.refund;
  const bitcoin = chain.family === 'bitcoin';
  const coins = bitcoin ? payments.map(({ txid }) => txid) : [`coin-${nextNonce(parts, memory)}`];
  const by = bitcoin ? (to.pubkey as string) : to.address;
  const about = { chain: chain.chain, verb, escrow: address, by, coins };
  return { ...about, amount: '0', secret, fee: feeToReplace(chain, coins) };
}

/** On Bitcoin a claim takes the payment that funds, and a refund leaves what is being claimed. */
export function takenBy(
  chain: SimChain,
  verb: 'claim' | 'refund',
  unspent: readonly Holding[],
  { amount }: EscrowTerms,
): readonly Holding[] {
  if (verb === 'claim') return unspent.filter((each) => each.amount >= amount).slice(0, 1);
  const claims = [...chain.mempool.values()].filter(({ tx }) => tx.verb === 'claim');
  return unspent.filter(({ txid }) => !claims.some(({ tx }) => tx.coins.includes(txid)));
}

/** Enough for the next block, and more than what it takes the place of. */
export function feeToReplace(chain: SimChain, coins: readonly string[]): number {
  const rivals = rivalsOf(chain, coins).map(({ tx }) => Math.ceil(tx.fee) + 1);
  return Math.max(chain.feeFloor + 2, ...rivals);
}

function readSigned(chain: SimChain, memory: Memory, signed: unknown): ReadTransaction {
  const raw = typeof signed === 'string' ? signed : '';
  const tx = transactionOf(raw);
  if (tx === null || tx.chain !== chain.chain) {
    throw new ParleyError('bad_transaction', 'these bytes are no transaction of this chain', {});
  }
  const { verb, escrow, secret } = tx;
  const released = tx.release === undefined ? {} : { isReleased: true as const };
  const isOurs = verb !== 'move' && memory.watched.has(escrow);
  const touches = isOurs ? [{ escrow, verb, secret, ...released }] : [];
  const txid = txidOf(raw);
  const pays = verb === 'fund' ? [escrow] : [];
  return { txid, raw, touches, pays, ...(chain.family === 'bitcoin' ? {} : { payer: tx.by }) };
}

function isKnown(chain: SimChain, txid: string): boolean {
  return chain.mempool.has(txid) || allMined(chain).some((each) => each.txid === txid);
}

async function send(
  parts: AdapterParts,
  memory: Memory,
  { raw, txid }: ReadTransaction,
): Promise<string> {
  const { node, chance, count, at } = parts;
  const { chain } = node;
  const tx = transactionOf(raw);
  if (tx === null) throw new ParleyError('refused_by_node', 'no coins of this chain', {});
  return at(`${chain.chain} broadcast`, () => {
    if (!node.slow) mustAnswer(parts, 'broadcast');
    const known = isKnown(chain, txid);
    const why = known ? null : refusal(chain, tx, Math.floor(parts.now() / 1_000));
    if (why !== null) throw new ParleyError('refused_by_node', `the node says: ${why}`, { why });
    const terms = chain.plans.get(tx.escrow);
    const wasShown = chain.shown.has(terms?.hashlock ?? '');
    if (!known) parts.onSent(chain, submit(chain, tx), wasShown);
    if (tx.secret !== null && terms !== undefined) {
      memory.secrets.set(hash('sha256', Buffer.from(tx.secret, 'hex')), tx.secret);
    }
    if (node.slow && chance.hits(0.5)) {
      // It has the transaction all the same.
      count('broadcast unanswered');
      throw new ParleyError('chain_timeout', 'no answer', { chain: chain.chain });
    }
    return txid;
  });
}
