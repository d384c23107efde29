// JSON-RPC to the nodes of one chain, with time limits, bounded retries and sizes. `chain_timeout`:
// it hangs. `chain_unavailable`: it is gone. RpcError: a node's answer.

import { exchangeWith } from '#transport';
import { isNotOfBytes, type Meaning, meaningOf } from './answers.ts';
import {
  AnswerTooLong,
  type NodeReply,
  NotNow,
  TurnedAway,
  textOf,
  turnsAway,
  withoutJson,
  withoutKeys,
} from './exchange.ts';
import { type HeadsBy, headRules } from './heads.ts';
import { inTurn, type Worth } from './in-turn.ts';
import type { EvmMethod, SolanaMethod } from './methods.ts';
import type { Order } from './sources.ts';

/** The node understood and said no. `data` is the revert data of a call, when there is any. */
export class RpcError extends Error {
  readonly code: number;
  readonly data: string | null;
  /** The status of HTTP: some nodes give errors of theirs with 400 or 500. */
  readonly status: number;
  constructor(
    code: number,
    message: string,
    data: string | null,
    { status = 200, ...options }: ErrorOptions & { readonly status?: number } = {},
  ) {
    super(message, options);
    this.name = 'RpcError';
    this.code = code;
    this.data = data;
    this.status = status;
  }
}

export type RpcOptions = {
  readonly chain: string;
  readonly urls: readonly string[];
  /** Longest wait for one answer of one node. Default 8 000. */
  readonly attemptTimeoutMs?: number;
  /** Rounds over all nodes before giving up. Default 2. */
  readonly rounds?: number;
  /** Largest answer read. Default 64 MiB: a full block of a busy chain is a few. */
  readonly mostBytes?: number;
  /** So that of several nodes one that stands still is asked last. */
  readonly heads?: HeadsBy<Rpc>;
  /** A clock of a test: milliseconds that pass. */
  readonly elapsedMs?: () => number;
};

/** After each of the nodes has refused a batch: it may have been a gateway's bad moment. */
export const noBatchMs = 60_000;

/** The methods of the families that are asked this way. */
export type NodeMethod = EvmMethod | SolanaMethod;

export type OwnLimits = Pick<RpcOptions, 'attemptTimeoutMs' | 'mostBytes'>;

export type Rpc = {
  readonly chain: string;
  readonly sources: number;
  /** Asks one node after the other until one answers. */
  call(
    method: NodeMethod,
    params: readonly unknown[],
    signal: AbortSignal,
    own?: OwnLimits,
  ): Promise<unknown>;
  /** Asks one node only, by its place in `urls`; no retry. */
  ask(
    at: number,
    method: NodeMethod,
    params: readonly unknown[],
    signal: AbortSignal,
    own?: OwnLimits,
  ): Promise<unknown>;
  /** In one exchange with one node; null: to be asked alone. Never throws. */
  batch(asked: readonly Asked[], signal: AbortSignal): Promise<readonly (Answered | null)[]>;
  /** In which `call` would ask them now. */
  order?(signal: AbortSignal): Promise<Order>;
  /** See in-turn.ts. */
  passOver?(signal: AbortSignal): Promise<void>;
};

export type Asked = {
  readonly method: NodeMethod;
  readonly params: readonly unknown[];
  readonly own: OwnLimits;
};
export type Answered = { readonly result: unknown } | { readonly failure: RpcError };

