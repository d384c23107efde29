// The budget of tokens, held to the code. It only falls: `scripts/budget.ts` writes it.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { kinds, sourceFiles, tokensOf, type Weight, weigh } from '@parley/scripts/tokens.ts';

const root = join(import.meta.dirname, '../..');
/** The slack of a budget: a merge of two changes stays within. */
const slack = (tokens: number) => Math.max(2_000, Math.ceil(tokens / 50));

test('a token is a word, a literal or a sign, and a comment has none', () => {
  assert.equal(tokensOf("const a = 'b c';"), 5);
  assert.equal(tokensOf('/* a\n * b */\n  // c\nreturn `d e f`; // g'), 6);
  assert.equal(tokensOf(''), 0);
});

test('each package is within its budget, and the budget follows it down', () => {
  const budget: Record<string, Weight> = JSON.parse(readFileSync(`${root}/budget.json`, 'utf8'));
  const weights = weigh(root, sourceFiles());
  assert.deepEqual(Object.keys(budget), Object.keys(weights));
  for (const [name, weight] of Object.entries(weights)) {
    for (const kind of kinds) {
      const most = budget[name]?.[kind] ?? 0;
      const now = weight[kind];
      assert.ok(now <= most, `${name} has ${now} tokens of ${kind}, ${now - most} too many`);
      assert.ok(
        most - now <= slack(now),
        `${name} has ${now} tokens of ${kind}, and its budget is still ${most}: scripts/budget.ts`,
      );
    }
  }
});
