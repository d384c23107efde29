// java-tron's HTTP API on the nodes of one chain: several addresses, a time limit on every call,
// bounded retries and sizes. A node that hangs ends in `chain_timeout`, one that is gone in
// `chain_unavailable`; what a node answers by itself is a TronRefusal with its own words.

import { hexToBytes } from '@noble/hashes/utils.js';
import { exchangeWith, type NodeReply, TurnedAway, turnsAway } from '../exchange.ts';
import { inTurn, type Worth } from '../in-turn.ts';

/** The node understood and said no. */
export class TronRefusal extends Error {
  /** Its code, such as SIGERROR; empty where it gave none. */
  readonly code: string;
  constructor(code: string, words: string) {
    super(words);
    this.name = 'TronRefusal';
    this.code = code;
  }
}

/** Where a node answers. */
export type TronSource = {
  /** `/wallet/…` */
  readonly url: string;
  /** `/walletsolidity/…`, where it has a port of its own, as java-tron's full node does. */
  readonly solidityUrl?: string;
  /** `/jsonrpc` whole, where it has a port of its own, as java-tron's full node does. */
  readonly jsonRpcUrl?: string;
};

export type HttpOptions = {
  /** The chain's name, for sentences. */
  readonly chain: string;
  readonly sources: readonly TronSource[];
  /** Longest wait for one answer of one node. Default 8 000. */
  readonly attemptTimeoutMs?: number;
  /** Rounds over all nodes before giving up. Default 2. */
  readonly rounds?: number;
  /** Largest answer read. Default 64 MiB: a hundred full blocks are less. */
  readonly mostBytes?: number;
};

export type Body = Readonly<Record<string, string | number | boolean | readonly string[]>>;

export type Http = {
  readonly chain: string;
  readonly sources: number;
  /** Asks one node after the other until one answers. `path` is such as `wallet/getnowblock`. */
  call(path: string, body: Body, signal: AbortSignal): Promise<unknown>;
  /** Asks one node only, by its place in `sources`; no retry. */
  ask(at: number, path: string, body: Body, signal: AbortSignal): Promise<unknown>;
};

/** java-tron's JSON-RPC, which is another API than the rest. */
export const jsonRpcPath = 'jsonrpc';

const longestWords = 500;

function urlOf({ url, solidityUrl = url, jsonRpcUrl }: TronSource, path: string): string {
  if (path === jsonRpcPath && jsonRpcUrl !== undefined) return jsonRpcUrl;
  const base = path.startsWith('walletsolidity/') ? solidityUrl : url;
  return `${base.replace(/\/+$/, '')}/${path}`;
}

export function httpClient(options: HttpOptions): Http {
  const { chain, sources, attemptTimeoutMs = 8_000, rounds = 2, mostBytes = 2 ** 26 } = options;
  const nodes = inTurn({ chain, urls: sources.map(({ url }) => url), rounds });

  const ask: Http['ask'] = async (at, path, body, signal) => {
    const request = {
      url: urlOf(sources[at] as TronSource, path),
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    } as const;
    const limits = { timeMs: attemptTimeoutMs, bytes: mostBytes };
    return readAnswer(await exchangeWith(request, limits, signal));
  };

  const call: Http['call'] = (path, body, signal) => {
    const question = {
      name: path,
      facts: { path },
      ask: (at: number, until: AbortSignal) => ask(at, path, body, until),
      // Such as a node that keeps less than others, or has this closed.
      worth: (error: unknown): Worth =>
        error instanceof TronRefusal ? 'another node' : 'another round',
    };
    return nodes(question, signal);
  };

  return { chain, sources: sources.length, call, ask };
}

/** Where an int64 may stand that JSON.parse would round. */
const longNumber = /[:[,]\s*-?\d{16}/;

type Reviver = (key: string, value: unknown, context: { source?: string }) => unknown;

/** int64 come as plain numbers: those that a number cannot hold become texts. */
const exactly: Reviver = (_, value, { source }) =>
  typeof value === 'number' && !Number.isSafeInteger(value) && /^-?\d+$/.test(source ?? '')
    ? source
    : value;

export function parseAnswer(text: string): unknown {
  // TypeScript's library does not know the third argument yet.
  return longNumber.test(text) ? JSON.parse(text, exactly as never) : JSON.parse(text);
}

function readAnswer({ status, body: bytes }: NodeReply): unknown {
  let body: unknown;
  try {
    body = parseAnswer(bytes.toString('utf8'));
  } catch (cause) {
    if (turnsAway(status)) throw new TurnedAway(status, '');
    throw new Error(`HTTP ${status} and no JSON`, { cause });
  }
  if (turnsAway(status)) throw new TurnedAway(status, wordsIn(body));
  if (status >= 500) throw new Error(`HTTP ${status}`);
  if (typeof body === 'object' && body !== null && 'Error' in body) {
    throw new TronRefusal('', plainWords(body.Error));
  }
  if (status < 200 || status >= 300) throw new Error(`HTTP ${status}`);
  return body;
}

function wordsIn(body: unknown): string {
  if (typeof body !== 'object' || body === null || !('Error' in body)) return '';
  return plainWords(body.Error);
}

/** A node's own words: they come in hex, or as they are. Without control characters, and cut. */
export function plainWords(said: unknown): string {
  const text = typeof said === 'string' ? said : '';
  const isHex = text.length > 0 && /^([0-9a-fA-F]{2})+$/.test(text);
  const words = isHex ? new TextDecoder().decode(hexToBytes(text)) : text;
  const printable = words.replace(/[^\p{L}\p{N}\p{P}\p{S} ]/gu, '').slice(0, longestWords);
  return printable === '' ? 'no reason given' : printable;
}
