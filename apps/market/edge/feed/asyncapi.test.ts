// The description of the feed: golden, published, valid, and true of the frames that are sent.

import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { after, test } from 'node:test';
import { Ajv } from 'ajv';
import { goldenFeed } from '../describe.ts';
import { feedMarket } from '../testing/feed-market.ts';

const market = await feedMarket();
after(() => market.close());

test('docs/asyncapi.json is what the source declares (node scripts/openapi.ts rewrites it)', async () => {
  const golden = await readFile(new URL('../../../../docs/asyncapi.json', import.meta.url), 'utf8');
  assert.equal(goldenFeed(), golden);
});

test('it is valid AsyncAPI 3.0.0, and what is broken is not', () => {
  const schema = createRequire(import.meta.url)(
    '@asyncapi/specs/schemas/3.0.0-without-$id.json',
  ) as object;
  const ajv = new Ajv({
    strict: false,
    validateFormats: false,
    meta: false,
    validateSchema: false,
  });
  ajv.addMetaSchema(
    createRequire(import.meta.url)('ajv/dist/refs/json-schema-draft-07.json') as object,
  );
  const validate = ajv.compile<Record<string, unknown>>(schema);
  const described = JSON.parse(goldenFeed());
  assert.ok(validate(described), ajv.errorsText(validate.errors));
  assert.ok(!validate({ ...described, operations: { send: { action: 'shout' } } }));
  assert.ok(!validate({ ...described, info: {} }));
});

test('every reference resolves, and every frame of a session is one that it describes', async () => {
  const described = JSON.parse(goldenFeed());
  const text = JSON.stringify(described);
  assert.ok(!text.includes('x-name'));
  for (const [, path] of text.matchAll(/"\$ref":"#\/([^"]+)"/g)) {
    const found = (path as string).split('/').reduce((at, part) => at?.[part], described);
    assert.ok(found !== undefined, path);
  }
  const ajv = new Ajv({ strict: false, validateFormats: false });
  const { components } = described;
  const checks = new Map<string, (frame: unknown) => boolean>();
  for (const [name, { payload }] of Object.entries<{ payload: object }>(components.messages)) {
    const [, , , schema = ''] = (payload as { $ref: string }).$ref.split('/');
    const closed = { ...components.schemas[schema], additionalProperties: false, components };
    checks.set(name, ajv.compile(closed));
  }
  const taker = await market.trader();
  const maker = await market.trader();
  for (const first of [{}, { resume: true }, { resume: true, since: 0 }]) {
    const client = await market.maker(maker, first);
    const { id } = await market.rfq(taker);
    await client.frame((frame) => frame.rfq?.id === id);
    client.send({ quote: { rfqId: id, quoteAmount: '65000000' } });
    client.send({ quote: { rfqId: id, quoteAmount: 'x' } });
    client.send({ ping: 'p' });
    await client.of('quoted');
    await client.of('error');
    await taker.post(`/v1/rfqs/${id}/cancel`);
    await client.frame((frame) => frame.kind === 'cancelled' && frame.rfq.id === id);
    for (const frame of client.frames) {
      assert.ok(checks.get(frame.type)?.(frame), JSON.stringify(frame));
    }
    client.close();
  }
});
