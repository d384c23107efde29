// The ChainAdapter of a simulated chain, as one process has it: what it watches, which secrets it
// saw and what it told are its memory, lost when the process dies. Each call may find the node
// down, slow, behind or lying, and the process may die at it.

import { hash } from 'node:crypto';
import type { ChainAdapter } from '../../chains/adapter.ts';
import type { Heads, WatchedEscrow } from '../../chains/interface/reading.ts';
import type { ReadTransaction } from '../../chains/interface/sending.ts';
import { ParleyError } from '../../core/errors.ts';
import type { EscrowFacts } from '../../core/facts.ts';
import type { EscrowTerms } from '../../core/terms.ts';
import {
  allMined,
  clockAt,
  type Holding,
  heldIn,
  refusal,
  rivalsOf,
  type SimChain,
  submit,
} from './chain.ts';
import type { Chance } from './chance.ts';
import { factsOf, type Node, secretsIn, viewOf, withLie } from './facts.ts';
import { materialOf } from './material.ts';
import { type SimTransaction, transactionOf, txidOf } from './transaction.ts';

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
  /** What it said last of an escrow in a change, and whatever it has said since to who read it. */
  readonly told: Map<string, string>;
  readonly read: Map<string, Set<string>>;
  nonce: number;
};

export function simAdapter(parts: AdapterParts): ChainAdapter {
  const { node, at } = parts;
  const { chain } = node;
  const maps = { watched: new Map(), secrets: new Map(), told: new Map(), read: new Map() };
  const memory: Memory = { ...maps, nonce: 0 };
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
  const spend = (verb: 'claim' | 'refund', watched: WatchedEscrow, secret: string | null) =>
    materialOf(chain.family, unsignedSpend(parts, memory, watched, { verb, secret }), nowSeconds());
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
        const tx = unsignedFunding(chain, address, terms, nextNonce(parts, memory));
        return materialOf(chain.family, tx, nowSeconds());
      }),
    buildClaim: ({ escrow, isPublic }, secret) =>
      call('buildClaim', () => {
        if (!isPublic) mustAgree(parts, escrow);
        return spend('claim', escrow, secret);
      }),
    buildRefund: ({ escrow }) => call('buildRefund', () => spend('refund', escrow, null)),
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
  const facts = factsOf(chain, view, { escrow: address, required, secret });
  return withLie(facts, node.lies.get(address), required);
}

function digestOf({ funded, claimed, refunded, secret, balance, empty }: EscrowFacts): string {
  const moves = [funded, claimed, refunded].map((each) => each && [each.txid, each.deep]);
  return JSON.stringify([moves, secret, balance.toString(), empty]);
}

/** Each change once; what was read meanwhile and has gone again is one too. */
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
  const own = factsOf(chain, viewOf(node, node.lag), asked);
  const first = withLie(own, node.lies.get(escrow), required);
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
  return {
    chain: chain.chain,
    verb,
    escrow: address,
    by: bitcoin ? (to.pubkey as string) : to.address,
    coins,
    amount: '0',
    secret,
    fee: feeToReplace(chain, coins),
  };
}

/** On Bitcoin a claim takes the payment that funds, and a refund leaves what is being claimed. */
function takenBy(
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
  const touches = verb !== 'move' && memory.watched.has(escrow) ? [{ escrow, verb, secret }] : [];
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
