// An EVM chain in memory: escrows, gas keys with nonces, a mempool, and blocks that come when a
// test says so. Real nodes have tests of their own.

import { hash } from 'node:crypto';
import type { ChainAdapter } from '@parley/chains/adapter.ts';
import { evmChains } from '@parley/chains/evm/policy.ts';
import type {
  GasAccount,
  GasOutcome,
  GasSlot,
  GasTransaction,
  GasWork,
} from '@parley/chains/gas/account.ts';
import { ParleyError } from '@parley/core/errors.ts';
import { type EscrowFacts, nothingSeen } from '@parley/core/facts.ts';
import { hashlockOf } from '@parley/core/hashlock.ts';
import type { EscrowTerms } from '@parley/core/terms.ts';
import { stubAdapter } from '@parley/verify/test/support/adapter.ts';

export const gwei = 10n ** 9n;
export const ether = gwei * gwei;
const policy = evmChains['evm-dev'].policy;
/** Fees stay below this 99.9 % of times. */
const reserveFee = 100n * gwei;

type Verb = 'fund' | 'claim' | 'refund';
type Call = { readonly verb: Verb; readonly escrow: string; readonly secret: string | null };
type Sent = {
  readonly by: string;
  readonly nonce: number;
  readonly offer: string;
  readonly calls: readonly Call[];
  /** No two have the same bytes. */
  readonly salt: number;
};
type Mined = {
  readonly txid: string;
  readonly sent: Sent;
  readonly height: number;
  readonly ok: boolean;
  readonly cost: bigint;
};

export type MemoryChain = ReturnType<typeof memoryChain>;

function newState(clock: number) {
  return {
    height: 1,
    clock,
    baseFee: gwei,
    mempool: new Map<string, Sent>(),
    mined: [] as Mined[],
    terms: new Map<string, EscrowTerms>(),
    signed: 0,
    /** Nonces that a key had used before. */
    used: new Map<string, number>(),
    balances: new Map<string, bigint>(),
    /** Receivers whose payment fails. */
    refusing: new Set<string>(),
    /** Funders whose token is gone. */
    broke: new Set<string>(),
  };
}
type State = ReturnType<typeof newState>;

const idOf = (raw: string) => `0x${hash('sha256', raw)}`;
const rawOf = (sent: Sent) => JSON.stringify(sent);

function planOf({ hashlock, payout, refund, token, amount, timelock }: EscrowTerms) {
  const bound = [hashlock, payout.address, refund.address, token, `${amount}`, timelock];
  return { address: `0x${hash('sha256', JSON.stringify(bound)).slice(0, 40)}`, redeemScript: null };
}

const nonceOf = ({ used, mined }: State, by: string) =>
  (used.get(by) ?? 0) + mined.filter(({ sent }) => sent.by === by).length;

function pendingOf(state: State, by: string): number {
  const waiting = new Set([...state.mempool.values()].flatMap((s) => (s.by === by ? s.nonce : [])));
  let nonce = nonceOf(state, by);
  while (waiting.has(nonce)) nonce += 1;
  return nonce;
}

/** A call of a verb, in a block and with effect. */
const done = ({ mined }: State, verb: Verb, escrow: string) =>
  mined.find(({ ok, sent }) => {
    return ok && sent.calls.some((each) => each.verb === verb && each.escrow === escrow);
  });

const holds = (state: State, escrow: string) =>
  done(state, 'fund', escrow) !== undefined &&
  done(state, 'claim', escrow) === undefined &&
  done(state, 'refund', escrow) === undefined;

/** Why a call has no effect now; null: it has. */
function fault(state: State, { verb, escrow, secret }: Call): 'nothing_there' | 'fails' | null {
  const terms = state.terms.get(escrow);
  if (terms === undefined) return 'nothing_there';
  if (verb === 'fund') {
    const isOpen = done(state, 'fund', escrow) === undefined;
    return isOpen && !state.broke.has(terms.refund.address) ? null : 'fails';
  }
  if (!holds(state, escrow)) return 'nothing_there';
  const to = verb === 'claim' ? terms.payout.address : terms.refund.address;
  const isLate = state.clock >= terms.timelock;
  const opens = verb === 'refund' || hashlockOf(secret ?? '') === terms.hashlock;
  return isLate === (verb === 'refund') && opens && !state.refusing.has(to) ? null : 'fails';
}

