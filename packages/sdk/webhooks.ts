// Deliveries of a market's webhooks: are they the market's, and recent?

import { equalBytes } from '@noble/curves/utils.js';
import { hmac } from '@noble/hashes/hmac.js';
import { sha256 } from '@noble/hashes/sha2.js';
import { hexToBytes, utf8ToBytes } from '@noble/hashes/utils.js';

export type WebhookFault =
  /** The given secret cannot be one. */
  | 'bad_secret'
  /** A header of a delivery is missing or not of its form. */
  | 'bad_header'
  /** Not signed with this secret, or altered since. */
  | 'bad_signature'
  /** Signed too long ago, or in the future: perhaps sent again by somebody else. */
  | 'bad_timestamp'
  /** Signed, but not what a delivery is. */
  | 'bad_body';

export class WebhookError extends Error {
  readonly code: WebhookFault;
  constructor(code: WebhookFault, sentence: string) {
    super(sentence);
    this.name = 'WebhookError';
    this.code = code;
  }
}

/**
 * The fields of every delivery; the rest depends on `type`, of a thread's as `ThreadEvent` says.
 * Types that are not known: answer 2xx.
 */
export type WebhookDelivery = {
  readonly type: string;
  /** The same each time it is tried: keep it, and do the work once. */
  readonly deliveryId: string;
  /** RFC 3339 */
  readonly createdAt: string;
  readonly [field: string]: unknown;
};

type HeaderValue = string | readonly string[] | undefined;
/** A `Headers` object of any engine, a plain one, or pairs. */
export type WebhookHeaders =
  | { get(name: string): string | null }
  | Iterable<readonly [string, HeaderValue]>
  | Readonly<Record<string, HeaderValue>>;

export type WebhookRequest = {
  /** The whole secret, `whsec_…`; white space around it is left out. */
  readonly secret: string;
  /** The request's: names in any case; a value may be a list of one. */
  readonly headers: WebhookHeaders;
  /** As it came: a text, a view of bytes such as a `Buffer`, or an `ArrayBuffer`. */
  readonly body: string | ArrayBufferView | ArrayBufferLike;
  /** The market's short name, as in `x-parley-signature`. */
  readonly shortName?: string;
  /** How old a delivery may be, and how far ahead; default 300 s. 0 = any age. */
  readonly toleranceSeconds?: number;
  /** Unix seconds; default the machine's clock. */
  readonly now?: number;
};

const defaultToleranceSeconds = 300;

/** The delivery, verified. Throws WebhookError; RangeError for a tolerance or time that is none. */
export function verifyWebhook(request: WebhookRequest): WebhookDelivery {
  const { shortName = 'parley', toleranceSeconds = defaultToleranceSeconds } = request;
  const now = request.now ?? Math.floor(Date.now() / 1_000);
  const shown: unknown = request.secret;
  const secret = typeof shown === 'string' ? shown.trim() : '';
  // Anybody can sign with an empty secret, and nothing is older than NaN.
  if (!/^whsec_./.test(secret)) {
    throw new WebhookError('bad_secret', 'a secret is whsec_ and more, as registration showed it');
  }
  if (!(toleranceSeconds >= 0) || !Number.isFinite(now)) {
    throw new RangeError('toleranceSeconds must be 0 or more, and now Unix seconds');
  }
  const body = bytesOf(request.body);
  const timestamp = header(request.headers, `x-${shortName}-timestamp`);
  const signature = header(request.headers, `x-${shortName}-signature`);
  if (!/^\d{1,15}$/.test(timestamp)) {
    throw new WebhookError('bad_header', `x-${shortName}-timestamp is not Unix seconds`);
  }
  if (!/^sha256=[0-9a-f]{64}$/.test(signature)) {
    throw new WebhookError('bad_header', `x-${shortName}-signature is not sha256=<64 hex digits>`);
  }
  const mac = hmac.create(sha256, utf8ToBytes(secret));
  mac.update(utf8ToBytes(`${timestamp}.`)).update(body);
  if (!equalBytes(mac.digest(), hexToBytes(signature.slice('sha256='.length)))) {
    throw new WebhookError('bad_signature', 'the signature is not of this secret and this body');
  }
  const age = now - Number(timestamp);
  if (toleranceSeconds > 0 && Math.abs(age) > toleranceSeconds) {
    const when = age > 0 ? `${age} s ago` : `${-age} s ahead`;
    throw new WebhookError(
      'bad_timestamp',
      `signed ${when}, and ${toleranceSeconds} s are allowed`,
    );
  }
  return parsed(body);
}

/** Bytes of any realm: a test runner's `Uint8Array` is not this module's. */
function bytesOf(given: unknown): Uint8Array {
  if (typeof given === 'string') return utf8ToBytes(given);
  if (ArrayBuffer.isView(given)) {
    return new Uint8Array(given.buffer, given.byteOffset, given.byteLength);
  }
  if (/^\[object (?:Shared)?ArrayBuffer\]$/.test(Object.prototype.toString.call(given))) {
    return new Uint8Array(given as ArrayBuffer);
  }
  throw new WebhookError('bad_body', 'the body must be as it came, text or bytes, not parsed');
}

function header(headers: unknown, name: string): string {
  if (typeof headers !== 'object' || headers === null) {
    throw new WebhookError('bad_header', "the headers must be the request's, as names and values");
  }
  const [found, ...more] = valuesOf(headers as WebhookHeaders, name).flat();
  if (typeof found === 'string' && more.length === 0) return found;
  throw new WebhookError('bad_header', `${name} is missing, or there more than once`);
}

function valuesOf(headers: WebhookHeaders, name: string): unknown[] {
  // A Map has `get` too, and knows a name in one case alone.
  if ('get' in headers && typeof headers.get === 'function' && !(headers instanceof Map)) {
    return [headers.get(name)];
  }
  const pairs = Symbol.iterator in headers ? [...headers] : Object.entries(headers);
  return pairs.filter(([each]) => String(each).toLowerCase() === name).map(([, value]) => value);
}

function parsed(body: Uint8Array): WebhookDelivery {
  let value: unknown;
  try {
    value = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(body));
  } catch {
    throw new WebhookError('bad_body', 'the body is not JSON');
  }
  const fields = (typeof value === 'object' && value !== null ? value : {}) as WebhookDelivery;
  for (const name of ['type', 'deliveryId', 'createdAt'] as const) {
    if (typeof fields[name] === 'string') continue;
    throw new WebhookError('bad_body', `the body has no ${name}`);
  }
  return fields;
}