export function rpcClient(options: RpcOptions): Rpc {
  const { chain, urls, attemptTimeoutMs = 8_000, rounds = 2, mostBytes = 64 * 2 ** 20 } = options;
  const heads = headRules(options.heads, () => rpc);
  const { elapsedMs = () => performance.now() } = options;
  const nodes = inTurn({ chain, urls, rounds, heads, elapsedMs });
  let nextId = 0;

  const exchange = async (at: number, asked: object, signal: AbortSignal, own: OwnLimits) => {
    const limits = { attemptTimeoutMs, mostBytes, ...own };
    const url = urls[at] ?? '';
    const headers = { 'content-type': 'application/json' };
    return exchangeWith(
      { url, method: 'POST', headers, body: JSON.stringify(asked) },
      { timeMs: limits.attemptTimeoutMs, bytes: limits.mostBytes },
      signal,
    ).catch((error) => {
      if (!(error instanceof AnswerTooLong)) throw error;
      throw new RpcError(0, error.message, null, { cause: error });
    });
  };
  const numbered = ({ method, params }: Omit<Asked, 'own'>) => {
    nextId += 1;
    return { jsonrpc: '2.0', id: nextId, method, params };
  };

  const ask: Rpc['ask'] = async (at, method, params, signal, own = {}) => {
    const reply = await exchange(at, numbered({ method, params }), signal, own);
    return answerOf({ ...reply, url: urls[at] ?? '' }, jsonOf(reply));
  };

  const call: Rpc['call'] = (method, params, signal, own = {}) => {
    const question = {
      name: method,
      facts: { method },
      ask: (at: number, until: AbortSignal) => ask(at, method, params, until, own),
      worth,
      // A block that no node has: callers read anew.
      isToldAsIs: (error: unknown) => error instanceof RpcError,
    };
    return nodes.ask(question, signal);
  };

  let batchesFrom = Number.NEGATIVE_INFINITY;
  const batch: Rpc['batch'] = async (asked, signal) => {
    if (elapsedMs() < batchesFrom) return asked.map(() => null);
    const limit = asked.reduce((sum, { own }) => sum + (own.mostBytes ?? mostBytes), 0);
    const own = { mostBytes: Math.min(limit, mostBytes) };
    const question = {
      name: 'a batch',
      facts: { method: 'a batch' },
      ask: async (at: number, until: AbortSignal) => {
        const all = asked.map(numbered);
        const ids = all.map(({ id }) => id);
        return readAnswers(await exchange(at, all, until, own), urls[at] ?? '', ids);
      },
      // Each is then asked alone, by rounds of its own, whatever the outcome.
      worth: () => 'another node' as const,
    };
    try {
      return await nodes.ask(question, signal);
    } catch (error) {
      if (isNoBatch(error)) batchesFrom = elapsedMs() + noBatchMs;
      return asked.map(() => null);
    }
  };

  const rpc: Rpc = {
    chain,
    sources: urls.length,
    call,
    ask,
    batch,
    order: nodes.order,
    passOver: nodes.passOver,
  };
  return rpc;
}

/** A no may be the node's own (method, state, key); the answer of a contract's code is not. */
function worth(error: unknown): Worth {
  if (!(error instanceof RpcError)) return 'another round';
  if (!isOk(error.status)) return 'another node';
  const meaning = meaningIn(error);
  // A provider's other machine may not have the block yet that this one just named.
  if (meaning === 'lagging') return 'another round';
  return meaning === 'reverted' ? 'nothing' : 'another node';
}

/** A call's revert comes with data, whatever its words. */
export function meaningIn({ code, message: words, data, status }: RpcError): Meaning {
  const meaning = meaningOf({ words, code, status });
  return meaning === 'no' && data !== null ? 'reverted' : meaning;
}

/** Whether it was the call that failed; else the node did, and says nothing of the contract. */
export function isCallFailure(error: unknown): error is RpcError {
  return error instanceof RpcError && meaningIn(error) === 'reverted';
}

/**
 * The answer of a node that was sent bytes. Throws TurnedAway where no node had them, and NotNow
 * or what was thrown where it says nothing of them.
 */
export function refusalIn(error: unknown): RpcError {
  if (!(error instanceof RpcError) || error.cause instanceof AnswerTooLong) throw error;
  const { status, message } = error;
  const meaning = meaningIn(error);
  if (meaning === 'turned away' || notServed.has(status)) throw new TurnedAway(status, message);
  if (isNotOfBytes(meaning)) throw new NotNow(message);
  return error;
}

/** The status of a server that is no node, or no node any more, whatever it says: no node has
 * these. */
const notServed: ReadonlySet<number> = new Set([404, 405, 410]);

function jsonOf(reply: NodeReply): unknown {
  const { status } = reply;
  try {
    return JSON.parse(textOf(reply));
  } catch (cause) {
    if (turnsAway(status) || notServed.has(status)) throw new TurnedAway(status, '');
    throw withoutJson(status, cause);
  }
}

class NoBatch extends Error {}

