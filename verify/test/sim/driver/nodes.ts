// Nodes of one person for one chain, each an adapter by itself: well, gone, slow, stuck, syncing
// anew, on a fork that is given up later, or lying. A node that is well may still fail once, or be
// several machines at different heights.

import { hash } from 'node:crypto';
import type { ChainAdapter } from '@parley/chains/adapter.ts';
import type { Heads, WatchedEscrow } from '@parley/chains/interface/reading.ts';
import type { ReadTransaction } from '@parley/chains/interface/sending.ts';
import { ParleyError } from '@parley/core/errors.ts';
import { type EscrowFacts, nothingSeen } from '@parley/core/facts.ts';
import {
  clockAt,
  heldIn,
  refusal,
  type SimChain,
  submit,
  tipOf,
  transactionOf,
  txidOf,
} from '../chain.ts';
import { consentOn } from '../consent.ts';
import { materialOf } from '../material.ts';
import { factsOf, feeToReplace, secretsIn, takenBy, unsignedFunding } from '../node.ts';
import { escrowOf, paidBy } from './plans.ts';
import { later, nowMs, nowSeconds } from './time.ts';
import { count, type Lie, recordOf, type SimNode, tell, type World } from './world.ts';

/** A lie that nobody speaks against is outside of what the rules promise. */
const isWitness = ({ isSteady, beside }: SimNode) =>
  isSteady && beside.some(({ mode }) => mode.is === 'lying' || mode.is === 'split');

type View = { readonly chain: SimChain; readonly height: number; readonly mempool: boolean };

/** The guard of a call: one of a process that has died throws. */
export type Alive = <R>(work: () => Promise<R>) => Promise<R>;

export type NodeParts = { readonly world: World; readonly alive: Alive };

function viewOf(node: SimNode, world: World): View {
  const { chain, mode } = node;
  const lags = isWitness(node) ? 0 : node.lags;
  const { height: top } = tipOf(chain);
  const at = (height: number): View => {
    return { chain, height: Math.max(0, Math.min(top, height)), mempool: height >= top };
  };
  switch (mode.is) {
    case 'stuck':
      return at(mode.height);
    case 'syncing':
      return at(mode.from + Math.floor((nowMs() - mode.sinceMs) / mode.perMs));
    case 'split':
      return { chain: mode.fork, height: tipOf(mode.fork).height, mempool: true };
    default:
      if (!world.chance.hits(lags)) return at(top);
      count(world, 'stale look');
      return at(top - world.chance.int(1, 9));
  }
}

const forEverMs = 1e12;

function unanswered(code: 'chain_unavailable' | 'chain_timeout', { chain }: SimChain): ParleyError {
  return new ParleyError(code, `the node of ${chain} does not answer`, { chain });
}

type Heard = { hasAnswered: boolean };

async function answers(
  node: SimNode,
  { world }: NodeParts,
  signal: AbortSignal,
  heard: Heard,
): Promise<void> {
  const { mode, chain } = node;
  if (isLate(signal)) throw unanswered('chain_timeout', chain);
  signal.throwIfAborted();
  if (mode.is === 'gone') throw unanswered('chain_unavailable', chain);
  if (mode.is === 'hangs') await pause(forEverMs, chain, signal);
  if (mode.is === 'slow') await pause(mode.ms, chain, signal);
  if (world.chance.hits(isWitness(node) ? 0 : node.fails)) {
    count(world, 'node fails once');
    throw unanswered('chain_unavailable', chain);
  }
  // A node fails like this only after its first answer of a run, since runs do not wait for it
  // before.
  if (heard.hasAnswered && nowMs() < node.failsUntilMs) {
    count(world, 'a witness fails');
    throw unanswered('chain_unavailable', chain);
  }
}

const isLate = ({ reason }: AbortSignal) => reason?.name === 'TimeoutError';

function pause(ms: number, chain: SimChain, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const timer = later(ms, resolve);
    const end = () => {
      timer.work = null;
      reject(isLate(signal) ? unanswered('chain_timeout', chain) : signal.reason);
    };
    signal.addEventListener('abort', end, { once: true });
  });
}

const farAway = 1_000_000;