/** A block takes what pays enough and is next of its key. */
function mineOne(state: State): void {
  state.height += 1;
  state.clock += 1;
  for (;;) {
    const next = [...state.mempool].find(([, { by, nonce, offer }]) => {
      return BigInt(offer) >= state.baseFee && nonce === nonceOf(state, by);
    });
    if (next === undefined) break;
    const [txid, sent] = next;
    const ok = sent.calls.every((call) => fault(state, call) === null);
    const cost = (gasOf(sent.calls) / 2n) * state.baseFee;
    state.balances.set(sent.by, (state.balances.get(sent.by) ?? ether) - cost);
    state.mined.push({ txid, sent, height: state.height, ok, cost });
    for (const [id, each] of state.mempool) {
      if (each.by === sent.by && each.nonce <= sent.nonce) state.mempool.delete(id);
    }
  }
}

function factsOf(state: State, escrow: string, required: number): EscrowFacts {
  const waiting = (verb: Verb) =>
    [...state.mempool].find(([, sent]) => {
      const call = sent.calls.find((each) => each.verb === verb && each.escrow === escrow);
      const isNext = BigInt(sent.offer) >= state.baseFee && sent.nonce === nonceOf(state, sent.by);
      return call !== undefined && isNext && fault(state, call) === null;
    });
  const seen = (verb: Verb) => {
    const found = done(state, verb, escrow);
    if (found !== undefined) {
      const confirmations = state.height - found.height + 1;
      return { txid: found.txid, confirmations, deep: confirmations >= required };
    }
    // No log tells of a funding that waits.
    const [txid] = (verb === 'fund' ? undefined : waiting(verb)) ?? [];
    return txid === undefined ? null : { txid, confirmations: 0, deep: false };
  };
  const funded = seen('fund');
  const claimed = seen('claim');
  const refunded = seen('refund');
  const shown = [...state.mined.map(({ sent }) => sent.calls), waiting('claim')?.[1].calls ?? []];
  const secret = shown.flat().find((each) => each.escrow === escrow && each.secret)?.secret ?? null;
  const isOut = claimed !== null || refunded !== null;
  const balance = funded !== null && !isOut ? (state.terms.get(escrow)?.amount ?? 0n) : 0n;
  const ended = claimed ?? refunded;
  const empty = balance === 0n && (ended === null || ended.deep);
  return { ...nothingSeen, funded, claimed, refunded, secret, balance, empty };
}

function submit(state: State, raw: string): string {
  const sent = JSON.parse(raw) as Sent;
  const txid = idOf(raw);
  const isKnown = state.mempool.has(txid) || state.mined.some((each) => each.txid === txid);
  if (isKnown) return txid;
  const refuse = (why: string) => new ParleyError('refused_by_node', why, {});
  if (sent.nonce < nonceOf(state, sent.by)) throw refuse('nonce too low');
  const rival = [...state.mempool].find(([, { by, nonce }]) => {
    return by === sent.by && nonce === sent.nonce;
  });
  if (rival !== undefined && BigInt(rival[1].offer) >= BigInt(sent.offer)) {
    throw refuse('replacement transaction underpriced');
  }
  if (rival !== undefined) state.mempool.delete(rival[0]);
  state.mempool.set(txid, sent);
  return txid;
}

const gasOf = (calls: readonly Call[]) => 21_000n + 40_000n * BigInt(calls.length);

function callsOf(work: GasWork): Call[] {
  if (work.verb === 'void') return [];
  const secret = work.verb === 'claim' ? work.secret : null;
  return [{ verb: work.verb, escrow: planOf(work.terms).address, secret }];
}

/** The signature of a funder, for these tests. */
export const signatureFor = (escrow: string) => `0x${escrow.slice(2)} is funded`;

function tried(state: State, work: GasWork): readonly Call[] {
  const calls = callsOf(work);
  for (const call of calls) {
    if (work.verb === 'fund' && work.signature !== signatureFor(call.escrow)) {
      const sentence = `the signature is none of ${work.terms.refund.address}`;
      throw new ParleyError('bad_signature', sentence, {});
    }
    const why = fault(state, call);
    if (why === 'nothing_there') throw new ParleyError(why, `${call.escrow} is empty`, {});
    const code = work.verb === 'fund' ? 'funding_would_fail' : 'payout_would_fail';
    if (why !== null) throw new ParleyError(code, `the ${call.verb} would fail`, {});
  }
  return calls;
}

function sign(state: State, by: string, work: GasWork, slot: GasSlot): GasTransaction {
  const calls = tried(state, work);
  const { nonce, above, mostCost: limit } = slot;
  if (nonce === null) throw new Error('no nonce to take');
  const gas = gasOf(calls);
  const rival = above === null ? 0n : (above.offer * 9n) / 8n + 1n;
  const least = rival > state.baseFee ? rival : state.baseFee + 1n;
  const most = limit / gas;
  if (most < least) {
    throw new ParleyError('fee_above_limit', `${least * gas} is above ${limit}`, {});
  }
  const wanted = 2n * state.baseFee + gwei > least ? 2n * state.baseFee + gwei : least;
  const offer = wanted < most ? wanted : most;
  const raw = rawOf({ by, nonce, offer: `${offer}`, calls, salt: ++state.signed });
  const { height } = state;
  const mostCost = gas * offer;
  return {
    txid: idOf(raw),
    raw,
    touches: calls,
    payer: by,
    nonce,
    offer,
    mostCost,
    diesAt: null,
    height,
  };
}

