// What every face tells of nodes: doubts of the last look, and gates that they keep shut.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { nothingSeen } from '../../core/facts.ts';
import type { LegName } from '../../core/trade.ts';
import type { DoubtCode } from '../evidence/judge.ts';
import { remember } from '../settle.ts';
import { keptRecord } from '../testing/honest.ts';
import type { Poll } from './chains.ts';
import type { Context, Failure } from './context.ts';
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
  assert.deepEqual(after(first, { b: { codes: [], agreed: false } }), [], 'of another leg');
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

test('progress says that nodes are well again once all have answered, and not when one dies', async () => {
  const record = { ...keptRecord('taker'), publicSecret: '00'.repeat(32) };
  const said: string[] = [];
  const context = {
    ...{ record, doubted: new Map(), store: {}, keep: async () => {} },
    emit: (step: string, _: LegName, text: string) => {
      if (step === 'evidence') said.push(text);
    },
  } as unknown as Context;
  const look = async (codes: readonly DoubtCode[], agreed = true) => {
    const doubts = codes.map((code) => ({ code, sentence: `it is ${code}` }));
    const seen = { leg: legWith(record, 'a', nothingSeen), clock: 0, evidence: { agreed, doubts } };
    await remember(context, { fresh: new Map([['a', seen]]) } as unknown as Poll);
    return said.splice(0);
  };
  assert.deepEqual(await look(['node_behind']), ['it is node_behind']);
  assert.deepEqual(await look([], false), [], 'it has yet to answer');
  assert.deepEqual(await look(['node_silent']), ['it is node_silent']);
  assert.deepEqual(await look([]), ['the nodes of leg a are well again']);
});
