// `npm run ops`: the commands of operators under one name. Each is a file of `apps/market/deploy/`, loaded when it
// is asked for.

import { type Command, Misused, runCommand } from '@parley/host/command.ts';
import { type CommandName, commands, isCommand } from './ops/table.ts';

// biome-ignore lint/suspicious/noExplicitAny: a command's arguments are between its own parts
type OpsCommand = Command<any> & { /** Instead of 1. */ readonly failed?: number };

const files: Readonly<Record<CommandName, () => Promise<{ readonly command: OpsCommand }>>> = {
  assets: () => import('./ops/assets.ts'),
  halt: async () => ({ command: (await import('./ops/halt.ts')).halting }),
  resume: async () => ({ command: (await import('./ops/halt.ts')).resuming }),
  doctor: () => import('./ops/doctor.ts'),
  accounts: () => import('./ops/accounts.ts'),
  webhooks: () => import('./ops/webhooks.ts'),
  keeper: () => import('./ops/keeper.ts'),
  stats: () => import('./ops/stats.ts'),
  contracts: () => import('./ops/contracts.ts'),
  audit: () => import('./ops/audit.ts'),
};

const names = Object.keys(commands);
const widest = Math.max(...names.map((each) => each.length));
const lines = Object.entries(commands).map(([name, { about }]) => {
  return `  ${name.padEnd(widest)}  ${about}`;
});

const usage = `usage: npm run ops -- COMMAND [ARGUMENT]... [--json]
       npm run ops -- help [COMMAND]
${lines.join('\n')}
What changes something is kept for ever with who did it (npm run ops -- audit). PARLEY_OPERATOR is
your name there; else the system's user. Settings as for npm start. Exit status: 0 done or so
already, 1 refused or found something, 2 not understood.`;

const [name = '', ...args] = process.argv.slice(2);

// The launchers of a release set it: a user of one has no npm. JSON is for programs.
const called = process.env.PARLEY_CALLED_AS ?? '';
if (called !== '' && !args.includes('--json')) {
  for (const stream of [process.stdout, process.stderr]) {
    const write = stream.write.bind(stream) as (text: unknown, ...more: unknown[]) => boolean;
    stream.write = (text: unknown, ...more: unknown[]) =>
      write(typeof text === 'string' ? text.replaceAll('npm run ops --', called) : text, ...more);
  }
}

/** The command line of `ops` itself: everything else has a usage of its own. */
const itself = {
  usage,
  understand: ([word = '']: string[]): object | null => {
    if (word === '--help' || word === 'help') return null;
    throw new Misused(word === '' ? '' : `there is no command "${word}"`);
  },
  run: async () => 0,
};

const asked = name === 'help' && isCommand(args[0]) ? args[0] : name;
if (!isCommand(asked)) {
  const word = name === 'help' && args[0] !== undefined ? args[0] : name;
  await runCommand(itself, 1, [word]);
} else {
  const { command } = await files[asked]();
  await runCommand(command, command.failed ?? 1, name === 'help' ? ['--help'] : args);
}
