// Protobuf by description: a message is a table of fields, and from it follow its bytes both ways
// and java-tron's JSON both ways (framework/.../services/http/JsonFormat.java: bytes are hex;
// `visible` makes addresses base58 and the rest of the bytes stay hex; defaults are left out).

import { sha256 } from '@noble/hashes/sha2.js';
import { bytesToHex, hexToBytes } from '@noble/hashes/utils.js';
import {
  readFields,
  type Field as WireField,
  writeFields,
} from '@parley/contracts/tron/protobuf.ts';
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

/** The error that a node would call an InvalidProtocolBufferException or a ParseException. */
export class FormatError extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'FormatError';
  }
}

const base58check = createBase58check(sha256);
const utf8 = new TextEncoder();

export function base58Address(bytes: Uint8Array): string {
  return base58check.encode(bytes);
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
  const fields = Object.entries(schema).sort(([, a], [, b]) => a.no - b.no);
  const written = fields.flatMap(([name, field]): WireField[] => {
    const value = message[name];
    if (value === undefined) return [];
    const items = field.repeated ? (value as readonly Value[]) : [value];
    const kept = field.repeated || isMessage(field.kind);
    const payloads = items.map((item) => payload(field, item));
    return payloads.filter((each) => kept || !isDefault(each)).map((each) => [field.no, each]);
  });
  return writeFields(written);
}

function fieldValue({ no, kind }: Field, value: Uint8Array | bigint): Value {
  if (typeof value === 'bigint') {
    if (kind === 'bool') return value !== 0n;
    if (kind === 'int' || isEnum(kind)) return BigInt.asIntN(64, value);
  } else {
    if (isMessage(kind)) return decode(kind.message(), value);
    if (kind === 'string') return new TextDecoder('utf-8', { fatal: true }).decode(value);
    if (kind === 'bytes' || kind === 'address') return value.slice();
  }
  throw new FormatError(`field ${no} is of another wire type`);
}

/** Refuses fields that the schema lacks: a simulator must not carry what it does not understand. */
export function decode(schema: Schema, bytes: Uint8Array): Message {
  const byNumber = new Map(Object.entries(schema).map(([name, field]) => [field.no, name]));
  const message: Record<string, Value> = {};
  for (const [number, payload] of fieldsIn(bytes)) {
    const name = byNumber.get(number);
    if (name === undefined) throw new FormatError(`an unknown field ${number}`);
    const field = schema[name] as Field;
    const value = fieldValue(field, payload);
    message[name] = field.repeated
      ? [...((message[name] as Value[] | undefined) ?? []), value]
      : value;
  }
  return message;
}

function fieldsIn(bytes: Uint8Array): WireField[] {
  try {
    return readFields(bytes);
  } catch (cause) {
    throw new FormatError((cause as Error).message);
  }
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
export function fromJson(
  schema: Schema,
  json: JsonObject | null | undefined,
  visible: boolean,
): Message {
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
