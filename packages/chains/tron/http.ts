// java-tron's HTTP API: time limits, bounded retries and sizes. A node's own no is a TronRefusal.

import { hexToBytes } from '@noble/hashes/utils.js';
import { exchangeWith } from '#transport';
import { meaningOf } from '../nodes/answers.ts';
import {
  type NodeReply,
  NotNow,
  TurnedAway,
  textOf,
  turnsAway,
  withoutAddresses,
  withoutJson,
  withoutKeys,
} from '../nodes/exchange.ts';
import { type HeadsBy, headRules } from '../nodes/heads.ts';
import { inTurn, type Worth } from '../nodes/in-turn.ts';
import type { TronPath, TronRpcMethod } from '../nodes/methods.ts';
import type { Order } from '../nodes/sources.ts';

export class TronRefusal extends Error {
  readonly code: string;
  constructor(code: string, words: string) {
    super(words);
    this.name = 'TronRefusal';
    this.code = code;
  }
}

/** There is nothing at that path: java-tron says so with 405, and with a page for people. */
export class NotServed extends Error {
  constructor(status: number) {
    super(`HTTP ${status}`);
    this.name = 'NotServed';
  }
}

export type TronSource = {
  readonly url: string;
  /** `/walletsolidity/…`, where it has a port of its own, as java-tron's full node does. */
  readonly solidityUrl?: string;
  /** `/jsonrpc` whole, where it has a port of its own, as java-tron's full node does. */
  readonly jsonRpcUrl?: string;
};

export type HttpOptions = {
  readonly chain: string;
  readonly sources: readonly TronSource[];
  readonly attemptTimeoutMs?: number;
  readonly rounds?: number;
  /** Largest answer read. Default 64 MiB: all that a full block's contracts may log. */
  readonly mostBytes?: number;
  /** So that of several nodes one that stands still is asked last. */
  readonly heads?: HeadsBy<Http>;
};

export type Body = Readonly<
  Record<string, string | number | boolean | readonly string[] | readonly object[]>
>;

export type Http = {
  readonly chain: string;
  readonly sources: number;
  call(path: TronPath, body: Body, signal: AbortSignal): Promise<unknown>;
  ask(at: number, path: TronPath, body: Body, signal: AbortSignal): Promise<unknown>;
  /** In which `call` would ask them now. */
  order?(signal: AbortSignal): Promise<Order>;
  /** See in-turn.ts. */
  passOver?(signal: AbortSignal): Promise<void>;
};

/** java-tron's JSON-RPC, which is another API than the rest. */
export const jsonRpcPath = 'jsonrpc';

export function jsonRpcBody(method: TronRpcMethod, params: Body['']): Body {
  return { jsonrpc: '2.0', id: 1, method, params };
}

const KiB = 2 ** 10;
const MiB = 2 ** 20;

/** The limit of an answer, by its path's end; a path that is not here has as much as any. */
const mostBytesOf: ReadonlyMap<string, number> = new Map([
  // A block of 2 MB takes five or six times as many, and a trial all that its energy can return.
  ...['getnowblock', 'getblockbynum', 'triggerconstantcontract'].map(
    (path) => [path, 16 * MiB] as const,
  ),
  // A transaction of 500 kB, a contract of that with its ABI, an account with thousands of tokens.
  ...['gettransactionbyid', 'gettransactionfrompending', 'broadcasthex', 'getcontractinfo'].map(
    (path) => [path, 8 * MiB] as const,
  ),
  ...['getaccount', 'getaccountresource'].map((path) => [path, 8 * MiB] as const),
  ['getchainparameters', 256 * KiB],
  [jsonRpcPath, 16 * KiB],
]);

const longestWords = 500;

function urlOf({ url, solidityUrl = url, jsonRpcUrl }: TronSource, path: string): string {
  if (path === jsonRpcPath && jsonRpcUrl !== undefined) return jsonRpcUrl;
  const base = path.startsWith('walletsolidity/') ? solidityUrl : url;
  return `${base.replace(/\/+$/, '')}/${path}`;
}