function headsOf(node: SimNode, { chain, height }: View): Heads {
  const { hash: found = '' } = chain.blocks[height] ?? {};
  const heads = { height, hash: found, clock: clockAt(chain, height) };
  const lie = node.mode.is === 'lying' ? node.mode.lie : null;
  if (lie === 'height') return { ...heads, height: height + farAway };
  if (lie === 'future') return { ...heads, height: height + farAway, clock: heads.clock + 86_400 };
  if (lie === 'clock ahead' || lie === 'early') return { ...heads, clock: heads.clock + 172_800 };
  if (lie === 'clock behind') return { ...heads, clock: heads.clock - 3_000 };
  return heads;
}

const denies: readonly Lie[] = ['claimed', 'refunded', 'unfunded', 'fork', 'future'];

const made = (watched: WatchedEscrow, verb: string) => {
  return { txid: hash('sha256', `${watched.address} ${verb}`), confirmations: 99, deep: true };
};

function lieAbout(lie: Lie, facts: EscrowFacts, watched: WatchedEscrow): EscrowFacts {
  const { secret } = facts;
  const funded = facts.funded ?? made(watched, 'fund');
  const spent = { ...facts, funded, secret, balance: 0n, empty: true };
  switch (lie) {
    case 'claimed':
    case 'future':
      return { ...spent, claimed: made(watched, 'claim'), refunded: null };
    case 'refunded':
      return { ...spent, claimed: null, refunded: made(watched, 'refund') };
    case 'funded': {
      const { amount } = watched.terms;
      const deep = made(watched, 'fund');
      return {
        ...facts,
        funded: deep,
        claimed: null,
        refunded: null,
        balance: amount,
        empty: false,
      };
    }
    case 'hides':
      return { ...facts, balance: 0n, empty: true };
    case 'unfunded':
    case 'fork':
      return { ...nothingSeen, secret };
    default:
      return facts;
  }
}

/** Before anything is remembered of it nobody could tell. */
function forgetsNow(node: SimNode, world: World, escrow: string): boolean {
  if (isWitness(node) || node.mode.is !== 'well' || !world.chance.hits(node.forgets)) return false;
  const isRemembered = recordOf(node.owner(), world.swapId)?.seen?.[escrow]?.funded?.deep === true;
  if (isRemembered) count(world, 'node forgets');
  return isRemembered;
}

function shownBy(
  { world }: NodeParts,
  node: SimNode,
  view: View,
  watched: WatchedEscrow,
): EscrowFacts {
  const { address: escrow, terms, requiredConfirmations: required } = watched;
  const shown = secretsIn(view.chain, escrow, view);
  const secret = shown.find((each) => opensLock(each, terms.hashlock)) ?? null;
  if (forgetsNow(node, world, escrow)) return nothingSeen;
  const facts = factsOf(view.chain, view, { escrow, required, secret });
  return node.mode.is === 'lying' ? lieAbout(node.mode.lie, facts, watched) : facts;
}

const opensLock = (secret: string, hashlock: string) =>
  hash('sha256', Buffer.from(secret, 'hex')) === hashlock;

