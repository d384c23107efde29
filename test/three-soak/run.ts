// `npm run soak -- three`: one server process, and then three, behind Debian's nginx with Debian's
// Valkey, one PostgreSQL and a watchtower apart. First what each operation costs and how much of
// one load is held, by one process and by three in the same run. Then what may break is broken
// under load. Nothing that was answered may be lost, and no request fails that was not told to
// come again.

import { Misused, parsed, understood, wholeNumber } from '../../scripts/command.ts';
import { obtain } from '../proxy-soak/programs.ts';
import { createClient } from './clients.ts';
import { playFaults } from './faults.ts';
import { contend, type Held, holdLoad } from './held.ts';
import { type Market, openMarket } from './market.ts';
import type { Used } from './meters.ts';
import { commitsOf } from './notices.ts';
import { costsOf, newPeople } from './operations.ts';

const usage = `usage: npm run node -- test/three-soak/run.ts [--only PART] [--processes N]
                                                   [--fault PATTERN]
  --only       costs, load or faults
  --processes  a market of so many alone, instead of 1 and then 3
  --fault      the faults whose names fit this regular expression
Exit status: 0 all held, 1 something did not, 2 not understood.`;

const parts: readonly string[] = ['costs', 'load', 'faults'];

const asked = understood({
  usage,
  understand: (args) => {
    const text = { type: 'string', default: '' } as const;
    const help = { type: 'boolean' } as const;
    const options = { only: text, processes: text, fault: text, help } as const;
    const { values } = parsed({ args, options });
    if (values.help) return null;
    const { only } = values;
    if (!['', ...parts].includes(only)) {
      throw new Misused(`--only is ${parts.join(', ')}, not "${only}"`);
    }
    const counts = only === 'faults' ? [3] : [1, 3];
    const fault = new RegExp(values.fault);
    if (values.processes === '') return { only, counts, fault };
    // Faults are of the first three processes.
    const least = only === 'faults' ? 3 : 1;
    const own = wholeNumber('--processes', values.processes, { least, most: 9 });
    return { only, counts: [own], fault };
  },
});

const rounded = (value: number) =>
  Math.abs(value) >= 100 ? Math.round(value) : Number(value.toPrecision(3));

function lineOf(what: string, used: Used): string {
  const { servers, database, nginx, valkey, watchtower, statements } = used;
  const ms = Object.entries({ servers, database, nginx, valkey, watchtower });
  const words = ms.map(([part, value]) => `${part} ${rounded(value)}`).join(', ');
  return `${what}: ms of ${words}; statements ${rounded(statements)}`;
}

function tellHeld(count: number, held: Held): void {
  const { seconds, requests, quotes, frames, webhooks, medianMs, p99Ms, used } = held;
  const cores = ({ servers, database, nginx, valkey, driver }: Used) =>
    Object.entries({ servers, database, nginx, valkey, driver })
      .map(([part, ms]) => `${part} ${(ms / 1_000 / seconds).toFixed(2)}`)
      .join(', ');
  console.log(
    `${count} processes hold ${Math.round(requests / seconds)} requests a second (median ` +
      `${rounded(medianMs)} ms, p99 ${rounded(p99Ms)} ms), ${Math.round(quotes / seconds)} quotes, ` +
      `${Math.round(frames / seconds)} frames, ${Math.round(webhooks / seconds)} webhooks a ` +
      `second; cores: ${cores(used)}`,
  );
}

async function measure(market: Market): Promise<void> {
  const count = market.processes.length;
  const client = createClient(market.stage.url);
  try {
    const people = await newPeople(market);
    const scene = { market, client, people };
    if (asked.only !== 'load') {
      await costsOf(scene, ({ what, used }) => {
        console.log(lineOf(`${count} processes, ${what}`, used));
      });
    }
    if (asked.only === 'costs') return;
    tellHeld(count, await holdLoad(scene));
    const { apart, together } = await contend(scene);
    console.log(
      `${count} processes, quotes a second in batches by four makers: ${Math.round(apart)} on RFQs ` +
        `of their own, ${Math.round(together)} on the same`,
    );
    const { plain, notifying } = await commitsOf(market.stage.postgres?.url ?? '');
    console.log(
      `commits a second by 16 connections: ${Math.round(plain)}, and ${Math.round(notifying)} ` +
        'where each tells so by a notice',
    );
  } finally {
    client.close();
  }
}

/** How many faults were played, with what was looked for after them. */
async function play(market: Market): Promise<number> {
  let faults = 0;
  try {
    if (asked.only !== 'faults') await measure(market);
    if (['', 'faults'].includes(asked.only) && market.processes.length > 2) {
      for await (const line of playFaults(market, asked.fault)) {
        console.log(line);
        faults += 1;
      }
    }
    return faults;
  } finally {
    await market.close();
  }
}

let failed = false;
try {
  const program = await obtain('nginx');
  let faults = 0;
  for (const count of asked.counts) faults += await play(await openMarket(program, count));
  const measured = asked.only === 'faults' ? 'nothing' : `${asked.counts.join(' and ')} processes`;
  console.log(`three: ${measured} measured, ${faults} faults and checks of them held`);
} catch (error) {
  failed = true;
  console.error(error);
}
process.exit(failed ? 1 : 0);
