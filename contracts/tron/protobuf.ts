// protobuf as TRON's messages need it. `decodeFields` takes only what java-tron would write. Pure.

import { concatBytes } from '@noble/hashes/utils.js';

/** A field: its number, and an integer or bytes (a text, a message). */
export type Field = readonly [number, bigint | Uint8Array];

const varintWire = 0;
const bytesWire = 2;
const int64Bits = 64n;
/** The shift of the last of ten bytes, seven bits each. */
const mostShift = 63n;

function varint(value: bigint): Uint8Array {
  const bytes: number[] = [];
  let rest = value;
  for (; rest > 127n; rest >>= 7n) bytes.push(Number(rest & 127n) | 128);
  return Uint8Array.of(...bytes, Number(rest));
}

export function writeFields(fields: readonly Field[]): Uint8Array {
  const parts = fields.flatMap(([number, value]) => {
    const isInteger = typeof value === 'bigint';
    const tag = varint(BigInt((number << 3) | (isInteger ? varintWire : bytesWire)));
    if (isInteger) return [tag, varint(BigInt.asUintN(Number(int64Bits), value))];
    return [tag, varint(BigInt(value.length)), value];
  });
  return concatBytes(...parts);
}

/** Writes fields in the given order. Zeros are left out, as are empty bytes: they are defaults. */
export function encodeFields(fields: readonly Field[]): Uint8Array {
  for (const [, value] of fields) {
    if (typeof value !== 'bigint') continue;
    if (value < 0n || value >> (int64Bits - 1n) > 0n) throw new RangeError(`${value} as an int64`);
  }
  return writeFields(
    fields.filter(([, value]) => (typeof value === 'bigint' ? value > 0n : value.length > 0)),
  );
}

/** Throws an Error of a few words, also where a number takes more bytes than it needs. */
export function readFields(bytes: Uint8Array): Field[] {
  const fields: Field[] = [];
  let at = 0;
  const next = (): bigint => {
    let value = 0n;
    for (let shift = 0n; shift <= mostShift; shift += 7n) {
      const byte = bytes[at];
      if (byte === undefined) throw new Error('its protobuf ends early');
      at += 1;
      value |= BigInt(byte & 127) << shift;
      if (byte > 127) continue;
      if (byte === 0 && shift > 0n) throw new Error('a number in it is written too long');
      return value;
    }
    throw new Error('a number in it has more than ten bytes');
  };
  while (at < bytes.length) {
    const tag = next();
    const number = Number(tag >> 3n);
    const wire = Number(tag & 7n);
    if (wire !== varintWire && wire !== bytesWire) {
      throw new Error(`its field ${number} is of another type`);
    }
    const value = next();
    if (wire === varintWire) {
      fields.push([number, value]);
      continue;
    }
    if (value > BigInt(bytes.length - at)) throw new Error('its protobuf ends early');
    fields.push([number, bytes.subarray(at, at + Number(value))]);
    at += Number(value);
  }
  return fields;
}

/** Which fields a message may have; a repeated one may come more than once. */
export type Shape = Readonly<Record<number, 'int' | 'bytes' | 'message' | 'repeated bytes'>>;

/** Throws on unknown fields, another order, and defaults that are written out. */
export function decodeFields(bytes: Uint8Array, shape: Shape): Field[] {
  const fields = readFields(bytes);
  let before = 0;
  for (const [number, value] of fields) {
    const kind = shape[number];
    if (kind === undefined) throw new Error(`it has an unknown field ${number}`);
    if (number < before || (number === before && kind !== 'repeated bytes')) {
      throw new Error(`its field ${number} is out of place`);
    }
    before = number;
    if ((typeof value === 'bigint') !== (kind === 'int')) {
      throw new Error(`its field ${number} is of another type`);
    }
    if (typeof value !== 'bigint') {
      if (value.length === 0 && kind === 'bytes') {
        throw new Error(`its field ${number} is empty and yet written`);
      }
    } else if (value === 0n) throw new Error(`its field ${number} is zero and yet written`);
    else if (value >> (int64Bits - 1n) > 0n) throw new Error('a number in it is too large');
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
