// JSON-RPC to a Core node: a call or a batch, limits on time and size, the node's own words kept.

import { ParleyError } from '@parley/core/errors.ts';
import { isNotOfBytes, meaningOf, type Said } from '../nodes/answers.ts';
import { type NodeLimits, type NodeReply, textOf, withoutKeys } from '../nodes/exchange.ts';
import type { CoreMethod, CoreWalletMethod } from '../nodes/methods.ts';
import { busy, exchange, unavailable } from './http.ts';

export const coreName = 'Bitcoin node';

/** A call that the node refused, with its code and words (Core, src/rpc/protocol.h). */
export class RpcRefusal extends Error {
  readonly code: number;

  constructor(method: string, code: number, words: string) {
    super(words);
    this.name = 'RpcRefusal';
    this.code = code;
    this.cause = method;
  }
}

export type CoreOptions = {
  /** May carry `user:password@`. */
  readonly url: string;
  readonly limits?: Partial<NodeLimits>;
};

export type RpcCall = { readonly method: CoreMethod; readonly params: readonly unknown[] };

export type CoreRpc = {
  call<T>(
    method: CoreMethod | CoreWalletMethod,
    params: readonly unknown[],
    signal: AbortSignal,
  ): Promise<T>;
  /** Answers in the order of the calls; one that was refused is the refusal. */
  batch<T>(calls: readonly RpcCall[], signal: AbortSignal): Promise<(T | RpcRefusal)[]>;
};

// A block in hex is at most 8 MB, a mempool list of 300 000 entries 20 MB.
const defaultLimits: NodeLimits = { timeMs: 15_000, bytes: 32_000_000 };

/** Calls in one HTTP body: so many of the largest transactions stay below the size limit. */
const maxBatch = 30;

type Answer = { id?: number; result?: unknown; error?: { code: number; message: string } | null };

export function coreRpc(options: CoreOptions): CoreRpc {
  const limits = { ...defaultLimits, ...options.limits };
  const post = async (body: unknown, signal: AbortSignal): Promise<unknown> => {
    const headers = { 'content-type': 'application/json' };
    const { url } = options;
    const request = { url, method: 'POST' as const, headers, body: JSON.stringify(body) };
    const reply = await exchange(coreName, request, limits, signal);
    return parseReply(reply);
  };
  return {
    call: async <T>(
      method: CoreMethod | CoreWalletMethod,
      params: readonly unknown[],
      signal: AbortSignal,
    ) => {
      const answer = (await post({ jsonrpc: '1.0', id: 0, method, params }, signal)) as Answer;
      const result = resultOf<T>(options, method, answer);
      if (result instanceof RpcRefusal) throw result;
      return result;
    },
    batch: async <T>(calls: readonly RpcCall[], signal: AbortSignal) => {
      const results: (T | RpcRefusal)[] = [];
      for (let from = 0; from < calls.length; from += maxBatch) {
        const part = calls.slice(from, from + maxBatch);
        const body = part.map((call, id) => ({ jsonrpc: '1.0', id, ...call }));
        const answers = (await post(body, signal)) as Answer[];
        if (!Array.isArray(answers)) throw unavailable(coreName, 'it does not answer batches');
        const byId = new Map(answers.map((answer) => [answer.id, answer]));
        results.push(...part.map(({ method }, id) => resultOf<T>(options, method, byId.get(id))));
      }
      return results;
    },
  };
}

function parseReply(reply: NodeReply): unknown {
  const { status } = reply;
  if (status === 401 || status === 403) throw unavailable(coreName, 'it refuses our credentials');
  try {
    return JSON.parse(textOf(reply));
  } catch {
    // Such as 503 "Work queue depth exceeded", which is plain text.
    throw busy(coreName, `it answered HTTP ${status} without JSON`);
  }
}

/** RPC_IN_WARMUP: the node is starting; every call is refused so until it is ready. */
const warmingUp = -28;

function resultOf<T>(
  { url }: CoreOptions,
  method: string,
  answer: Answer | null | undefined,
): T | RpcRefusal {
  const said = typeof answer === 'object' && answer !== null;
  const error = (said && answer.error) || null;
  if (!said || (error === null && !('result' in answer))) {
    throw busy(coreName, `it did not answer ${method}`);
  }
  if (error === null) return answer.result as T;
  const words = withoutKeys(String(error.message), url);
  if (error.code === warmingUp) throw busy(coreName, `it is starting: ${words}`);
  return new RpcRefusal(method, error.code, words);
}

/** A refusal where none is expected is the node's fault, not the caller's. */
export function unexpected(error: unknown): never {
  if (!(error instanceof RpcRefusal)) throw error;
  throw unavailable(coreName, `it refused ${String(error.cause)}: ${error.message}`, error);
}

/** The answer of a source to bytes: `refused_by_node`, or `chain_unavailable` where it is busy. */
export function refusedBytes(
  source: string,
  said: Said,
  facts: Readonly<Record<string, number>>,
): ParleyError {
  const { words } = said;
  const meaning = meaningOf(said);
  if (meaning === 'turned away' || isNotOfBytes(meaning)) return busy(source, words);
  const sentence = `the ${source} refused the transaction: ${words}`;
  return new ParleyError('refused_by_node', sentence, facts);
}