/** The adapter of one node. */
export function nodeAdapter(node: SimNode, parts: NodeParts): ChainAdapter {
  const { chain } = node;
  const { world, alive } = parts;
  const heard: Heard = { hasAnswered: false };
  const asked = <R>(signal: AbortSignal, work: (view: View) => R): Promise<R> =>
    alive(async () => {
      await answers(node, parts, signal, heard);
      return work(viewOf(node, world));
    });
  const spend = (
    verb: 'claim' | 'refund',
    watched: WatchedEscrow,
    secret: string | null,
    release?: string,
  ) => {
    return (view: View) => {
      const isDenied = node.mode.is === 'lying' && denies.includes(node.mode.lie);
      const from = isDenied ? { ...view, height: 0 } : view;
      const isVain = node.mode.is === 'lying' && node.mode.lie === 'vain';
      if (isVain) count(world, 'built in vain');
      return builtSpend(parts, from, watched, {
        verb,
        secret,
        isVain,
        ...(release && { release }),
      });
    };
  };
  const adapter: Partial<ChainAdapter> = {
    chain: chain.chain,
    family: chain.family,
    policy: chain.policy,
    blockSeconds: chain.family === 'bitcoin' ? 600 : 60,
    plan: escrowOf,
    watch: () => {},
    unwatch: () => {},
    heads: (signal) => asked(signal, (view) => headsOf(node, view)),
    look: (escrows, signal) =>
      asked(signal, (view) => {
        heard.hasAnswered = true;
        const facts = escrows.map((each) => shownBy(parts, node, view, each));
        return { heads: headsOf(node, view), facts };
      }),
    readEscrow: (watched, signal) => asked(signal, (view) => shownBy(parts, node, view, watched)),
    preflight: (_, __, signal) => asked(signal, () => {}),
    buildFund: ({ escrow: { address, terms } }, signal) =>
      asked(signal, () =>
        materialOf(
          chain.family,
          unsignedFunding(chain, address, terms, world.chance.hex(6)),
          nowSeconds(),
        ),
      ),
    buildClaim: ({ escrow }, secret, signal) => asked(signal, spend('claim', escrow, secret)),
    buildRefund: ({ escrow, release }, signal) =>
      asked(signal, spend('refund', escrow, null, release)),
    planTogether: (input, verb, signal) =>
      asked(signal, (view) => {
        const payments = paymentsIn(view, input.escrow, verb);
        const outputs = payments.map(({ txid, amount }) => ({ txid, vout: 0, amount }));
        const coins = payments.map(({ txid }) => txid);
        const feeSats = BigInt(feeToReplace(chain, coins));
        return { verb, outputs, feeSats, paysTo: paidBy(input.escrow.terms, verb) };
      }),
    ...consentOn(chain, {
      plan: escrowOf,
      build: (escrow, word, signal) => asked(signal, spend('refund', escrow, null, word)),
    }),
    readSigned: async (signed) => {
      const raw = String(signed);
      return { txid: txidOf(raw), raw, touches: [] };
    },
    broadcast: (sent, signal) => asked(signal, () => taken(node, world, sent)),
    close: async () => {},
  };
  if (chain.family === 'solana') return adapter as ChainAdapter;
  const blockHash: ChainAdapter['blockHash'] = (height, signal) =>
    asked(signal, (view) => {
      if (node.mode.is === 'lying' && node.mode.lie === 'fork') return hash('sha256', `${height}`);
      return height > view.height ? null : (view.chain.blocks[height]?.hash ?? null);
    });
  return { ...adapter, blockHash } as ChainAdapter;
}

type Spending = {
  readonly release?: string;
  readonly verb: 'claim' | 'refund';
  readonly secret: string | null;
  readonly isVain: boolean;
};

/** It names a coin or a block that never was. */
const vain = 'vain-';

function paymentsIn(
  { chain, height }: View,
  { address, terms }: WatchedEscrow,
  verb: 'claim' | 'refund',
) {
  const unspent = heldIn(chain, address).filter(
    (each) => each.height <= height && (each.spentBy === null || each.spentBy.height > height),
  );
  const isBitcoin = chain.family === 'bitcoin';
  const payments = isBitcoin ? takenBy(chain, verb, unspent, terms) : unspent;
  if (payments.length > 0) return payments;
  throw new ParleyError('nothing_there', `${address} holds no payment`, { escrow: address });
}

function builtSpend(
  { world }: NodeParts,
  view: View,
  watched: WatchedEscrow,
  { verb, secret, isVain, release }: Spending,
) {
  const { chain } = view;
  const { address, terms } = watched;
  const isBitcoin = chain.family === 'bitcoin';
  const payments = paymentsIn(view, watched, verb);
  // On Solana the payee sends its release.
  const isPayees = verb === 'claim' || (release !== undefined && chain.family === 'solana');
  const to = isPayees ? terms.payout : terms.refund;
  const own = isBitcoin ? payments.map(({ txid }) => txid) : [`coin-${world.chance.hex(6)}`];
  const coins = isVain ? [`${vain}${world.chance.hex(6)}`] : own;
  const by = isBitcoin ? (to.pubkey ?? '') : to.address;
  const fee = feeToReplace(chain, coins);
  const spend = { chain: chain.chain, verb, escrow: address, by, coins, amount: '0', secret, fee };
  const tx = release === undefined ? spend : { ...spend, release };
  return materialOf(chain.family, tx, nowSeconds());
}

