// JSON-RPC to the nodes of one chain: several addresses, a time limit on every call, bounded
// retries and sizes. A node that hangs ends in `chain_timeout`, one that is gone in
// `chain_unavailable`; what a node answers by itself is an RpcError with its own words.

import { AnswerTooLong, exchangeWith, type NodeReply, TurnedAway, turnsAway } from './exchange.ts';
import { inTurn, type Worth } from './in-turn.ts';

/** The node understood and said no. `data` is the revert data of a call, when there is any. */
export class RpcError extends Error {
  readonly code: number;
  readonly data: string | null;
  /** Of HTTP: some nodes give errors of theirs with 400 or 500. */
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
  /** The chain's name, for sentences. */
  readonly chain: string;
  readonly urls: readonly string[];
  /** Longest wait for one answer of one node. Default 8 000. */
  readonly attemptTimeoutMs?: number;
  /** Rounds over all nodes before giving up. Default 2. */
  readonly rounds?: number;
  /** Largest answer read. Default 64 MiB: a full block of a busy chain is a few. */
  readonly mostBytes?: number;
};

/** What one call has in place of what all have. */
export type OwnLimits = Pick<RpcOptions, 'attemptTimeoutMs' | 'mostBytes'>;

export type Rpc = {
  readonly chain: string;
  readonly sources: number;
  /** Asks one node after the other until one answers. */
  call(
    method: string,
    params: readonly unknown[],
    signal: AbortSignal,
    own?: OwnLimits,
  ): Promise<unknown>;
  /** Asks one node only, by its place in `urls`; no retry. */
  ask(
    at: number,
    method: string,
    params: readonly unknown[],
    signal: AbortSignal,
    own?: OwnLimits,
  ): Promise<unknown>;
};

const rateLimited = new Set([-32005, -32016, 429]);
/** A provider's other machine may not have the block yet that this one just named. */
const notYet = /header not found|unknown block|block not found/i;

export function rpcClient(options: RpcOptions): Rpc {
  const { chain, urls, attemptTimeoutMs = 8_000, rounds = 2, mostBytes = 64 * 2 ** 20 } = options;
  const nodes = inTurn({ chain, urls, rounds });
  let nextId = 0;

  const ask: Rpc['ask'] = async (at, method, params, signal, own = {}) => {
    const limits = { attemptTimeoutMs, mostBytes, ...own };
    const url = urls[at] ?? '';
    nextId += 1;
    const reply = await exchangeWith(
      {
        url,
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ jsonrpc: '2.0', id: nextId, method, params }),
      },
      { timeMs: limits.attemptTimeoutMs, bytes: limits.mostBytes },
      signal,
    ).catch((error) => {
      if (!(error instanceof AnswerTooLong)) throw error;
      throw new RpcError(0, error.message, null, { cause: error });
    });
    return readAnswer(reply);
  };

  const call: Rpc['call'] = (method, params, signal, own = {}) => {
    const question = {
      name: method,
      facts: { method },
      ask: (at: number, until: AbortSignal) => ask(at, method, params, until, own),
      worth,
      // Some providers answer "too many results" with the code of a rate limit.
      isToldAsIs: (error: unknown) => error instanceof RpcError,
    };
    return nodes(question, signal);
  };

  return { chain, sources: urls.length, call, ask };
}

/** How nodes say that a contract failed, whichever of them is asked. */
const contractFailed = /revert|invalid opcode|out ?of ?gas/i;
/** Geth's code of a revert, and Nethermind's; Solana: a version that was not asked for. */
const ofTheQuestion = new Set([3, -32015]);

/**
 * A node's no may be its own: of a method that it lacks, a state that it threw away, a quota, an
 * error within. Only what a contract's code answers with is the same everywhere.
 */
function worth(error: unknown): Worth {
  if (!(error instanceof RpcError)) return 'another round';
  const { code, message, data, status } = error;
  if (isTooBusy(error) || isUpstream(status) || notYet.test(message)) return 'another round';
  if (!isOk(status)) return 'another node';
  const isOfAll = data !== null || ofTheQuestion.has(code) || contractFailed.test(message);
  return isOfAll ? 'nothing' : 'another node';
}

function isTooBusy({ code }: RpcError): boolean {
  return rateLimited.has(code);
}

/** Said before a node or in its place, which may have heard us or not. */
const isUpstream = (status: number) => status > 500;

/**
 * What a node refused bytes with. Throws what is no refusal of theirs: a TurnedAway where nobody
 * looked at them, all else where they may have been taken.
 */
export function refusalIn(error: unknown): RpcError {
  if (!(error instanceof RpcError)) throw error;
  const { cause, status, message } = error;
  if (cause instanceof AnswerTooLong || isUpstream(status)) throw error;
  if (isTooBusy(error) || turnsAway(status)) throw new TurnedAway(status, message);
  return error;
}

/** Of a server that is no node, or no node any more. */
const notFound = 404;

function readAnswer({ status, body: text }: NodeReply): unknown {
  let body: unknown;
  try {
    body = JSON.parse(text.toString('utf8'));
  } catch (cause) {
    if (turnsAway(status) || status === notFound) throw new TurnedAway(status, '');
    throw new Error(`HTTP ${status} and no JSON`, { cause });
  }
  if (typeof body === 'object' && body !== null && 'error' in body && body.error) {
    throw noOf(status, body.error as Json);
  }
  if (turnsAway(status)) throw new TurnedAway(status, '');
  if (!isOk(status) || typeof body !== 'object' || body === null || !('result' in body)) {
    throw new Error(`HTTP ${status} and no result`);
  }
  return body.result;
}

type Json = { readonly code?: unknown; readonly message?: unknown; readonly data?: unknown };

const tooManyRequests = 429;

/** Of one method, too, which a gateway keeps from us: callers go on without its answer. */
function noOf(status: number, error: Json): RpcError {
  const words = String(error.message ?? 'no reason given').slice(0, 500);
  const told = typeof error.code === 'number' ? error.code : 0;
  const code = status === tooManyRequests ? status : told;
  return new RpcError(code, words, revertData(error.data), { status });
}

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

/** A node's quantity as a safe integer. */
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
