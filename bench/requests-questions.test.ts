// Every route of the API has a dearest question: the bench itself sends one to each POST.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { questions } from './requests-questions.ts';

type Description = {
  readonly paths: Readonly<Record<string, Readonly<Record<string, { operationId: string }>>>>;
};

test('each route but those of POST has its dearest question, and asks at its own path', () => {
  const file = new URL('../docs/openapi.json', import.meta.url);
  const { paths } = JSON.parse(readFileSync(file, 'utf8')) as Description;
  const routes = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, { operationId }]) => ({ path, method, operationId })),
  );
  const bare = routes.filter(({ method }) => method !== 'post');
  assert.ok(bare.length >= 25, `${bare.length} routes`);
  assert.deepEqual(
    Object.keys(questions).sort(),
    bare.map(({ operationId }) => operationId).sort(),
  );
  for (const { path, operationId } of bare) {
    const [asked = ''] = questions[operationId]?.split('?') ?? [];
    const one = /\{\w+\}/g;
    assert.equal(asked.replaceAll(one, '{}'), path.replaceAll(one, '{}'), operationId);
  }
});
