// Schemas as types of Python, and what the generator does not know it refuses.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createModels, docstring, snake } from './generate.ts';

test('a field is an int where its text is an amount, a word list closed in requests alone', () => {
  const text = (schema: object) => {
    const models = createModels({ It: { type: 'object', ...schema } });
    models.component('It');
    return models.text.join('\n');
  };
  const properties = {
    baseAmount: { type: 'string' },
    left: { anyOf: [{ type: 'string', pattern: '^(0|[1-9][0-9]{0,77})$' }, { type: 'null' }] },
    txID: { type: 'string' },
    from: { type: 'string', enum: ['a', 'b'] },
    secret: { type: 'string' },
  };
  const answer = text({ properties, required: ['left', 'txID'] });
  assert.match(answer, /base_amount: Amount \| None = None/);
  assert.match(answer, /left: Amount \| None$/m);
  assert.match(answer, /tx_id: str = Field\(validation_alias="txID", serialization_alias="txID"\)/);
  assert.match(
    answer,
    /from_: Annotated\[Literal\["a", "b"\], AnyWord\] \| None = Field\(default=None/,
  );
  assert.match(answer, /secret: str \| None = Field\(default=None, repr=False\)/);
  const body = text({ properties, additionalProperties: false });
  assert.match(body, /class It\(Body\):[\s\S]*from_: Literal\["a", "b"\] \| None/);
});

test('a keyword, a type or a second model of one name stops it', () => {
  const of = (schema: object) => () =>
    createModels({}).typeOf({ type: 'string', ...schema }, 'It', 'answer');
  assert.throws(of({ allOf: [] }), /It: no type for allOf/);
  assert.throws(of({ type: 'strange' }), /It: no type for \{"type":"strange"/);
  assert.throws(of({ type: 'object' }), /It: an object without fields/);
  const named = { type: 'object', additionalProperties: { type: 'string' } };
  assert.equal(createModels({}).typeOf(named, 'It', 'answer'), 'dict[str, str]');
  const inner = { type: 'object', properties: {} };
  const models = createModels({
    OneTwo: inner,
    One: { type: 'object', properties: { two: { ...inner } } },
  });
  models.component('OneTwo');
  assert.throws(() => models.component('One'), /two models are called OneTwo/);
  assert.throws(() => models.component('None'), /there is no component None/);
});

test('names and docstrings are such that Python reads them', () => {
  assert.deepEqual(['txID', 'raw_data_hex', 'from', 'aB2c'].map(snake), [
    'tx_id',
    'raw_data_hex',
    'from_',
    'a_b2c',
  ]);
  assert.deepEqual(docstring('a \\x """ "b"', ''), [`"""a \\\\x ''' "b" """`]);
  assert.deepEqual(docstring(`${'word '.repeat(20)}end`, '    ').length, 3);
});
