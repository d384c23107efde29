// Protobuf by description: a message is a table of fields, and from it follow its bytes both ways
// and java-tron's JSON both ways (framework/.../services/http/JsonFormat.java: bytes are hex;
// `visible` makes addresses base58 and the rest of the bytes stay hex; defaults are left out).

import { sha256 } from '@noble/hashes/sha2.js';
import { bytesToHex, hexToBytes } from '@noble/hashes/utils.js';
import { createBase58check } from '@scure/base';

export type Kind = 'bytes' | 'address' | 'string' | 'int' | 'bool';
export type Enum = { readonly names: Readonly<Record<number, string>> };
export type Schema = { readonly [name: string]: Field };
export type Field = {
  readonly no: number;
  readonly kind: Kind | Enum | { readonly message: () => Schema };
  readonly repeated?: true;
};
export type Value = Uint8Array | string | bigint | boolean | Message | readonly Value[];
export type Message = { readonly [name: string]: Value };
export type Json = null | boolean | number | bigint | string | readonly Json[] | JsonObject;
export type JsonObject = { readonly [name: string]: Json };

/** What a node would call an InvalidProtocolBufferException or a ParseException. */
export class FormatError extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'FormatError';
  }
}

const base58check = createBase58check(sha256);
const VARINT = 0;
const LENGTH = 2;
const utf8 = new TextEncoder();

export function base58Address(bytes: Uint8Array): string {
  return base58check.encode(bytes);
}

function varint(value: bigint): number[] {
  const out: number[] = [];
  let rest = BigInt.asUintN(64, value);
  while (rest > 127n) {
    out.push(Number(rest & 127n) | 128);
    rest >>= 7n;
  }
  return [...out, Number(rest)];
}

function isMessage(kind: Field['kind']): kind is { message: () => Schema } {
  return typeof kind === 'object' && 'message' in kind;
}

function isEnum(kind: Field['kind']): kind is Enum {
  return typeof kind === 'object' && 'names' in kind;
}

function payload({ kind }: Field, value: Value): Uint8Array | bigint {
  if (isMessage(kind)) return encode(kind.message(), value as Message);
  if (kind === 'string') return utf8.encode(value as string);
  if (kind === 'bool') return value ? 1n : 0n;
  return value as Uint8Array | bigint;
}

/** As generated code does: by field number, without defaults; a message that is set is written. */
export function encode(schema: Schema, message: Message): Uint8Array {
  const out: number[] = [];
  const fields = Object.entries(schema).sort(([, a], [, b]) => a.no - b.no);
  for (const [name, field] of fields) {
    const value = message[name];
    if (value === undefined) continue;
    for (const item of field.repeated ? (value as readonly Value[]) : [value]) {
      const bytes = payload(field, item);
      const wire = typeof bytes === 'bigint' ? VARINT : LENGTH;
      const isDefault = typeof bytes === 'bigint' ? bytes === 0n : bytes.length === 0;
      if (isDefault && !field.repeated && !isMessage(field.kind)) continue;
      out.push(...varint(BigInt((field.no << 3) | wire)));
      if (typeof bytes === 'bigint') out.push(...varint(bytes));
      else for (const byte of [varint(BigInt(bytes.length)), bytes]) out.push(...byte);
    }
  }
  return Uint8Array.from(out);
}

type Cursor = { readonly bytes: Uint8Array; at: number };

function readVarint(cursor: Cursor): bigint {
  let value = 0n;
  for (let shift = 0n; shift < 70n; shift += 7n) {
    const byte = cursor.bytes[cursor.at++];
    if (byte === undefined) throw new FormatError('a varint ends early');
    value |= BigInt(byte & 127) << shift;
    if (byte < 128) return BigInt.asUintN(64, value);
  }
  throw new FormatError('a varint of more than ten bytes');
}

function readPayload(cursor: Cursor, { kind }: Field, wire: number): Value {
  const wanted = kind === 'int' || kind === 'bool' || isEnum(kind);
  if (wire !== (wanted ? VARINT : LENGTH)) throw new FormatError(`a field of wire type ${wire}`);
  const number = readVarint(cursor);
  if (wanted) return kind === 'bool' ? number !== 0n : BigInt.asIntN(64, number);
  const end = cursor.at + Number(number);
  if (end > cursor.bytes.length) throw new FormatError('a field ends early');
  const bytes = cursor.bytes.slice(cursor.at, end);
  cursor.at = end;
  if (isMessage(kind)) return decode(kind.message(), bytes);
  return kind === 'string' ? new TextDecoder('utf-8', { fatal: true }).decode(bytes) : bytes;
}

