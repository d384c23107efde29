// How the text of a statement takes its arguments, and what becomes of its rows.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  columns,
  count,
  did,
  is,
  list,
  many,
  none,
  one,
  only,
  type Statement,
  type Tx,
  unlessEmpty,
} from './statements.ts';

function answering(...rows: unknown[]): Tx & { readonly asked: Statement[] } {
  const asked: Statement[] = [];
  const answer = async <Row>(statement: Statement): Promise<Row[]> => {
    asked.push(statement);
    const { shape } = statement;
    if (shape === undefined) return rows as Row[];
    const shaped = shape(Object.keys(rows[0] as object));
    return rows.map((row) => shaped(Object.values(row as object))) as Row[];
  };
  return { rows: answer, asked };
}

const asked = async (call: (tx: Tx) => Promise<unknown>) => {
  const tx = answering();
  await call(tx);
  const [{ text, values } = assert.fail()] = tx.asked;
  return [text, ...values];
};

test('arguments, their fields, and the columns of a list of records, each sent once', async () => {
  const at = none<[id: string, of: { lane: { number: string } | null; at: Date }]>('a')`
    set l = :lane.number, m = $1 where l <> :lane.number and t > '00:at'::text and u = :at`;
  const date = new Date(0);
  const text = `set l = $1, m = $2 where l <> $1 and t > '00:at'::text and u = $3`;
  const of = { lane: { number: '7' }, at: date };
  assert.deepEqual(await asked((tx) => at(tx, 'x', of)), [text, '7', 'x', date]);
  const without = { lane: null, at: date };
  assert.deepEqual(await asked((tx) => at(tx, 'x', without)), [text, null, 'x', date]);
  const all = none<[rows: readonly { id: string; at: Date }[]]>('b')`$1.id $1.at`;
  const rows = [{ id: 'x', at: date }];
  assert.deepEqual(await asked((tx) => all(tx, rows)), ['$1 $2', ['x'], [date]]);
});

test('JSON has money as decimal strings, and null stays null', async () => {
  const put = none<[of: { terms: unknown; rest: unknown[] }]>('a')`
    :terms::jsonb :rest::jsonb[]`;
  const terms = { amount: 2n ** 70n, list: ['a'] };
  const [text, ...values] = await asked((tx) => put(tx, { terms, rest: [[1], null] }));
  assert.equal(text, '$1::jsonb $2::jsonb[]');
  assert.deepEqual(values, ['{"amount":"1180591620717411303424","list":["a"]}', ['[1]', null]]);
});

test('a field that no argument has, or that two have differently, is not sent as nothing', async () => {
  const by = none<[one: object, other: object]>('by_id')`:id :lane.number`;
  const lane = { number: '1' };
  const refused = (one: object, other: object, sentence: RegExp) =>
    assert.rejects(by(answering(), one, other), sentence);
  await refused({ id: 1 }, {}, /^Error: statement by_id was given no lane.number$/);
  await refused({ id: 1 }, { lane: {} }, /^Error: statement by_id was given no lane.number$/);
  await refused({ id: 1, lane }, { id: 2 }, /^Error: statement by_id was given more than one id$/);
  await by(answering(), { id: 1, lane }, { id: 1 });
});

test('columns with dots make objects; one whose first column is null is null', async () => {
  const text = columns('madeAt id', 'r.', 'a?.b.');
  assert.equal(text, 'r.made_at as "a?.b.madeAt", r.id as "a?.b.id"');
  const read = many<[], unknown>('a')`select ${text}`;
  const rows = await read(
    answering(
      { x: 1, 'a?.b.madeAt': 2, 'a?.b.id': null, 'c.d': null },
      { x: 1, 'a?.b.madeAt': null, 'a?.b.id': 3, 'c.d': null },
    ),
  );
  assert.deepEqual(rows, [
    { x: 1, a: { b: { madeAt: 2, id: null } }, c: { d: null } },
    { x: 1, a: null, c: { d: null } },
  ]);
});

test('the answers made of rows and of none', async () => {
  const two = () => answering({ n: 5, m: 1 }, { n: 6, m: 1 });
  const none = () => answering();
  const calls = [one('a')`q`, list('b')`q`, count('c')`q`, did('d')`q`] as const;
  const answers = (tx: () => Tx) => Promise.all(calls.map((call) => call(tx())));
  assert.deepEqual(await answers(two), [{ n: 5, m: 1 }, [5, 6], 5, true]);
  assert.deepEqual(await answers(none), [null, [], 0, false]);
  const yes = is('e')`q`;
  assert.deepEqual(
    await Promise.all([answering({ ok: true }), answering({ ok: 1 }), none()].map((tx) => yes(tx))),
    [true, false, false],
  );
  await assert.rejects(only('f')`q`(none()), /^Error: statement f answered no row$/);
  const tx = answering({ n: 1 });
  const some = unlessEmpty(count<[ids: readonly string[]]>('g')`$1`, 0);
  assert.deepEqual([await some(tx, []), tx.asked.length, await some(tx, ['x'])], [0, 0, 1]);
});
