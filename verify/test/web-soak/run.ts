// `npm run soak -- web`: the app in real Chromium on real dev chains, by its screens alone. A line
// a scenario; it ends with 1 if one did not end as it should, or a page told of anything wrong.

import { parsed, understood } from '@parley/host/command.ts';
import { startWeb } from '../support/web.ts';
import { killed } from './killed.ts';
import { pairs } from './pairs.ts';
import { refunds } from './refunds.ts';
import type { Scenario } from './scenario.ts';
import { type Clock, groundOf } from './trader.ts';

const usage = `usage: npm run node -- verify/test/web-soak/run.ts [--only PATTERN]
  --only   scenarios whose names fit`;
const scenarioMs = 240_000;

const { values } = understood({
  usage,
  understand: (args: string[]) => {
    const options = { only: { type: 'string', default: '' }, help: { type: 'boolean' } } as const;
    const found = parsed({ args, options });
    return found.values.help ? null : found;
  },
});
const wanted = new RegExp(values.only);

/** Each makes its own people, when the first of its scenarios asks. */
const groups = [pairs, killed, refunds];

const web = await startWeb();
let failed = 0;
let played = 0;
try {
  const { clockOffsetSeconds } = await web.dev.status();
  const clock = clockOf(clockOffsetSeconds);
  const ground = await groundOf(web);
  for (const group of groups) {
    const { scenarios, close } = group(ground, clock);
    try {
      for (const each of scenarios.filter(({ name }) => wanted.test(name))) await playOne(each);
    } finally {
      await close();
    }
  }
} finally {
  await web.close();
}
console.log(`web: ${played - failed} of ${played} scenarios passed`);
process.exit(failed === 0 && played > 0 ? 0 : 1);

async function playOne({ name, play }: Scenario): Promise<void> {
  played += 1;
  const began = performance.now();
  const seconds = () => `${((performance.now() - began) / 1_000).toFixed(1)} s`;
  const limit = AbortSignal.timeout(scenarioMs);
  const over = new Promise<never>((_, reject) => {
    limit.onabort = () => reject(new Error(`not over after ${scenarioMs / 1_000} s`));
  });
  try {
    const said = await Promise.race([play(), over]);
    console.log(
      `ok      ${seconds().padStart(8)}  ${name}${said === undefined ? '' : `: ${said}`}`,
    );
  } catch (error) {
    failed += 1;
    console.log(`FAILED  ${seconds().padStart(8)}  ${name}: ${(error as Error).stack}`);
  }
}

function clockOf(offset: number): Clock {
  const clock = { offset };
  return {
    now: () => Math.floor(Date.now() / 1_000) + clock.offset,
    move: async (seconds) => {
      clock.offset = (await web.dev.time(seconds)).clockOffsetSeconds;
    },
  };
}
