// One command, from its arguments to its exit status. Every failure is reported in one sentence.

import { statuses, type Told, toldOf } from '@parley/trader/failures.ts';
import { answer, failed, type Io, note } from '@parley/trader/io.ts';
import { understood } from './arguments.ts';
import { helpOf, usageOf } from './help.ts';
import { runs } from './runs.ts';

export async function runParley(args: readonly string[], io: Io): Promise<number> {
  const json = args.includes('--json');
  try {
    const asked = understood(args);
    if (asked.is === 'help') {
      const help = helpOf(asked.of);
      answer({ ...io, json, ...none }, { help }, help);
      return statuses.done;
    }
    if (asked.is === 'version') {
      const { version } = await import('./version.ts');
      answer({ ...io, json, ...none }, { version }, version);
      return statuses.done;
    }
    const run = await runs[asked.command]();
    const status = await run({ ...io, ...asked.globals }, asked.given);
    return typeof status === 'number' ? status : statuses.done;
  } catch (error) {
    const told: Told = io.signal.aborted
      ? { class: 'interrupted', code: 'interrupted', sentence: 'interrupted' }
      : toldOf(error);
    failed({ err: io.err, json }, told);
    if (told.class === 'usage' && !json) note(io, usageOf(args));
    return statuses[told.class];
  }
}

const none = { profile: undefined, yes: false, passphraseFd: null } as const;
