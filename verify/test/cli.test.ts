// The real command against a real market, in two parties: a swap whose one side is killed in the
// middle and goes on, and one that is rescued by words and file without the market.

import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtemp, readFile, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { runParley } from '@parley/cli/run.ts';
import type { Io } from '@parley/trader/io.ts';
import { sharedWeb } from './support/web.ts';

const main = join(import.meta.dirname, '../../packages/cli/main.ts');
const passphrase = 'a passphrase of bob';
/** The contents of a command's descriptors. */
const descriptors: Record<number, string> = { 3: `${passphrase}\n`, 4: 'wrong passphrase\n' };

let dir: string;
let market: { readonly url: string; readonly dev: string };
const opened = sharedWeb();
before(async () => {
  dir = await mkdtemp(join(tmpdir(), 'parley-cli-'));
  const { url, market: of } = await opened();
  market = { url, dev: of.ready.dev ?? '' };
});
after(() => rm(dir, { recursive: true, force: true }));

/** The listeners to a party's output. */
const heard: Record<string, (text: string) => void> = {};
/** And to what it says to a person. */
const noted: Record<string, (text: string) => void> = {};

type Said = { readonly status: number; readonly out: string; readonly err: string };

const envOf = (home: string) => ({
  HOME: join(dir, home),
  XDG_CONFIG_HOME: join(dir, home, 'config'),
  XDG_DATA_HOME: join(dir, home, 'data'),
});

/** In this process, where nobody can be asked. */
function parley(home: string, ...args: string[]): Promise<Said> {
  return parleyUntil(new AbortController().signal, home, ...args);
}

async function parleyUntil(signal: AbortSignal, home: string, ...args: string[]): Promise<Said> {
  let out = '';
  let err = '';
  const nobody = async () => assert.fail('nobody can be asked');
  const io: Io = {
    out: (text) => {
      out += text;
      heard[home]?.(text);
    },
    err: (text) => {
      err += text;
      noted[home]?.(text);
    },
    isAsked: false,
    env: envOf(home),
    cwd: dir,
    signal,
    ask: nobody,
    askHidden: nobody,
    readDescriptor: async (number) => descriptors[number] ?? assert.fail(`descriptor ${number}`),
  };
  const status = await runParley(args, io);
  return { status, out, err };
}

/** The one document that it answers. */
async function answered<T>(home: string, ...args: string[]): Promise<T> {
  const { status, out, err } = await parley(home, ...args, '--json', '--yes');
  assert.equal(status, 0, `parley ${args.join(' ')}: ${err}`);
  return JSON.parse(out) as T;
}

type Line = {
  readonly step?: string;
  readonly leg?: string;
  readonly end?: string;
  readonly is?: string;
  readonly rfqId?: string;
};

const sale = 'trade sell 0.01 btc for usdv@evm-dev --at-least 640 --json'.split(' ');

