// The words of every face about nodes: doubts of the last look, and gates that they keep shut.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { nothingSeen } from '@parley/core/facts.ts';
import type { LegName } from '@parley/core/trade.ts';
import type { DoubtCode } from '../evidence/judge.ts';
import { timedText } from '../people.ts';
import { remember } from '../settle.ts';
import { memoryStore } from '../stores/memory.ts';
import { keptRecord } from '../testing/honest.ts';
import type { Poll } from './chains.ts';
import { type Context, contextOf, type Failure } from './context.ts';
import { type LegSeen, legWith } from './record.ts';
import { doubtsAfter, type ToldDoubt } from './told.ts';

type Given = { readonly codes: readonly DoubtCode[]; readonly agreed?: boolean };

function after(
  before: readonly ToldDoubt[],
  given: Partial<Record<LegName, Given>>,
  failures: readonly Failure[] = [],
) {
  const legs = Object.entries(given).map(([name, { codes, agreed = true }]) => {
    const doubts = codes.map((code) => ({ code, sentence: `it is ${code}` }));
    return [name as LegName, { evidence: { agreed, doubts } } as unknown as LegSeen] as const;
  });
  return doubtsAfter(before, { legs: new Map(legs), failures });
}

const words = (told: readonly ToldDoubt[]) => told.map(({ leg, code }) => `${leg} ${code}`);

test('a doubt stays until its node has answered, and gives way to its silence', () => {
  const first = after([], { a: { codes: ['node_behind'] }, b: { codes: [] } });
  assert.deepEqual(words(first), ['a node_behind']);
  const waits = after(first, { a: { codes: [], agreed: false }, b: { codes: [] } });
  assert.deepEqual(words(waits), ['a node_behind'], 'a node has yet to answer');
  const silent = after(waits, { a: { codes: ['node_silent'] }, b: { codes: [] } });
  assert.deepEqual(words(silent), ['a node_silent']);
  assert.deepEqual(after(silent, { a: { codes: [] }, b: { codes: [] } }), []);
  const other = { a: { codes: [] }, b: { codes: [], agreed: false } } as const;
  assert.deepEqual(after(first, other), [], 'of another leg');
  assert.deepEqual(words(after(first, { b: { codes: [] } })), ['a node_behind'], 'no node answers');
});

test('a gate that nodes keep shut is told as nodes that differ, and no other failure is', () => {
  const failure = (code: string, leg: LegName | null): Failure => ({ leg, code, sentence: code });
  const shut = [failure('sources_disagree', 'b'), failure('chain_timeout', 'a')];
  assert.deepEqual(words(after([], { a: { codes: ['node_silent'] } }, shut)), [
    'a node_silent',
    'b nodes_disagree',
  ]);
  const both = after([], {}, [failure('sources_disagree', null)]);
  assert.deepEqual(words(both), ['null nodes_disagree']);
  assert.deepEqual(after(both, {}), []);
});

/** Progress after each poll of a leg; `ending`: whether an end was looked for. */
function progress() {
  const record = { ...keptRecord('taker'), publicSecret: '00'.repeat(32) };
  const said: string[] = [];
  const ending = { isTried: false };
  const context = {
    record,
    doubted: new Map(),
    ending,
    store: {},
    keep: async () => {},
    emit: (step: string, _: LegName, text: string) => {
      if (step === 'evidence') said.push(text);
    },
  } as unknown as Context;
  const look = async (codes: readonly DoubtCode[], agreed = true, node = 0) => {
    const doubts = codes.map((code) => ({ code, sentence: `it is ${code}`, node }));
    const seen = { leg: legWith(record, 'a', nothingSeen), clock: 0, evidence: { agreed, doubts } };
    await remember(context, { fresh: new Map([['a', seen]]) } as unknown as Poll);
    return said.splice(0);
  };
  return { look, ending };
}

test('progress says which node it is about, also where another one takes its place', async () => {
  const { look } = progress();
  assert.deepEqual(await look(['node_silent']), ['it is node_silent']);
  assert.deepEqual(await look(['node_silent']), []);
  assert.deepEqual(await look([], false), [], 'the other one fails, and that has not lasted');
  assert.deepEqual(await look(['node_silent'], true, 1), ['it is node_silent']);
});

test('a node that holds up an end is told once, however often the end is looked for', async () => {
  const { look, ending } = progress();
  const held = 'it is node_silent; this side begins and ends nothing by it';
  assert.deepEqual(await look(['node_silent']), ['it is node_silent']);
  assert.deepEqual(await look(['node_silent'], false), [held]);
  assert.deepEqual(await look(['node_silent']), ['it is node_silent'], 'nothing is held up now');
  ending.isTried = true;
  assert.deepEqual(await look(['node_silent'], false), [held]);
  for (const agreed of [true, false, true])
    assert.deepEqual(await look(['node_silent'], agreed), []);
  assert.deepEqual(await look([]), ['the nodes of leg a are well again']);
});

test('an instant in a sentence is a time for people, and an amount stays a number', () => {
  for (const [said, wanted] of [
    ["refund leg a when its chain's clock passes 1795910481", /passes 2026-11-29 00:01 UTC$/],
    ['its timelock 1795910481 has passed', /timelock 2026-11-29 00:01 UTC has/],
    ['goes to the funder from 1795910481 on', /from 2026-11-29 00:01 UTC on/],
    ['it is 1795910481 (2026-11-29T00:01:21.000Z)', /is 1795910481 \(2026/],
    ['1795910481 are in its escrow', /^1795910481 are/],
    ['a claim takes from 1795910481 wei on', /from 1795910481 wei/],
  ] as const) {
    assert.match(timedText(said), wanted);
  }
  const texts: string[] = [];
  const context = contextOf({
    swapId: 's',
    store: memoryStore(),
    client: null,
    chains: {},
    onProgress: ({ text }) => void texts.push(text),
  });
  context.emit('waiting', 'a', 'its clock passes 1795910481');
  assert.deepEqual(texts, ['its clock passes 2026-11-29 00:01 UTC']);
});
