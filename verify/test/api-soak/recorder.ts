// Requests to a market and its answers, kept by operation: the examples of the API description. The
// fullest of several answers of one shape is kept; lists are cut to two entries.

import type { Answered, Recorded } from '@parley/market/edge/recorded.ts';
import { Ajv } from 'ajv';

// biome-ignore lint/suspicious/noExplicitAny: a document is read by its own references
type Document = any;
type Json = Record<string, unknown>;

const mostEntries = 2;
const formats = { uuid: true, 'date-time': true } as const;

export type Recorder = {
  /** Takes note of an exchange with the market; leaves out exchanges with others. */
  note(method: string, url: URL, request: unknown, status: number, answer: unknown): void;
  noteEvent(body: Json): void;
  recorded(): Recorded;
};

export function createRecorder(document: Document): Recorder {
  const ajv = new Ajv({ strict: false, formats });
  ajv.addSchema(document, 'whole');
  type Kept = { request?: Answered['request']; answers: Json };
  const operations: Record<string, Kept> = {};
  const errors: Record<string, unknown> = {};
  const events: Record<string, unknown> = {};
  /** The name of the shape that this is; a choice has several. */
  const shapeOf = (schema: Document, value: unknown): string => {
    const of = schema.$ref === undefined ? schema : at(document, schema.$ref);
    const names = (of.anyOf ?? []).map((each: Json) =>
      String(each.$ref ?? '')
        .split('/')
        .at(-1),
    );
    const fits = (name: string) => ajv.getSchema(`whole#/components/schemas/${name}`)?.(value);
    return names.find((name: string) => name !== '' && fits(name)) ?? '';
  };
  return {
    note(method, { pathname, searchParams }, body, status, answer) {
      const found = operationAt(document, method, pathname);
      if (status >= 400) errors[status] ??= answer;
      if (found === null || (status >= 300 && status !== 422)) return;
      const { operation, path } = found;
      const content = operation.responses[status]?.content?.['application/json'];
      // A refusal that all operations give has no body of its own here.
      if (content === undefined) return;
      const query = Object.fromEntries(searchParams);
      const request = { ...some('path', path), ...some('query', query), ...some('body', body) };
      const name = [status, shapeOf(content.schema, answer)]
        .filter((each) => each !== '')
        .join(' ');
      operations[operation.operationId] ??= { answers: {} };
      const kept = operations[operation.operationId] as Kept;
      const cut = shortened(answer);
      if (!saysMore(cut, kept.answers[name])) return;
      kept.answers[name] = cut;
      // The request is that of the first shape of answer.
      if (Object.keys(kept.answers)[0] === name) kept.request = request;
    },
    noteEvent(body) {
      if (saysMore(body, events[String(body.type)])) events[String(body.type)] = body;
    },
    recorded: () => ({ operations, errors, events }) as Recorded,
  };
}

function at(document: Document, ref: string): Document {
  return ref
    .slice(2)
    .split('/')
    .reduce((found, part) => found[part], document);
}

function some(name: string, values: unknown): Json {
  const isNone = values === undefined || values === null || Object.keys(values).length === 0;
  return isNone ? {} : { [name]: values };
}

function operationAt(document: Document, method: string, pathname: string) {
  const given = pathname.split('/');
  const fits = (template: string) => {
    const wanted = template.split('/');
    return wanted.length === given.length && wanted.every((p, i) => p === given[i] || p[0] === '{');
  };
  const paths = Object.keys(document.paths).filter(fits);
  // `/wallets/nonce` is no `/wallets/{address}`.
  const template = paths.sort((a, b) => a.split('{').length - b.split('{').length)[0];
  const operation = template && document.paths[template][method.toLowerCase()];
  if (!operation) return null;
  const names = (template as string).split('/').map((part) => /^\{(.+)\}$/.exec(part)?.[1]);
  const path = names.flatMap((name, place) =>
    name === undefined ? [] : [[name, decodeURIComponent(given[place] as string)] as const],
  );
  return { operation, path: Object.fromEntries(path) };
}

/** Pages and tables: two entries show what an entry is. */
function shortened(answer: unknown): unknown {
  if (typeof answer !== 'object' || answer === null) return answer;
  return Object.fromEntries(
    Object.entries(answer).map(([key, value]) => [
      key,
      Array.isArray(value) ? value.slice(0, mostEntries) : value,
    ]),
  );
}

/** The places of a value that say something. */
export function placesOf(value: unknown, place = ''): Set<string> {
  if (value === null || value === undefined) return new Set();
  if (typeof value !== 'object') return new Set([place]);
  const of = Object.entries(value).flatMap(([key, part]) => [...placesOf(part, `${place}/${key}`)]);
  return new Set([place, ...of]);
}

export function saysMore(one: unknown, other: unknown): boolean {
  if (other === undefined) return true;
  return placesOf(one).size > placesOf(other).size;
}
