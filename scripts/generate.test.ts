// Files that are written from the descriptions: the types of the SDK, and what is left alone.

import assert from 'node:assert/strict';
import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { generate } from './generate.ts';
import { filesOf } from './sources.ts';
import { typescriptOf } from './typescript.ts';

const root = join(import.meta.dirname, '..');

test('a file that is as the descriptions are is not written again, and git keeps none', async () => {
  await generate();
  const before = statSync(join(root, 'packages/sdk/generated.ts')).mtimeMs;
  assert.deepEqual(await generate(), []);
  assert.equal(statSync(join(root, 'packages/sdk/generated.ts')).mtimeMs, before);
  const made = [
    '{sdk,packages/web/market}/generated.ts',
    'python/src/parley/{models,frames,_operations}.py',
  ];
  assert.deepEqual(filesOf(...made), []);
  assert.match(
    readFileSync(join(root, 'packages/sdk/generated.ts'), 'utf8'),
    /^export type Swap = \{$/m,
  );
});

const described = (schemas: object, paths: object = {}) =>
  typescriptOf({ paths, components: { schemas } } as Parameters<typeof typescriptOf>[0], {
    core: '../packages/core',
  });

test('an answer has what is required, a request takes undefined and lists that nobody changes', () => {
  const properties = {
    words: { type: 'array', description: 'said */ of it', items: { enum: ['a', 'b'] } },
    left: { anyOf: [{ $ref: '#/components/schemas/Leg' }, { type: 'null' }] },
    at: { type: 'integer', description: 'Unix seconds: then' },
    hashlock: { type: 'string', pattern: '^[0-9a-f]{64}$' },
    secret: { type: 'string' },
    second: { type: 'string', description: 'alias: the same' },
    least: { anyOf: [{ type: 'integer' }, { type: 'null' }] },
  };
  const answer = described({ It: { type: 'object', properties, required: ['left', 'at'] } });
  assert.match(answer, /\n {2}\/\*\* said \* \/ of it \*\/\n {2}words\?: \("a" \| "b"\)\[\];/);
  assert.match(answer, /left: Leg \| null;\n[^\n]*\n {2}at: UnixSeconds;/);
  assert.match(
    answer,
    /hashlock\?: Hashlock;\n {2}secret\?: string;\n {2}least\?: number \| null;\n\};/,
  );
  const request = described({
    It: { type: 'object', properties, required: ['at'], additionalProperties: false },
  });
  assert.match(request, /words\?: readonly \("a" \| "b"\)\[\] \| undefined;/);
  assert.match(request, /second\?: string \| undefined;\n {2}least\?: number \| undefined;/);
});

test('an operation has its path, query, body and answers, each optional where nothing is needed', () => {
  const schema = { type: 'string' };
  const content = { 'application/json': { schema } };
  const get = {
    parameters: [{ name: 'limit', in: 'query', schema: { type: 'integer' } }],
    responses: { 200: { content }, 202: { content }, 404: {} },
  };
  const post = {
    parameters: [{ name: 'id', in: 'path', required: true, schema, description: 'whose' }],
    requestBody: { required: true, content },
    responses: { 201: { content } },
  };
  const text = described({}, { '/v1/its': { get }, '/v1/its/{id}': { post } });
  assert.match(text, /"GET \/v1\/its": \{\n {4}query\?: \{\n {6}limit\?: number \| undefined;/);
  assert.match(text, /\/\*\* whose \*\/\n {6}id: string;\n {4}\};\n {4}body: string;/);
  assert.match(text, /answer: string;\n {2}\};\n\};\n$/);
});

test('a keyword or a type that it does not know stops it', () => {
  assert.throws(() => described({ It: { allOf: [] } }), /It: no type for allOf/);
  assert.throws(() => described({ It: { type: 'strange' } }), /It: no type for/);
  assert.throws(() => described({ It: { type: 'object' } }), /It: an object without fields/);
});
