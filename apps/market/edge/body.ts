// Reads a JSON body. A body that is not JSON, nests too deeply, holds too many values or a NUL
// (which PostgreSQL cannot store) or was not read at all becomes a `Malformed` value, not an
// exception: the refusal belongs to the operation, which stores it under its Idempotency-Key.

import { createHash } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';

/** A larger body of a request is refused with 413. */
export const bodyLimitBytes = 65_536;
const deepest = 64;
/** The largest body that an operation takes, of a cosigning, has 362. */
const mostValues = 1_000;
const quote = 0x22;
const comma = 0x2c;
const opening = 0x7b;
const closing = 0x7d;

/** The reason to refuse a body that holds no value. */
export type BodyFault = 'malformed_json' | 'not_json' | 'body_too_large';

export class Malformed {
  readonly code: BodyFault;
  readonly sentence: string;
  readonly raw: string;

  constructor(code: BodyFault, sentence: string, raw: string) {
    this.code = code;
    this.sentence = sentence;
    this.raw = raw;
  }
}

/** A body of another media type, `raw` where it was read. */
export function notJson(raw: string): Malformed {
  return new Malformed('not_json', 'the body must be JSON (content-type: application/json)', raw);
}

/** A body that is compressed: a small one could grow without an end. Null: it comes as it is. */
export function encoded(headers: IncomingHttpHeaders, raw: string): Malformed | null {
  const coding = (headers['content-encoding'] ?? '').trim();
  if (raw === '' || /^(?:identity)?$/i.test(coding)) return null;
  const sentence =
    `the body comes as content-encoding: ${coding.slice(0, 40)}, which is not read here: send the ` +
    'JSON as it is';
  return new Malformed('not_json', sentence, raw);
}

/** The body was never read: all of them are one body to an Idempotency-Key. */
export function tooLarge(): Malformed {
  return new Malformed('body_too_large', `the body is larger than ${bodyLimitBytes} bytes`, '');
}

/** The value of the text; no text is no body. `what` is its name in a sentence. */
export function parseBody(raw: string, what = 'the body'): unknown {
  if (raw === '') return undefined;
  const malformed = (sentence: string) => new Malformed('malformed_json', sentence, raw);
  const fault = faultOf(raw);
  if (fault !== null) return malformed(`${what} ${fault}`);
  let value: unknown;
  try {
    value = JSON.parse(raw);
  } catch {
    // It was read as UTF-8, which keeps a byte order mark.
    const mark = raw.startsWith('\ufeff') ? ': it begins with a byte order mark' : '';
    return malformed(`${what} is not valid JSON${mark}`);
  }
  if (raw.includes('\\u0000') && hasNul(value)) {
    return malformed(`${what} holds the character U+0000`);
  }
  return value;
}

/**
 * SHA-256 of the JSON value: white space and the order of fields make no difference. The same text
 * under another media type is no JSON value, and so another body.
 */
export function bodyHash(body: unknown): Buffer {
  const text = body instanceof Malformed ? `${body.code} ${body.raw}` : canonical(body);
  return createHash('sha256').update(text).digest();
}

function canonical(value: unknown): string {
  if (value === undefined) return '';
  // JSON.stringify gives null for what is too large to be a number.
  if (typeof value === 'number') return String(value);
  if (value === null || typeof value !== 'object') return JSON.stringify(value);
  if (Array.isArray(value)) return `[${value.map(canonical).join(',')}]`;
  const fields = value as Record<string, unknown>;
  const parts = Object.keys(fields)
    .sort()
    .map((name) => `${JSON.stringify(name)}:${canonical(fields[name])}`);
  return `{${parts.join(',')}}`;
}

/**
 * By its text, before any value is made of it: a body of 6 000 names takes 12 ms to parse, hash and
 * check. Strings are passed over.
 */
function faultOf(json: string): string | null {
  let depth = 0;
  let values = 1;
  for (let at = 0; at < json.length; at += 1) {
    const mark = json.charCodeAt(at);
    if (mark === quote) at = endOfString(json, at);
    else if (mark === comma) values += 1;
    // A bracket and a brace differ in one bit.
    else if ((mark | 0x20) === opening) {
      depth += 1;
      values += 1;
    } else if ((mark | 0x20) === closing) depth -= 1;
    if (depth > deepest) return `nests deeper than ${deepest} levels`;
  }
  return values > mostValues ? `holds ${values} values, and may hold ${mostValues}` : null;
}

/** The place of the quote that ends the string which begins here, or the end of the text. */
function endOfString(json: string, begins: number): number {
  let at = begins;
  let escapes: number;
  do {
    at = json.indexOf('"', at + 1);
    if (at === -1) return json.length;
    escapes = 0;
    while (json[at - 1 - escapes] === '\\') escapes += 1;
  } while (escapes % 2 === 1);
  return at;
}

function hasNul(value: unknown): boolean {
  if (typeof value === 'string') return value.includes('\0');
  if (value === null || typeof value !== 'object') return false;
  return Object.entries(value).some(([name, each]) => name.includes('\0') || hasNul(each));
}
