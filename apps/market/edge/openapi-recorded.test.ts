// The description of `/v1` shows of each operation: an exchange that was recorded, the same
// exchange as a program sends it, and links that lead through a whole swap.

import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { test } from 'node:test';
import { goldenDescriptions } from './describe.ts';
import { recorded } from './recorded.ts';
import type { Snippet } from './snippets.ts';

type Link = {
  readonly operationId: string;
  readonly parameters?: Readonly<Record<string, string>>;
  /** JSON with expressions in it. */
  readonly requestBody?: string;
};
type Content = Readonly<Record<'application/json', { readonly example?: unknown }>>;
type Described = {
  readonly operationId: string;
  readonly parameters?: readonly { readonly name: string }[];
  readonly requestBody?: { readonly content: Content };
  readonly responses: Readonly<
    Record<string, { readonly content?: Content; readonly links?: Readonly<Record<string, Link>> }>
  >;
  readonly 'x-codeSamples'?: readonly Snippet[];
};

const golden = await goldenDescriptions();
const { paths, components } = JSON.parse(golden.api);
const operations = Object.values<Record<string, Described>>(paths).flatMap(
  Object.values<Described>,
);
const byId = new Map(operations.map((each) => [each.operationId, each]));

test('every operation was recorded, and is shown in three languages (verify/test/api-soak/record.ts)', () => {
  const unrecorded = operations.filter(({ operationId }) => {
    return recorded.operations[operationId] === undefined;
  });
  assert.deepEqual(
    unrecorded.map(({ operationId }) => operationId),
    [],
  );
  for (const { operationId, 'x-codeSamples': samples = [] } of operations) {
    const labels = samples.map(({ label }) => label);
    assert.deepEqual(labels, ['curl', 'TypeScript', 'Python'], operationId);
    for (const { source } of samples) assert.ok(!/undefined|Unnamed/.test(source), source);
  }
  for (const id of Object.keys(recorded.operations)) assert.ok(byId.has(id), `${id} is gone`);
});

test('verify/test/api-soak/calls.generated.ts has the calls that are shown (scripts/openapi.ts rewrites it)', async () => {
  const file = new URL('../../../verify/test/api-soak/calls.generated.ts', import.meta.url);
  assert.equal(golden.calls, await readFile(file, 'utf8'));
});

/** The value of an expression in a recorded answer; undefined: nothing. */
function found(expression: string, answer: unknown): unknown {
  const [, pointer] = /^\{?\$response\.body#([^}]*)\}?$/.exec(expression) ?? [];
  if (pointer === undefined) return expression;
  const parts = pointer.split('/').slice(1);
  return parts.reduce<unknown>(
    (at, part) => (at as Record<string, unknown> | null)?.[part],
    answer,
  );
}

test('every link fills what its operation takes, out of what was answered', () => {
  let links = 0;
  for (const { operationId, responses } of operations) {
    for (const [status, { links: all = {}, content }] of Object.entries(responses)) {
      for (const [name, { operationId: to, parameters = {}, requestBody = '{}' }] of Object.entries(
        all,
      )) {
        const where = `${operationId} ${status} ${name}`;
        const target = byId.get(to);
        assert.ok(target !== undefined, where);
        const taken = (target.parameters ?? []).map((each) => each.name);
        for (const each of Object.keys(parameters)) assert.ok(taken.includes(each), where);
        const schema = target.requestBody?.content['application/json'] as {
          schema?: { $ref: string };
        };
        const shape = components.schemas[schema?.schema?.$ref.split('/').at(-1) ?? ''];
        const body = JSON.parse(requestBody) as Record<string, string>;
        for (const each of Object.keys(body)) assert.ok(each in shape.properties, where);
        const answer = content?.['application/json'].example;
        if (answer === undefined) continue;
        for (const each of Object.values({ ...parameters, ...body })) {
          assert.notEqual(found(each, answer), undefined, `${where}: ${each}`);
        }
        links += 1;
      }
    }
  }
  assert.ok(links > 100, `${links} links`);
});