/** One that stands still or lies says that it has it, and tells nobody. */
function taken(node: SimNode, world: World, { raw, txid }: ReadTransaction): string {
  const tx = transactionOf(raw);
  const { chain, mode } = node;
  if (tx === null) throw new ParleyError('refused_by_node', 'no coins of this chain', {});
  if (mode.is === 'split') {
    if (refusal(mode.fork, tx, nowSeconds()) === null) submit(mode.fork, tx);
  }
  const isEarly = mode.is === 'lying' && mode.lie === 'early';
  if (mode.is !== 'well' && mode.is !== 'slow' && !isEarly) {
    count(world, 'sent to a node that tells nobody');
    return txid;
  }
  return offer(world, chain, raw);
}

/** The network's answer to it. Throws `refused_by_node`. */
export function offer(world: World, chain: SimChain, raw: string): string {
  const tx = transactionOf(raw);
  const txid = txidOf(raw);
  if (tx === null) throw new ParleyError('refused_by_node', 'no coins of this chain', {});
  const isMined = [...chain.about.values()].some((all) => all.some((each) => each.txid === txid));
  if (isMined || chain.mempool.has(txid)) return txid;
  const isVain = tx.coins.some((coin) => coin.startsWith(vain));
  const why = isVain ? 'there is no such coin or block' : refusal(chain, tx, nowSeconds());
  if (why !== null) throw new ParleyError('refused_by_node', `the node says: ${why}`, { why });
  submit(chain, tx);
  world.news += 1;
  const funded = chain === world.chains.a ? 'a' : 'b';
  const moment = tx.verb === 'fund' ? funded : tx.secret === null ? null : 'told';
  if (moment !== null) for (const each of world.after[moment].splice(0)) each();
  tell(world, `${chain.chain}: ${tx.by} sends ${tx.verb} at ${tx.escrow}`);
  return txid;
}

const never = () => Promise.reject(new Error('a node plans what both sign'));

/** Over all nodes: reads and builds by the one that answered last, offers what is sent to each. */
export function inTurn(nodes: readonly ChainAdapter[]): ChainAdapter {
  const [first] = nodes;
  if (first === undefined || nodes.length === 1) return first as ChainAdapter;
  let preferred = 0;
  const asking = async <R>(work: (node: ChainAdapter) => Promise<R>): Promise<R> => {
    let failure: unknown;
    for (let attempt = 0; attempt < nodes.length; attempt += 1) {
      const at = (preferred + attempt) % nodes.length;
      try {
        const answer = await work(nodes[at] as ChainAdapter);
        preferred = at;
        return answer;
      } catch (error) {
        const isSilent = error instanceof ParleyError && error.code.startsWith('chain_');
        if (!isSilent) throw error;
        failure = error;
      }
    }
    throw failure;
  };
  const broadcast: ChainAdapter['broadcast'] = async (sent, signal) => {
    const told = await Promise.allSettled(nodes.map((each) => each.broadcast(sent, signal)));
    const isTaken = told.some(({ status }) => status === 'fulfilled');
    if (isTaken) return sent.txid;
    const failures = told.map((each) => (each.status === 'rejected' ? each.reason : null));
    throw failures.find((each) => each?.code === 'refused_by_node') ?? failures[0];
  };
  const { consent } = first;
  const asksNodes: Pick<ChainAdapter, 'consent'> =
    consent === undefined
      ? {}
      : {
          consent: {
            ...consent,
            buildRelease: (input, signal) =>
              asking((node) => (node.consent ?? consent).buildRelease(input, signal)),
          },
        };
  return {
    ...first,
    ...asksNodes,
    planTogether: (input, verb, signal) =>
      asking((node) => (node.planTogether ?? never)(input, verb, signal)),
    broadcast,
    heads: (signal) => asking((node) => node.heads(signal)),
    look: (escrows, signal) => asking((node) => node.look(escrows, signal)),
    readEscrow: (watched, signal) => asking((node) => node.readEscrow(watched, signal)),
    preflight: (terms, about, signal) => asking((node) => node.preflight(terms, about, signal)),
    buildClaim: (input, own, signal) => asking((node) => node.buildClaim(input, own, signal)),
    buildRefund: (input, signal) => asking((node) => node.buildRefund(input, signal)),
  };
}
