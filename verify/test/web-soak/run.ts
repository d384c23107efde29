// `npm run soak -- web`: the app in real Chromium on real dev chains, by its screens alone: every
// ordered pair of families between two browsers. A line a pair; it ends with 1 if one did not end as
// it should, or a page told of anything wrong.

import { parsed, understood } from '@parley/host/command.ts';
import { startWeb } from '../support/web.ts';
import { plan, swapped } from './pairs.ts';
import { person, tradeOf } from './scenario.ts';
import { groundOf } from './trader.ts';

const usage = `usage: npm run node -- verify/test/web-soak/run.ts [--only PATTERN]
  --only   pairs whose names fit`;
const pairMs = 240_000;

const { values } = understood({
  usage,
  understand: (args: string[]) => {
    const options = { only: { type: 'string', default: '' }, help: { type: 'boolean' } } as const;
    const found = parsed({ args, options });
    return found.values.help ? null : found;
  },
});
const wanted = new RegExp(values.only);

const web = await startWeb();
let failed = 0;
let played = 0;
try {
  const ground = await groundOf(web);
  const people = await Promise.all([person(ground, 'Alice'), person(ground, 'Bob')]);
  for (const [give, get] of plan) {
    const name = `${give} for ${get}`;
    if (!wanted.test(name)) continue;
    played += 1;
    const began = performance.now();
    const seconds = () => `${((performance.now() - began) / 1_000).toFixed(1)} s`.padStart(8);
    const late = AbortSignal.timeout(pairMs);
    const over = new Promise<never>((_, reject) => {
      late.onabort = () => reject(new Error(`not over after ${pairMs / 1_000} s`));
    });
    try {
      await Promise.race([swapped(ground, people, tradeOf(ground, give, get)), over]);
      console.log(`ok      ${seconds()}  ${name}`);
    } catch (error) {
      failed += 1;
      console.log(`FAILED  ${seconds()}  ${name}: ${(error as Error).stack}`);
    }
  }
} finally {
  await web.close();
}
console.log(`web: ${played - failed} of ${played} pairs passed`);
process.exit(failed === 0 && played > 0 ? 0 : 1);