export function httpClient(options: HttpOptions): Http {
  const { chain, sources, attemptTimeoutMs = 8_000, rounds = 2, mostBytes = 2 ** 26 } = options;
  const heads = headRules(options.heads, () => http);
  const nodes = inTurn({ chain, urls: sources.map(({ url }) => url), rounds, heads });

  const ask: Http['ask'] = async (at, path, body, signal) => {
    const request = {
      url: urlOf(sources[at] as TronSource, path),
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    } as const;
    const bytes = Math.min(mostBytes, mostBytesOf.get(path.split('/').at(-1) ?? '') ?? mostBytes);
    const limits = { timeMs: attemptTimeoutMs, bytes };
    const reply = await exchangeWith(request, limits, signal);
    const { solidityUrl = '', jsonRpcUrl = '', url } = sources[at] as TronSource;
    return withKeysHidden([url, solidityUrl, jsonRpcUrl], () => readAnswer(reply));
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
    return nodes.ask(question, signal);
  };

  const http: Http = {
    chain,
    sources: sources.length,
    call,
    ask,
    order: nodes.order,
    passOver: nodes.passOver,
  };
  return http;
}

/** Where a number stands that JSON.parse may round: an int64, and more digits than any has. */
const longNumber = /(?<![\d.])-?\d{16,80}(?![\d.eE])/g;

/** int64 that a number cannot hold become texts. A reviver would take seconds for a few MiB. */
export function parseAnswer(text: string): unknown {
  const parts: string[] = [];
  let taken = 0;
  let next = textFrom(text, 0);
  for (const { 0: digits, index } of text.matchAll(longNumber)) {
    while (next.end <= index) next = textFrom(text, next.end);
    if (next.start < index || Number.isSafeInteger(Number(digits))) continue;
    parts.push(text.slice(taken, index), `"${digits}"`);
    taken = index + digits.length;
  }
  return JSON.parse(taken === 0 ? text : `${parts.join('')}${text.slice(taken)}`);
}

/** The first text that begins at a place outside of texts, or after it. */
function textFrom(text: string, from: number): { readonly start: number; readonly end: number } {
  const start = text.indexOf('"', from);
  if (start === -1) return { start: text.length, end: text.length };
  let close = text.indexOf('"', start + 1);
  while (close !== -1 && isEscaped(text, close)) close = text.indexOf('"', close + 1);
  return { start, end: close === -1 ? text.length : close + 1 };
}

function isEscaped(text: string, quote: number): boolean {
  let before = quote;
  while (text[before - 1] === '\\') before -= 1;
  return (quote - before) % 2 === 1;
}

/** Words in an answer that is no failure are made plain by `plainWords`. */
function withKeysHidden<T>(urls: readonly string[], read: () => T): T {
  try {
    return read();
  } catch (error) {
    if (error instanceof Error) error.message = urls.reduce(withoutKeys, error.message);
    throw error;
  }
}

const notServed: ReadonlySet<number> = new Set([404, 405]);
/** A java-tron without a past says so of its blocks with 200, and not as JSON. */
const liteNode = /^this API is closed because this node is a lite fullnode/;

function readAnswer(reply: NodeReply): unknown {
  const { status } = reply;
  if (notServed.has(status)) throw new NotServed(status);
  let body: unknown;
  try {
    body = parseAnswer(textOf(reply));
  } catch (cause) {
    if (turnsAway(status)) throw new TurnedAway(status, '');
    const lite = liteNode.exec(textOf(reply).slice(0, longestWords));
    if (lite !== null) throw new TronRefusal('', lite[0]);
    throw withoutJson(status, cause);
  }
  if (turnsAway(status)) throw new TurnedAway(status, wordsIn(body));
  if (status > 500) throw new NotNow(`HTTP ${status}`);
  if (status === 500) throw new Error(`HTTP ${status}`);
  if (typeof body === 'object' && body !== null && 'Error' in body) {
    throw failureIn(plainWords(body.Error));
  }
  if (status < 200 || status >= 300) throw new Error(`HTTP ${status}`);
  return body;
}

/** A busy one's words say nothing of what it was asked. */
function failureIn(words: string): Error {
  const meaning = meaningOf({ words });
  if (meaning === 'turned away') return new TurnedAway(200, words);
  return meaning === 'busy' ? new NotNow(words) : new TronRefusal('', words);
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
  const printable = withoutAddresses(words)
    .replace(/[^\p{L}\p{N}\p{P}\p{S} ]/gu, '')
    .slice(0, longestWords);
  return printable === '' ? 'no reason given' : printable;
}