/** Refuses fields that the schema lacks: a simulator must not carry what it does not understand. */
export function decode(schema: Schema, bytes: Uint8Array): Message {
  const byNumber = new Map(Object.entries(schema).map(([name, field]) => [field.no, name]));
  const message: Record<string, Value> = {};
  const cursor: Cursor = { bytes, at: 0 };
  while (cursor.at < bytes.length) {
    const tag = Number(readVarint(cursor));
    const name = byNumber.get(tag >> 3);
    if (name === undefined) throw new FormatError(`an unknown field ${tag >> 3}`);
    const field = schema[name] as Field;
    const value = readPayload(cursor, field, tag & 7);
    message[name] = field.repeated ? [...((message[name] as Value[]) ?? []), value] : value;
  }
  return message;
}

function itemToJson({ kind }: Field, value: Value, visible: boolean): Json {
  if (isMessage(kind)) return toJson(kind.message(), value as Message, visible);
  if (isEnum(kind)) return kind.names[Number(value)] ?? (value as bigint);
  if (kind === 'address' && visible) return base58Address(value as Uint8Array);
  return value instanceof Uint8Array ? bytesToHex(value) : (value as Json);
}

/** In the order of the schema, which is the one java-tron shows. */
export function toJson(schema: Schema, message: Message, visible: boolean): JsonObject {
  const json: Record<string, Json> = {};
  for (const [name, field] of Object.entries(schema)) {
    const value = message[name];
    if (value === undefined) continue;
    if (field.repeated) {
      const items = value as readonly Value[];
      if (items.length > 0) json[name] = items.map((item) => itemToJson(field, item, visible));
    } else if (isMessage(field.kind) || !isDefault(value)) {
      json[name] = itemToJson(field, value, visible);
    }
  }
  return json;
}

function isDefault(value: Value): boolean {
  return value === 0n || value === false || value === '' || (value as Uint8Array).length === 0;
}

function hexBytes(text: string): Uint8Array {
  if (!/^([0-9a-fA-F]{2})*$/.test(text)) throw new FormatError('INVALID hex String');
  return hexToBytes(text.toLowerCase());
}

/** An address as a request gives it: 21 bytes as hex, or base58check where `visible` says so. */
export function parseAddress(text: string, visible: boolean): Uint8Array {
  if (!visible) return hexBytes(text);
  try {
    return base58check.decode(text);
  } catch (cause) {
    throw new FormatError(`INVALID base58 String, ${(cause as Error).message}`);
  }
}

function itemFromJson(field: Field, json: Json, visible: boolean): Value {
  const { kind } = field;
  if (isMessage(kind)) return fromJson(kind.message(), json as JsonObject, visible);
  if (isEnum(kind)) {
    // JsonFormat.handlePrimitive: a name in lower case is meant with a capital, as in a common ABI
    const text = String(json);
    const wanted = /^[a-z]+$/.test(text) ? (text[0] as string).toUpperCase() + text.slice(1) : text;
    const found = Object.entries(kind.names).find(([, name]) => name === wanted);
    if (found === undefined) throw new FormatError(`no such name: ${json}`);
    return BigInt(found[0]);
  }
  if (kind === 'bool') return json === true;
  if (kind === 'int') {
    if (typeof json === 'number' && Number.isSafeInteger(json)) return BigInt(json);
    if (typeof json === 'string' && /^-?\d{1,19}$/.test(json)) return BigInt(json);
    throw new FormatError(`not a whole number: ${json}`);
  }
  if (typeof json !== 'string') throw new FormatError(`not a string: ${json}`);
  if (kind === 'string') return json;
  return kind === 'address' ? parseAddress(json, visible) : hexBytes(json);
}

/** Ignores names that the schema lacks, as JsonFormat.merge does. */
export function fromJson(schema: Schema, json: JsonObject, visible: boolean): Message {
  if (typeof json !== 'object' || json === null) throw new FormatError('not an object');
  const message: Record<string, Value> = {};
  for (const [name, field] of Object.entries(schema)) {
    const value = json[name];
    if (value === undefined || value === null) continue;
    if (!field.repeated) message[name] = itemFromJson(field, value, visible);
    else if (Array.isArray(value)) {
      message[name] = value.map((item) => itemFromJson(field, item, visible));
    } else throw new FormatError(`"${name}" is not an array`);
  }
  return message;
}
