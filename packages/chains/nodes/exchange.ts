// The shape of one HTTP exchange with a chain's node, and its failures. The maker of the exchange:
// `#transport`. That is transport-node.ts in Node, transport-fetch.ts in browsers (`imports` of
// package.json).

import type { ParleyError } from '@parley/core/errors.ts';

export type NodeRequest = {
  readonly url: string;
  readonly method: 'GET' | 'POST';
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
};

export type NodeLimits = {
  /** For all of it, connecting included. */
  readonly timeMs: number;
  /** The bytes of the answer's body, unpacked. */
  readonly bytes: number;
};

export type NodeReply = { readonly status: number; readonly body: Uint8Array };

export class AnswerTooLong extends Error {
  constructor(most: number, what = 'bytes') {
    super(`an answer of more than ${most} ${what}`);
    this.name = 'AnswerTooLong';
  }
}

/** Objects and lists of one answer, some 60 bytes each: three times the fullest Bitcoin block. */
export const mostParts = 1_000_000;

const anyAddress = /\b[a-z][a-z\d+.-]*:\/\/[^\s"'<>`\\)]*/gi;
/** A part of a path or a query that is shorter is a word, such as `rpc` or `mainnet`. */
const leastKey = 8;
const leastLogin = 4;

/** Without addresses: a reader of the node's words does not learn its key. */
export function withoutAddresses(words: string): string {
  return words.replace(anyAddress, 'an address');
}

/** Nor what in the node's own address may be its key, by itself. */
export function withoutKeys(words: string, url: string): string {
  const keys = URL.canParse(url) ? keysIn(new URL(url)) : [];
  return keys.reduce((text, key) => text.replaceAll(key, '…'), withoutAddresses(words));
}

function keysIn({ username, password, pathname, search }: URL): string[] {
  const parts = [...pathname.split('/'), ...search.slice(1).split(/[&=]/)];
  const long = parts.filter((part) => part.length >= leastKey);
  const logins = [username, password].filter((part) => part.length >= leastLogin);
  return [...logins, ...long].flatMap((part) => [part, plainOf(part)]);
}

function plainOf(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

/** A failed connection by its code alone: the words of the runtime quote addresses. */
export function unconnected(error: unknown): Error {
  const { code, syscall } = error as { readonly code?: unknown; readonly syscall?: unknown };
  if (typeof code !== 'string') return new Error('the connection failed');
  const bare = new Error(`the connection failed (${code})`);
  return Object.assign(bare, { code, ...(syscall === undefined ? {} : { syscall }) });
}

/**
 * A gateway's no, before any node: it is about our key, our account or our haste, not about the
 * question.
 */
export class TurnedAway extends Error {
  /** Not where it is of a key or an account. Shields before a node say 403 of haste, too. */
  readonly passes: boolean;
  constructor(status: number, words: string) {
    super(words === '' ? `HTTP ${status}` : `HTTP ${status}: ${words}`);
    this.name = 'TurnedAway';
    this.passes = !ofAnAccount.has(status);
  }
}

/** A node's answer, for now, that it is busy or behind. It may have heard what it was given. */
export class NotNow extends Error {
  /** It is this where it lasts; null: it says nothing then either. */
  readonly refusal: ParleyError | null;
  constructor(words: string, refusal: ParleyError | null = null) {
    super(words);
    this.name = 'NotNow';
    this.refusal = refusal;
  }
}

/** No JSON came, as a gateway answers before any node. */
export function withoutJson(status: number, cause: unknown): Error {
  const words = `HTTP ${status} and no JSON`;
  return status > 500 ? new NotNow(words) : new Error(words, { cause });
}

/** Whether the same may be answered some seconds later. */
export function passes(error: unknown): boolean {
  if (error instanceof TurnedAway) return error.passes;
  return error instanceof NotNow || (error instanceof Error && passes(error.cause));
}

const ofAnAccount: ReadonlySet<number> = new Set([401, 402, 407]);

export function turnsAway(status: number): boolean {
  return ofAnAccount.has(status) || status === 403 || status === 429;
}

/** A browser's failure, which says no more than that there is nothing that the page may read. */
export class NothingReadable extends Error {
  constructor() {
    const why = 'the node is gone, redirects, or does not answer pages of this origin (CORS)';
    super(`the page may read no answer: ${why}`);
    this.name = 'NothingReadable';
  }
}

const unreached = new WeakSet<object>();

export function markUnreached(error: object): void {
  unreached.add(error);
}

/** Whether it failed before there was a connection, so that the other side has heard nothing. */
export function isUnreached(error: unknown): boolean {
  return typeof error === 'object' && error !== null && unreached.has(error);
}

/** A body that is read part by part. Throws AnswerTooLong by bytes, and by objects and lists. */
export function bodyOf(mostBytes: number) {
  const parts: Uint8Array[] = [];
  let size = 0;
  let openings = 0;
  return {
    take: (part: Uint8Array): void => {
      size += part.length;
      openings += openingsIn(part);
      if (size > mostBytes) throw new AnswerTooLong(mostBytes);
      if (openings > mostParts) throw new AnswerTooLong(mostParts, 'objects and lists');
      parts.push(part);
    },
    whole: (): Uint8Array => {
      const [only] = parts;
      if (only !== undefined && parts.length === 1) return only;
      const whole = new Uint8Array(size);
      let at = 0;
      for (const part of parts) {
        whole.set(part, at);
        at += part.length;
      }
      return whole;
    },
  };
}

const utf8 = /* @__PURE__ */ new TextDecoder('utf-8', { ignoreBOM: true });

export function textOf({ body }: Pick<NodeReply, 'body'>): string {
  return utf8.decode(body);
}

const opensObject = 0x7b;
const opensList = 0x5b;

/** In texts too: a server that writes so many of them is no node. */
function openingsIn(part: Uint8Array): number {
  let count = 0;
  for (const byte of part) if (byte === opensObject || byte === opensList) count += 1;
  return count;
}

export function lateAfter(ms: number): DOMException {
  return new DOMException(`no answer in ${ms} ms`, 'TimeoutError');
}