/** Neither for now nor for what it was asked. */
function isNoBatch(error: unknown): boolean {
  if (error instanceof NoBatch) return true;
  const isTooLong = error instanceof RpcError && error.cause instanceof AnswerTooLong;
  return error instanceof RpcError && !isTooLong && worth(error) === 'another node';
}

/** The answer, and its node: its words are told without its address. */
type Spoken = Pick<NodeReply, 'status'> & { readonly url: string };

function readAnswers(reply: NodeReply, url: string, ids: readonly number[]): (Answered | null)[] {
  const by = { ...reply, url };
  const body = jsonOf(reply);
  if (!Array.isArray(body)) {
    answerOf(by, body);
    throw new NoBatch('one answer to several questions');
  }
  const byId = new Map(body.map((each) => [(each as { id?: unknown } | null)?.id, each]));
  return ids.map((id) => {
    try {
      return { result: answerOf(by, byId.get(id)) };
    } catch (failure) {
      const isOfAll = failure instanceof RpcError && worth(failure) === 'nothing';
      return isOfAll ? { failure } : null;
    }
  });
}

function answerOf({ status, url }: Spoken, body: unknown): unknown {
  const error = errorIn(body);
  if (error !== null) throw failureOf(noOf({ status, url }, error));
  if (turnsAway(status)) throw new TurnedAway(status, '');
  if (!isOk(status) || typeof body !== 'object' || body === null || !('result' in body)) {
    throw new Error(`HTTP ${status} and no result`);
  }
  return body.result;
}

type Json = { readonly code?: unknown; readonly message?: unknown; readonly data?: unknown };

/** Some gateways answer with an error's text alone, or with an error by itself. */
function errorIn(body: unknown): Json | null {
  if (typeof body !== 'object' || body === null) return null;
  if ('error' in body && body.error) {
    return typeof body.error === 'string' ? { message: body.error } : body.error;
  }
  return 'message' in body && !('result' in body) ? body : null;
}

function noOf({ status, url }: Spoken, error: Json): RpcError {
  const words = withoutKeys(String(error.message ?? 'no reason given'), url).slice(0, 500);
  const code = typeof error.code === 'number' ? error.code : 0;
  return new RpcError(code, words, revertData(error.data), { status });
}

/**
 * A busy node or a gateway's limit is no RpcError, which callers take for a no. A gateway that
 * keeps one method from us says no, too: they go on without its answer.
 */
function failureOf(no: RpcError): Error {
  const { status, message } = no;
  if (turnsAway(status) && status !== tooManyRequests) return no;
  const meaning = meaningIn(no);
  if (meaning === 'turned away') return new TurnedAway(status, message);
  return meaning === 'busy' ? new NotNow(message) : no;
}

const tooManyRequests = 429;
const isOk = (status: number) => status >= 200 && status < 300;

/** Nodes give revert data as hex, or inside an object. */
function revertData(data: unknown): string | null {
  if (typeof data === 'string') return /0x[0-9a-fA-F]*/.exec(data)?.[0] ?? null;
  if (typeof data === 'object' && data !== null && 'data' in data) return revertData(data.data);
  return null;
}

/** An answer that is one word or a few: no node has a reason to say more. */
export const fewWords: OwnLimits = { mostBytes: 16 * 2 ** 10 };
/** A head with the hashes of its transactions, a contract's code, a word that a token gives. */
export const fewMiB: OwnLimits = { mostBytes: 8 * 2 ** 20 };

/** One transaction, whatever a block's gas lets its calldata be: half of it is hex. */
export const oneTransaction: OwnLimits = { mostBytes: 32 * 2 ** 20 };

/** A node's quantity of any size, up to a word's: longer ones take seconds to parse. */
export function amountOf(value: unknown): bigint {
  if (typeof value === 'string' && /^0x[0-9a-f]{1,64}$/i.test(value)) return BigInt(value);
  throw notNumber(value);
}

export function quantity(value: unknown): number {
  const number = Number(amountOf(value));
  if (!Number.isSafeInteger(number)) throw notNumber(value);
  return number;
}

function notNumber(value: unknown): Error {
  const shown = typeof value === 'string' ? value : typeof value;
  return new Error(`the node gave ${cut(shown, 80)} as a number`);
}

export function cut(said: string, most: number): string {
  return said.length > most ? `${said.slice(0, most)}…` : said;
}