/** Alice's sale as a process of its own; its lines as they come. */
function selling(onLine: (line: Line, child: ChildProcess) => void) {
  const home = 'alice';
  const child = spawn(process.execPath, [main, ...sale], {
    cwd: dir,
    env: { ...process.env, ...envOf(home) },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let rest = '';
  let err = '';
  child.stdout.on('data', (chunk: Buffer) => {
    const lines = `${rest}${chunk}`.split('\n');
    rest = lines.pop() ?? '';
    for (const line of lines) onLine(JSON.parse(line) as Line, child);
  });
  child.stderr.on('data', (chunk: Buffer) => {
    err += chunk.toString();
  });
  return new Promise<{ code: number | null; signal: string | null; err: string }>((resolve) => {
    child.once('close', (code, signal) => resolve({ code, signal, err }));
  });
}

async function joined(home: string, ...login: string[]): Promise<void> {
  await answered(home, 'init', '--dev', '--control', market.dev);
  await answered(home, 'login', ...login);
  await answered(home, 'faucet');
}

/** A request for dollars, in the words of who quotes it. */
const namedAs = (side: string, amount: string, base: string) => [
  '--side',
  side,
  '--amount',
  amount,
  '--base',
  base,
  '--quote',
  'evm-dev:USDV',
];

/** Bob binds himself first, so that one acceptance of the other side makes the swap. */
async function offered(rfqId: string): Promise<string> {
  const quote = ['quote', rfqId, '640', ...namedAs('sell', '0.01', 'bitcoin-regtest')];
  const { thread } = await answered<{ thread: { id: string } }>('bob', ...quote);
  await answered('bob', 'accept', thread.id, '--price', '640', '--passphrase-fd', '3');
  return thread.id;
}

/** Both accept 640 dollars for a hundredth of a bitcoin. */
async function agreed(): Promise<string> {
  type Asked = { readonly rfq: { readonly id: string } };
  const asset = ['sell', '0.01', 'bitcoin-regtest', 'evm-dev:USDV', '--price', '640'];
  const { rfq } = await answered<Asked>('alice', 'ask', ...asset);
  const threadId = await offered(rfq.id);
  const last = ['accept', threadId, '--price', '640'];
  const { swapId } = await answered<{ swapId: string }>('alice', ...last);
  return swapId;
}

/** Alice's side, ended as a crash would right after its funding was sent, and Bob's whole. */
async function killedOnceFunded() {
  const bob = Promise.withResolvers<Said>();
  const killed = await selling(({ step, leg, rfqId }, child) => {
    if (step === 'asked') offered(rfqId ?? '').catch(bob.reject);
    if (step === 'agreed')
      bob.resolve(parley('bob', 'settle', '--json', '--yes', '--passphrase-fd', '3'));
    if (step === 'funded' && leg === 'b') child.kill('SIGKILL');
  });
  assert.equal(killed.signal, 'SIGKILL', killed.err);
  return { bob: bob.promise };
}

/** An empty book would give a feed no more to write. */
async function mustSayWhatItWaitsFor(home: string): Promise<void> {
  const stop = new AbortController();
  noted[home] = (text) => {
    if (text.includes('feed: live')) stop.abort();
  };
  const { err } = await parleyUntil(stop.signal, home, 'feed');
  delete noted[home];
  assert.match(err, /feed: live, (?:no request is|\d+) open: waits for requests, and for news of/);
}

test('two parties trade by the command, and one that is killed goes on', async () => {
  await joined('alice', '--key-file', join(dir, 'alice.words'), '--new');
  await joined('bob', '--new', '--passphrase-fd', '3');
  const own = join(dir, 'bob/data/parley/dev');
  for (const name of ['keystore.json', 'account.json']) {
    assert.equal((await stat(join(own, name))).mode & 0o777, 0o600, name);
  }
  const wrong = await parley('bob', 'words', '--yes', '--passphrase-fd', '4');
  assert.deepEqual([wrong.status, wrong.out], [7, ''], wrong.err);
  assert.match(wrong.err, /the passphrase is wrong/);
  await mustSayWhatItWaitsFor('bob');
  const { bob } = await killedOnceFunded();
  const open = await answered<{ swaps: { is: string; swapId: string }[] }>('alice', 'swaps');
  assert.deepEqual(
    open.swaps.map(({ is }) => is),
    ['open'],
  );
  const [{ swapId } = assert.fail('one is open')] = open.swaps;
  const again = await parley('alice', ...sale);
  assert.equal(again.status, 0, again.err);
  const lines = again.out.split('\n').filter(Boolean);
  const said = lines.map((line) => JSON.parse(line) as Line);
  const fundings = said.filter(({ step }) => step === 'funded');
  const ends = said.flatMap(({ end, is }) => end ?? is ?? []);
  assert.deepEqual([ends, fundings], [['received', 'received'], []], 'it was funded once');
  const other = await bob;
  assert.equal(other.status, 0, other.err);
  assert.match(other.out, /sends the claim of leg b, which both sides have signed/);
  const shown = await answered<{ is: string; ended: { end: string } }>('alice', 'swaps', swapId);
  assert.deepEqual([shown.is, shown.ended.end], ['received', 'received']);
  const nothing = await answered<{ swaps: [] }>('alice', 'settle');
  assert.deepEqual(nothing.swaps, []);
});

test('words and rescue file bring a swap back on another machine, without the market', async () => {
  const swapId = await agreed();
  // Bob's side ends right after its funding: he holds no secret, and has paid.
  const away = new AbortController();
  const bob = parleyUntil(away.signal, 'bob', 'settle', '--yes', '--json', '--passphrase-fd', '3');
  heard.bob = (text) => {
    if (text.includes('"step":"funded","leg":"a"')) away.abort(new Error('bob is gone'));
  };
  const alice = parley('alice', 'settle', '--yes', '--json');
  assert.equal((await bob).status, 130);
  const file = join(dir, 'rescue.json');
  await answered('bob', 'rescue', 'save', file, '--passphrase-fd', '3');
  assert.match(await readFile(file, 'utf8'), /p2tr/);
  const { words } = await answered<{ words: string }>('bob', 'words', '--passphrase-fd', '3');
  descriptors[5] = `${words}\n`;
  descriptors[6] = `${'abandon '.repeat(11)}about`;
  const gone = ['--dev', '--control', market.dev, '--market', 'http://127.0.0.1:1'];
  await answered('carol', 'init', ...gone);
  const other = await parley('carol', 'rescue', 'from', file, '--words-fd', '6', '--yes');
  assert.equal(other.status, 9, other.err);
  assert.match(other.err, /not written with this phrase/);
  const said = await parley('carol', 'rescue', 'from', file, '--words-fd', '5', '--yes', '--json');
  assert.equal(said.status, 0, said.err);
  const last = JSON.parse(said.out.trim().split('\n').at(-1) ?? '') as Line & { swapId: string };
  assert.deepEqual([last.end, last.swapId], ['received', swapId]);
  assert.equal((await alice).status, 0);
});
