// The little of protobuf that a TRON transaction needs: varints and length-delimited fields. What
// is read must be written the one way java-tron would write it again, since it hashes its own
// writing. Pure. https://protobuf.dev/programming-guides/encoding/

import { concatBytes } from '@noble/hashes/utils.js';

/** A field: its number, and an integer or bytes (a text, a message). */
export type Field = readonly [number, bigint | Uint8Array];

const varintWire = 0;
const bytesWire = 2;
const int64Bits = 64n;

function varint(value: bigint): Uint8Array {
  const bytes: number[] = [];
  let rest = value;
  for (; rest > 127n; rest >>= 7n) bytes.push(Number(rest & 127n) | 128);
  return Uint8Array.of(...bytes, Number(rest));
}

/** Writes fields in the given order. Zeros are left out, as are empty bytes: they are defaults. */
export function encodeFields(fields: readonly Field[]): Uint8Array {
  const parts: Uint8Array[] = [];
  for (const [number, value] of fields) {
    if (typeof value === 'bigint') {
      if (value < 0n || value >> (int64Bits - 1n) > 0n)
        throw new RangeError(`${value} as an int64`);
      if (value > 0n) parts.push(varint(BigInt((number << 3) | varintWire)), varint(value));
    } else if (value.length > 0) {
      const head = varint(BigInt((number << 3) | bytesWire));
      parts.push(head, varint(BigInt(value.length)), value);
    }
  }
  return concatBytes(...parts);
}

/** Which fields a message may have; a repeated one may come more than once. */
export type Shape = Readonly<Record<number, 'int' | 'bytes' | 'message' | 'repeated bytes'>>;

/**
 * Reads a message. Throws an Error of a few words on anything that is not exactly how it would be
 * written again: unknown fields, another order, defaults and long varints written out.
 */
export function decodeFields(bytes: Uint8Array, shape: Shape): Field[] {
  const fields: Field[] = [];
  let at = 0;
  const next = (): bigint => {
    let value = 0n;
    for (let shift = 0n; ; shift += 7n) {
      const byte = bytes[at];
      if (byte === undefined) throw new Error('its protobuf ends early');
      at += 1;
      value |= BigInt(byte & 127) << shift;
      if (byte > 127) continue;
      if (byte === 0 && shift > 0n) throw new Error('a number in it is written too long');
      if (value >> (int64Bits - 1n) > 0n) throw new Error('a number in it is too large');
      return value;
    }
  };
  while (at < bytes.length) {
    const tag = Number(next());
    const [number, wire] = [tag >> 3, tag & 7];
    const kind = shape[number];
    if (kind === undefined) throw new Error(`it has an unknown field ${number}`);
    const before = fields.at(-1)?.[0] ?? 0;
    if (number < before || (number === before && kind !== 'repeated bytes')) {
      throw new Error(`its field ${number} is out of place`);
    }
    if (wire !== (kind === 'int' ? varintWire : bytesWire)) {
      throw new Error(`its field ${number} is of another type`);
    }
    const value = next();
    if (kind === 'int') {
      if (value === 0n) throw new Error(`its field ${number} is zero and yet written`);
      fields.push([number, value]);
      continue;
    }
    const part = bytes.subarray(at, at + Number(value));
    if (part.length !== Number(value)) throw new Error('its protobuf ends early');
    if (part.length === 0 && kind === 'bytes') {
      throw new Error(`its field ${number} is empty and yet written`);
    }
    at += part.length;
    fields.push([number, part]);
  }
  return fields;
}

export function bytesOf(fields: readonly Field[], number: number): Uint8Array {
  const value = fields.find(([each]) => each === number)?.[1];
  return value instanceof Uint8Array ? value : new Uint8Array();
}

export function intOf(fields: readonly Field[], number: number): bigint {
  const value = fields.find(([each]) => each === number)?.[1];
  return typeof value === 'bigint' ? value : 0n;
}
