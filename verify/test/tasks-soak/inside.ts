// In namespaces of its own, which `run.ts` makes: mounts the root, starts a dev network beside it,
// and goes through the pages. Argument: the root.

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ownMarket } from '@parley/dev/demo/market.ts';
import { chainsOf } from '../release-soak/chains.ts';
import { type Block, blocksIn, doesPrint, type Page, pages, textOf } from './blocks.ts';
import { trade } from './trading.ts';

const root = process.argv[2] ?? assert.fail('the root is named');
const at = (path: string) => join(root, path);
/** A command that hangs; an alert waits for minutes, and a machine may do ten things. */
const blockMs = 900_000;
const named = '127.0.0.1 localhost market.example\n::1 localhost\n';

/** Loopback alone, with the addresses of two hosts that a page names. */
const scene = `
set -e
mount --make-rprivate /
ip link set lo up
for each in 10.0.0.2 10.0.0.3; do ip address add $each/32 dev lo; done
mount --bind "$1" "$1"
mount -t proc proc "$1/proc"
mount --rbind /dev "$1/dev"
mount -t tmpfs -o mode=755 tmpfs "$1/run"
mkdir -p "$1/run/lock"
hostname market
mount --bind "$1/etc/hosts" /etc/hosts
`;

type Ran = { readonly code: number | null; readonly output: string };

/** `command` with what it writes to both streams. */
async function ran(command: readonly string[], env: Record<string, string>): Promise<Ran> {
  const [file = '', ...args] = command;
  const child = spawn(file, args, { env, stdio: ['ignore', 'pipe', 'pipe'], timeout: blockMs });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text: string) => {
      output += text;
    });
  }
  // Servers that it started hold the streams: its own end counts.
  const [code] = (await once(child, 'exit')) as [number | null];
  return { code, output };
}

/** As root's own shell in the root would, from its home. */
function inRoot(commands: string): Promise<Ran> {
  const path = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin';
  const env = { HOME: '/root', PATH: path, LANG: 'C.UTF-8', DEBIAN_FRONTEND: 'noninteractive' };
  const shell = ['/bin/bash', '-euo', 'pipefail', '-c', `cd; ${commands}`];
  return ran(['chroot', root, ...shell], env);
}

/** Ids of swaps whose two sides claimed. */
async function settled(): Promise<string> {
  const ask = "select id from swaps where status = 'counterparty_claimed' order by id";
  const url = '"$(cat /etc/parley/credentials/DATABASE_URL)"';
  const { code, output } = await inRoot(`psql -At ${url} -c "${ask}"`);
  assert.equal(code, 0, output);
  assert.ok(output.length > 30, 'a swap has ended well');
  return output;
}

async function goThrough({ page, line, commands, prints }: Block): Promise<void> {
  const { code, output } = await inRoot(commands);
  const where = `docs/${page}.md:${line}`;
  const said = () => {
    const log = spawnLog();
    return `${where}\n${commands}\n--- said:\n${output.slice(-4_000)}\n--- the market:\n${log}`;
  };
  assert.equal(code, 0, said());
  if (prints !== null) assert.ok(doesPrint(prints, output), `not as the page says: ${said()}`);
  console.log(`ran ${where}: ${commands.split('\n')[0]}`);
}

const spawnLog = () => {
  try {
    return readFileSync(at('var/log/units/parley.log'), 'utf8').slice(-3_000);
  } catch {
    return 'it was not started yet';
  }
};

writeFileSync(at('etc/hosts'), named);
const mounted = await ran(['sh', '-c', scene, 'sh', root], { PATH: process.env.PATH ?? '' });
assert.equal(mounted.code, 0, mounted.output);
const people = await mkdtemp(join(tmpdir(), 'parley-tasks-people-'));
const dev = await ownMarket();
try {
  const { PARLEY_CHAINS, assets } = await chainsOf(dev.dev);
  writeFileSync(at('root/chains.json'), PARLEY_CHAINS);
  writeFileSync(at('root/assets.json'), assets);
  const certificate = at('etc/letsencrypt/live/market.example/fullchain.pem');
  const tradesAfter = async (what: string) => {
    const folder = what.replaceAll(' ', '-');
    const seconds = await trade({ dev: dev.dev, folder: people, certificate }, folder);
    console.log(`traded behind nginx with TLS after ${what}: ${seconds} s`);
  };
  let dumped = '';
  let answered = '';
  const afterwards: Partial<Record<Page, () => Promise<void>>> = {
    install: () => tradesAfter('the install'),
    upgrade: async () => {
      await tradesAfter('an upgrade and back');
      answered = await settled();
    },
    backup: async () => {
      dumped = await settled();
    },
    database: async () => {
      assert.equal(await settled(), answered, 'the standby has every swap');
      await tradesAfter('the takeover of a standby');
    },
    restore: async () => {
      assert.equal(await settled(), dumped, 'a restored dump has the swaps of then');
      await tradesAfter('a restore');
    },
    incidents: () => tradesAfter('incidents'),
  };
  const counts = { run: 0, not: 0 };
  for (const page of pages) {
    for (const block of blocksIn(page, textOf(page))) {
      if (block.notRun === null) {
        await goThrough(block);
        counts.run += 1;
      } else {
        console.log(`not run docs/${page}.md:${block.line}: ${block.notRun}`);
        counts.not += 1;
      }
    }
    await afterwards[page]?.();
  }
  const share = Math.round((100 * counts.run) / (counts.run + counts.not));
  console.log(
    `tasks: ${counts.run} blocks ran (${share} %), ${counts.not} did not, for their reasons`,
  );
} finally {
  await dev.stop();
  await rm(people, { recursive: true, force: true });
}
