// Reads a JSON body. What is not JSON, nests too deeply or holds a NUL (which PostgreSQL cannot
// store) becomes a `Malformed` value, not an exception: the refusal belongs to the operation, which
// stores it under its Idempotency-Key like any other.

import { createHash } from 'node:crypto';

export const bodyLimitBytes = 65_536;
const deepest = 64;

export class Malformed {
  readonly sentence: string;
  readonly raw: string;

  constructor(sentence: string, raw: string) {
    this.sentence = sentence;
    this.raw = raw;
  }
}

/** The value of the text; no text is no body. `what` is its name in a sentence. */
export function parseBody(raw: string, what = 'the body'): unknown {
  if (raw === '') return undefined;
  let value: unknown;
  try {
    value = JSON.parse(raw);
  } catch {
    return new Malformed(`${what} is not valid JSON`, raw);
  }
  if (tooDeep(value)) return new Malformed(`${what} nests deeper than ${deepest} levels`, raw);
  if (raw.includes('\\u0000') && hasNul(value)) {
    return new Malformed(`${what} holds the character U+0000`, raw);
  }
  return value;
}

/** SHA-256 of the JSON value: white space and the order of fields make no difference. */
export function bodyHash(body: unknown): Buffer {
  const text = body instanceof Malformed ? `malformed ${body.raw}` : canonical(body);
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

function tooDeep(value: unknown): boolean {
  let level = [value].filter(isContainer);
  for (let depth = 1; level.length > 0; depth += 1) {
    if (depth > deepest) return true;
    level = level.flatMap((each) => Object.values(each).filter(isContainer));
  }
  return false;
}

function isContainer(value: unknown): value is object {
  return value !== null && typeof value === 'object';
}

function hasNul(value: unknown): boolean {
  if (typeof value === 'string') return value.includes('\0');
  if (value === null || typeof value !== 'object') return false;
  return Object.entries(value).some(([name, each]) => name.includes('\0') || hasNul(each));
}