function outcomeOf(
  state: State,
  by: string,
  sent: Parameters<GasAccount['outcome']>[0],
): GasOutcome {
  const found = state.mined.find(({ txid }) => txid === sent.txid);
  if (found !== undefined) {
    if (!found.ok) return 'failed';
    const isDeep = state.height - found.height + 1 >= policy.high.confirmations;
    return isDeep ? 'deep' : 'mined';
  }
  if (sent.isPast === true || nonceOf(state, by) > (sent.nonce ?? 0)) return 'gone';
  return state.mempool.has(sent.txid) ? 'pending' : 'unknown';
}

function accountOf(get: () => State, chain: string, by: string): GasAccount {
  const offerNow = () => 2n * get().baseFee + gwei;
  return {
    chain,
    address: by,
    balance: async () => get().balances.get(by) ?? ether,
    minedNonce: async () => nonceOf(get(), by),
    pendingNonce: async () => pendingOf(get(), by),
    pendingNonces: async () => [pendingOf(get(), by)],
    reserve: async (work) => {
      const dearest = 3n * offerNow();
      return gasOf(callsOf(work)) * (dearest > reserveFee ? dearest : reserveFee);
    },
    quote: async (work) => {
      return gasOf(tried(get(), work)) * offerNow();
    },
    sign: async (work, slot) => sign(get(), by, work, slot),
    outbid: async ({ raw, height, refused }) => {
      if (BigInt((JSON.parse(raw) as Sent).offer) < get().baseFee) return 'price';
      const isPassedOver = refused || (height !== null && get().height - height >= 3);
      return isPassedOver ? 'passed over' : null;
    },
    outcome: async (sent) => outcomeOf(get(), by, sent),
    paid: async (txid) => {
      const found = get().mined.find((each) => each.txid === txid);
      return found === undefined ? null : { cost: found.cost, said: 1 };
    },
  };
}

function adapterOf(get: () => State, chain: string): ChainAdapter {
  const heads = () => ({ height: get().height, hash: `${get().height}`, clock: get().clock });
  const read: ChainAdapter['readEscrow'] = async ({ address, requiredConfirmations }) =>
    factsOf(get(), address, requiredConfirmations);
  return stubAdapter(chain, 'evm', {
    policy,
    parseAddress: (text) => text,
    plan: planOf,
    heads: async () => heads(),
    readEscrow: read,
    look: async (escrows, signal) => {
      return {
        heads: heads(),
        facts: await Promise.all(escrows.map((each) => read(each, signal))),
      };
    },
    preflight: async () => {},
    isKnown: async ({ txid }) => get().mempool.has(txid),
    broadcast: async ({ raw }) => submit(get(), raw),
    claimShortage: async (_, payer) => {
      const has = get().balances.get(payer) ?? ether;
      const need = 61_000n * get().baseFee;
      const about = { code: 'fee_poor', verb: 'claim', address: payer, sentence: 'poor' } as const;
      return has < need ? { ...about, has, need } : null;
    },
  });
}

export function memoryChain(chain: string) {
  let state = newState(0);
  const get = () => state;
  return {
    chain,
    adapter: () => adapterOf(get, chain),
    account: (address: string) => accountOf(get, chain, address),
    /** Another test begins. */
    reset: (clock: number) => {
      state = newState(clock);
    },
    get state() {
      return state;
    },
    /** A call of a party or of a stranger, waiting. */
    send: (by: string, call: Omit<Call, 'secret'> & { secret?: string }, offer = 200n * gwei) => {
      const calls = [{ secret: null, ...call }];
      return submit(
        state,
        rawOf({ by, nonce: pendingOf(state, by), offer: `${offer}`, calls, salt: ++state.signed }),
      );
    },
    plans: (terms: EscrowTerms) => void state.terms.set(planOf(terms).address, terms),
    mine: (blocks = 1) => {
      for (let block = 0; block < blocks; block += 1) mineOne(state);
    },
    /** Nodes forget what waits. */
    drop: () => state.mempool.clear(),
    waits: (txid = '') => state.mempool.has(txid),
    /** The answer takes back all blocks since, and what was in them. */
    fork: () => {
      const { height, clock, mined } = state;
      const kept = [...mined];
      return () => {
        state.mempool.clear();
        Object.assign(state, { height, clock, mined: kept });
      };
    },
  };
}
