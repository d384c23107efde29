// Values from outside against their schemas: the fault, as one sentence that names the field.

import { Ajv, type ErrorObject, type ValidateFunction } from 'ajv';
import type { TSchema } from 'typebox';

const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;
const formats = { uuid, 'date-time': true as const, uri: true as const };
const shared = { strict: false, strictNumbers: true, formats, verbose: true };
const strict = new Ajv(shared);
const coercing = new Ajv({ ...shared, coerceTypes: true, useDefaults: true });

/** Returns null, or the sentence that says what is wrong. */
export type Check = (value: unknown) => string | null;

/** By pattern: reads a text that does not match it, to refuse in better words. */
export type Readers = ReadonlyMap<string, (text: string, field: string) => unknown>;
const noReaders: Readers = new Map();

/** Compiled when first used, and once a process: most ask for few of all schemas. */
function compilerOf(ajv: Ajv): (schema: TSchema) => () => ValidateFunction {
  const known = new Map<string, ValidateFunction>();
  return (schema) => {
    let own: ValidateFunction | undefined;
    return () => {
      if (own !== undefined) return own;
      const text = JSON.stringify(schema);
      own = known.get(text) ?? ajv.compile(schema);
      known.set(text, own);
      return own;
    };
  };
}

const compileStrict = compilerOf(strict);
const compileCoercing = compilerOf(coercing);

/** `what` is the value's name in a sentence, such as `the body`. Never coerces. */
export function checkOf(schema: TSchema, what: string, readers = noReaders): Check {
  return checkWith(compileStrict(schema), what, readers);
}

/** Also turns texts into the numbers and booleans wanted, in place, and fills defaults in. */
export function coercingCheckOf(schema: TSchema, what: string): Check {
  const check = checkWith(compileCoercing(schema), what, noReaders);
  return (value) => check(value) ?? endless(value);
}

/** Ajv makes Infinity of "1e400", and then holds it against no bound. */
function endless(value: unknown): string | null {
  for (const [name, each] of Object.entries(value as Record<string, unknown>)) {
    if (typeof each !== 'number' || Number.isFinite(each)) continue;
    return `field ${shown(name)} is not a number that can be kept`;
  }
  return null;
}

function checkWith(compiled: () => ValidateFunction, what: string, readers: Readers): Check {
  return (value) => {
    const validate = compiled();
    if (validate(value)) return null;
    const errors = validate.errors ?? [];
    const error = meantBy(errors);
    if (error === undefined) return `${what} is malformed`;
    return twoShapes(error, errors.at(-1)) ?? sentenceOf(error, what, readers);
  };
}

/** The intended shape of several is the one that shares the most fields with the input. */
function meantBy(errors: readonly ErrorObject[]): ErrorObject | undefined {
  const choice = errors.at(-1);
  const { data, instancePath } = choice ?? {};
  if (choice?.keyword !== 'anyOf' || typeof data !== 'object' || data === null) return errors[0];
  const shared = (error: ErrorObject): number => {
    if (error.instancePath !== instancePath) return 1; // one of its fields is there, and wrong
    const { properties = {} } = (error.parentSchema ?? {}) as { properties?: object };
    return Object.keys(data).filter((field) => Object.hasOwn(properties, field)).length;
  };
  return errors.slice(0, -1).reduce((a, b) => (shared(b) > shared(a) ? b : a));
}

/**
 * The sentence for a field that only another shape has: which field of the meant one it does not go
 * with.
 */
function twoShapes(error: ErrorObject, choice: ErrorObject | undefined): string | null {
  const { keyword, params, data, instancePath, parentSchema } = error;
  if (keyword !== 'additionalProperties' || choice?.keyword !== 'anyOf') return null;
  const field = String(params.additionalProperty);
  const has = (shape: unknown, name: string) =>
    Object.hasOwn((shape as { properties?: object } | undefined)?.properties ?? {}, name);
  const other = (choice.schema as readonly unknown[]).find((each) => has(each, field));
  const fields = Object.keys(data as object);
  const own = fields.find((each) => has(parentSchema, each) && !has(other, each));
  if (other === undefined || own === undefined) return null;
  const at = instancePath === '' ? '' : ` of ${shown(instancePath.slice(1).replaceAll('/', '.'))}`;
  return `send either ${shown(own)} or ${shown(field)}${at}, not both`;
}

function sentenceOf(error: ErrorObject, what: string, readers: Readers): string {
  const path = error.instancePath.slice(1).replaceAll('/', '.');
  const at = (name: string) => shown(path === '' ? name : `${path}.${name}`);
  const params = error.params as Record<string, unknown>;
  const named = path === '' ? what : `field ${shown(path)}`;
  switch (error.keyword) {
    case 'additionalProperties':
      return `field ${at(String(params.additionalProperty))} is not known`;
    case 'required':
      return `field ${at(String(params.missingProperty))} is missing`;
    case 'enum':
      return `${named} must be one of ${(params.allowedValues as unknown[]).join(', ')}`;
    case 'pattern':
      readers.get(String(params.pattern))?.(String(error.data), path);
      return `${named} must match ${String(params.pattern)}`;
    case 'minItems':
    case 'maxItems':
      return `${named} ${error.message}, and has ${(error.data as unknown[]).length}`;
    case 'type':
      return `${named} ${error.message}${boundsOf(error)}`;
    default:
      return `${named} ${error.message ?? 'is malformed'}`;
  }
}

/** Where a number is wanted, which ones. */
function boundsOf({ parentSchema = {} }: ErrorObject): string {
  const { minimum, maximum, 'x-wanted': wanted } = parentSchema as Record<string, unknown>;
  if (typeof wanted === 'string') return `: ${wanted}`;
  if (minimum === undefined || maximum === undefined) return '';
  return ` from ${minimum} to ${maximum}`;
}

// A field's name comes from the caller and may be as long as the body.
function shown(name: string): string {
  return JSON.stringify(name.length > 80 ? `${name.slice(0, 80)}...` : name);
}
