// Commands that need no market: arguments, help, completion, classes of errors, profiles, and the
// tables of docs/cli.md.

import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { chmod, chown, mkdir, mkdtemp, readFile, rm, stat } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { signatureOf } from '@parley/market/webhooks/sign.ts';
import {
  ParleyApiError,
  RescueError,
  SettleError,
  StoreError,
  VerificationError,
} from '@parley/sdk/errors.ts';
import { parseAmount } from '@parley/sdk/people.ts';
import { ownPair, splitName } from '@parley/trader/assets.ts';
import { Failure, statuses, toldOf } from '@parley/trader/failures.ts';
import {
  answer,
  type Cli,
  failed,
  type Io,
  jsonOf,
  mustConfirm,
  note,
  passphraseOf,
} from '@parley/trader/io.ts';
import {
  chosenProfile,
  foldersOf,
  mustBePrivate,
  placesOf,
  writePrivate,
} from '@parley/trader/places.ts';
import { type Profile, readProfile, writeProfile } from '@parley/trader/profile.ts';
import { openSession } from '@parley/trader/session.ts';
import { tableOf } from '@parley/trader/show.ts';
import { waitUntil } from '@parley/verify/test/support/waiting.ts';
import { grammar } from './grammar.ts';
import { runParley } from './run.ts';
import { testIo } from './testing/io.ts';

let dir: string;
before(async () => {
  dir = await mkdtemp(join(tmpdir(), 'parley-cli-plain-'));
});
after(() => rm(dir, { recursive: true, force: true }));

const failing = (of: string, sentence: RegExp) => (error: unknown) =>
  error instanceof Failure && error.class === of && sentence.test(error.message);

const ioOf = (more: Partial<Io> = {}) => testIo(dir, more);

const cliOf = (more: Partial<Cli> = {}): Cli => ({
  ...ioOf(more).io,
  profile: undefined,
  json: false,
  yes: false,
  passphraseFd: null,
  ...more,
});

test('arguments that are not understood are named, with what is', async () => {
  for (const [args, sentence] of [
    [['bok'], /unknown command 'bok' \(Did you mean book\?\)\nusage: parley /],
    [
      ['book', '--lmit', '3'],
      /unknown option '--lmit' \(Did you mean --limit\?\)\nusage: parley book /,
    ],
    [['book', '-x'], /unknown option '-x'/],
    [['book', '--limit'], /'--limit <N>' argument missing/],
    [['book', '--settled', '0'], /'0' is invalid. It is a whole number from 1 to 1000\./],
    [['book', '--price', '3'], /unknown option '--price'/],
    [['ask', 'sel', '1', 'a', 'b'], /'sel' is invalid.* sell, buy\./],
    [['ask', 'sell', '1', 'a'], /missing required argument 'QUOTE'\nusage: parley ask /],
    [['cancel', 'a', 'b'], /too many arguments for 'cancel'/],
    [['market'], /name a command\nusage: parley market /],
    [['login', '--with', 'doge'], /evm, tron, bitcoin, solana/],
    [['words', '--passphrase-fd', 'x'], /'x' is invalid.* from 0 to 1023/],
    [['--passphrase-fd', '-1', 'words'], /'-1' is invalid/],
    [['book', '--profile', '--json'], /'--json' stands in the place of a value/],
    [['init', '--node', 'a=b', '--node', '--dev'], /'--dev' stands in the place of a value/],
  ] as const) {
    const { io, said } = ioOf();
    assert.equal(await runParley(args, io), statuses.usage, args.join(' '));
    assert.match(said.err, sentence, args.join(' '));
    assert.equal(said.out, '');
  }
  const { io, said } = ioOf();
  assert.equal(await runParley(['bok', '--json'], io), statuses.usage);
  assert.equal(JSON.parse(said.err).error.code, 'usage');
  const evm = { family: 'evm', tokens: { USD: { address: '0x1', decimals: 6 } } };
  const pairOn = (base: string, quote: string) =>
    ownPair({ chain: () => evm as never }, base, quote).map(({ name }) => name);
  assert.deepEqual(pairOn('a', 'b:USD'), ['a', 'b:USD']);
  assert.throws(() => pairOn('a:USD', 'a'), failing('usage', /a:USD and a are both on a:/));
  assert.throws(() => splitName('a:b:c'), failing('usage', /"a:b:c" is no asset/));
});

test('every command has its help, and every one is in docs/cli.md with every exit status', async () => {
  const docs = await readFile(join(import.meta.dirname, '../../docs/cli.md'), 'utf8');
  const { commands } = grammar({ cli: ioOf().io, done: () => {} });
  for (const name of commands.map((each) => each.name()).filter((each) => each !== 'complete')) {
    const { io, said } = ioOf();
    assert.equal(await runParley([name, '--help'], io), statuses.done);
    assert.match(said.out, new RegExp(`^usage: parley ${name} [^]*--passphrase-fd <N>`));
    assert.match(docs, new RegExp(`^\\| \`${name}\` \\|`, 'm'));
  }
  const rows = [...docs.matchAll(/^\| (\d+) \| `(\w+)` \|/gm)].map(([, at, name]) => [
    name,
    Number(at),
  ]);
  assert.deepEqual(Object.fromEntries(rows), statuses);
});

test('a shell completes commands, what follows them, options and their values', () => {
  const main = join(import.meta.dirname, 'main.ts');
  const said = (...args: string[]) =>
    execFileSync(process.execPath, [main, ...args], { encoding: 'utf8' });
  for (const [words, wanted] of [
    [['thr'], ['threads']],
    [['market', 's'], ['status']],
    [
      ['ask', ''],
      ['sell', 'buy'],
    ],
    [['login', '--with', 't'], ['tron']],
  ] as const) {
    const found = said('complete', '--', ...words).split('\n');
    const values = found
      .map((line) => line.split('\t')[0])
      .filter((line) => !/^(:\d+)?$/.test(line ?? ''));
    assert.deepEqual(values, wanted, words.join(' '));
  }
  for (const shell of ['bash', 'zsh', 'fish'])
    assert.match(said('completion', shell), /complete -- /);
});

test('an error has the class that says what to do, and --json says it on standard error', async () => {
  const api = (status: number) => new ParleyApiError({ status, code: 'x', message: 'm' });
  let amount: unknown = null;
  try {
    parseAmount('1,5', 2, { locale: 'en' });
  } catch (error) {
    amount = error;
  }
  const file = Object.assign(new Error('ENOENT: gone'), { code: 'ENOENT' });
  const port = Object.assign(new Error('EADDRINUSE: taken'), { code: 'EADDRINUSE' });
  const node = Object.assign(new Error('down'), { name: 'HttpRequestError' });
  const refusal = (kind: string, code: string) =>
    Object.assign(new Error('chain'), { kind, code, facts: {} });
  for (const [error, wanted] of [
    [api(400), 'refused'],
    [api(401), 'refused'],
    [api(429), 'market_unavailable'],
    [api(503), 'market_unavailable'],
    [api(0), 'market_unavailable'],
    [new VerificationError('a', 'b', 'c'), 'not_verified'],
    [new SettleError('secret_lost', 's'), 'needs_you'],
    [new StoreError('full', 's'), 'local'],
    [new RescueError('bad_file', 's'), 'local'],
    [new RescueError('bad_phrase', 's'), 'needs_you'],
    [amount, 'usage'],
    [port, 'local'],
    [refusal('unavailable', 'chain_unavailable'), 'chain_unavailable'],
    [refusal('invalid', 'refused_by_node'), 'chain_unavailable'],
    [refusal('conflict', 'fee_above_limit'), 'needs_you'],
    [file, 'local'],
    [node, 'chain_unavailable'],
    [new TypeError('a bug'), 'fault'],
  ] as const) {
    assert.equal(toldOf(error).class, wanted, String(error));
  }
  const named = (status: number, message: string) =>
    toldOf(new ParleyApiError({ status, code: 'internal', message, requestId: 'a1b2' }));
  assert.deepEqual(named(503, 'gone'), {
    class: 'market_unavailable',
    code: 'internal',
    requestId: 'a1b2',
    sentence: 'gone (request a1b2)',
  });
  assert.equal(named(500, 'logged as request a1b2').sentence, 'logged as request a1b2');
  assert.equal(named(409, 'moved').sentence, 'moved');
  const revoked = { status: 401, code: 'key_invalid', message: 'revoked', requestId: 'a1b2' };
  assert.equal(toldOf(new ParleyApiError(revoked)).sentence, 'revoked: run "parley login"');
  const { io, said } = ioOf();
  assert.equal(await runParley(['book', '--json'], io), 7);
  assert.equal(said.out, '');
  const { error } = JSON.parse(said.err) as { error: { class: string; code: string } };
  assert.deepEqual([error.class, error.code], ['needs_you', 'no_profile']);
});

test('a reader that leaves is no success', async () => {
  const program = `set -o pipefail; ${process.execPath} ${import.meta.dirname}/main.ts --help`;
  for (const pipe of ['| true', '--lmit 2>&1 | true']) {
    const ran = spawnSync('bash', ['-c', `${program} ${pipe}`], { encoding: 'utf8' });
    assert.deepEqual([ran.status, ran.stderr], [statuses.interrupted, ''], pipe);
  }
});

test('a person is not taken at a word that was not said', async () => {
  const plan = ['gives 1'];
  await assert.rejects(mustConfirm(cliOf(), plan, 'Go?'), failing('needs_you', /give --yes/));
  await mustConfirm(cliOf({ yes: true }), plan, 'Go?');
  for (const [said, isYes] of [
    ['y', true],
    ['Yes\n', true],
    ['', false],
    ['n', false],
    ['yeah', false],
  ] as const) {
    const asked = mustConfirm(cliOf({ isAsked: true, ask: async () => said }), plan, 'Go?');
    if (isYes) await asked;
    else await assert.rejects(asked, failing('needs_you', /the command did nothing/), said);
  }
  await assert.rejects(passphraseOf(cliOf(), 'P: '), failing('needs_you', /--passphrase-fd/));
  const typed = ['one', 'other'];
  const twice = cliOf({ isAsked: true, askHidden: async () => typed.shift() ?? '' });
  await assert.rejects(passphraseOf(twice, 'P: ', true), failing('needs_you', /differ/));
  const piped = cliOf({ passphraseFd: 3, readDescriptor: async () => 'of a pipe\n' });
  assert.equal(await passphraseOf(piped, 'P: '), 'of a pipe');
});

test('the name of a market, a node or a token never acts on a terminal', async () => {
  const evil = 'a\u001b[2Jb\u009bc\rd\u202ee\nf';
  const { io, said } = ioOf();
  const cli = { ...cliOf({ yes: true }), ...io };
  await mustConfirm(cli, [`gives ${evil}`, tableOf(['x'], [[evil]])], 'Go?');
  answer(cli, {}, evil);
  note(cli, evil);
  failed(cli, { class: 'refused', code: 'x', sentence: evil });
  assert.doesNotMatch(`${said.out}${said.err}`, /[\p{Bidi_Control}]|(?!\n)\p{Cc}/u);
  assert.equal(said.err.split('\n')[0], 'gives a\ufffd[2Jb\ufffdc\ufffdd\ufffde f');
  const json = jsonOf({ evil });
  assert.doesNotMatch(json, /[\p{Bidi_Control}\p{Cc}]/u);
  assert.deepEqual(JSON.parse(json), { evil });
});

const profile: Profile = {
  market: 'https://market.example',
  productName: 'Parley',
  shortName: 'parley',
  network: 'mainnet',
  chains: {
    bitcoin: { family: 'bitcoin', bitcoin: 'mainnet', nodes: ['https://a.example'], tokens: {} },
    ethereum: {
      family: 'evm',
      chainId: 1,
      nodes: [],
      tokens: { USDC: { address: '0xA0b8', decimals: 6 } },
    },
  },
};

test('a profile is read back as it was written, and each wrong field is named', () => {
  assert.deepEqual(readProfile(writeProfile(profile), 'p.json'), profile);
  const { chains } = profile;
  for (const [change, field] of [
    [{ market: 'market' }, 'market: must be an http'],
    [{ market: 'http://market.example' }, 'market: must be https'],
    [{ network: 'main' }, 'network: '],
    [{ productName: 'a\nb' }, 'productName: '],
    [{ chains: { a: { family: 'doge' } } }, 'chains.a.family: '],
    [{ chains: { a: { ...chains.bitcoin, bitcoin: 'main' } } }, 'chains.a.bitcoin: '],
    [{ chains: { a: { ...chains.bitcoin, nodes: ['ws://x'] } } }, 'chains.a.nodes.0: must be'],
    [{ chains: { a: { ...chains.ethereum, chainId: '1' } } }, 'chains.a.chainId: '],
    [
      { chains: { a: { ...chains.ethereum, tokens: { X: { address: '0x' } } } } },
      'chains.a.tokens.X.decimals: ',
    ],
    [{ chains: { a: { family: 'tron', chainId: 1 } } }, 'chains.a.contract: '],
    [{ chains: { a: { family: 'solana', program: 'p' } } }, 'chains.a.genesisHash: '],
  ] as const) {
    const text = JSON.stringify({ ...profile, ...change });
    assert.throws(() => readProfile(text, 'p.json'), failing('local', new RegExp(field)), field);
  }
});

test('a dev network that was started anew is found at its new address', async () => {
  const server = createServer((_, response) => response.end('{"clockOffsetSeconds":90000}'));
  await new Promise<void>((next) => server.listen(0, '127.0.0.1', next));
  const { port } = server.address() as AddressInfo;
  const at = join(dir, 'anew');
  const cli = cliOf({ env: { HOME: at }, cwd: at });
  const { market } = profile;
  const old = { ...profile, dev: 'http://127.0.0.1:1' };
  await writePrivate(placesOf(cli.env, 'dev').profileFile, writeProfile(old));
  const ready = (url: string) =>
    writePrivate(
      join(at, '.parley/ready.json'),
      JSON.stringify({ url, dev: `http://127.0.0.1:${port}` }),
    );
  try {
    await ready('http://127.0.0.1:2');
    await assert.rejects(openSession(cli), failing('chain_unavailable', /npm start/));
    await ready(market);
    const session = await openSession(cli);
    assert.ok(session.now() > Date.now() / 1_000 + 80_000);
    await session.close();
  } finally {
    server.close();
  }
});

test('files are private, are never half written, and a key is never written over', async () => {
  const env = { HOME: join(dir, 'home'), XDG_CONFIG_HOME: 'relative' };
  const places = placesOf(env, 'one');
  assert.equal(places.profileFile, join(dir, 'home/.config/parley/one.json'));
  assert.equal(places.keystore, join(dir, 'home/.local/share/parley/one/keystore.json'));
  assert.throws(() => placesOf(env, '../x'), failing('usage', /names no profile/));
  assert.throws(() => placesOf({}, 'x'), failing('local', /HOME/));
  await writePrivate(places.keystore, 'first', { isNew: true });
  assert.equal((await stat(places.keystore)).mode & 0o777, 0o600);
  assert.equal((await stat(places.data)).mode & 0o777, 0o700);
  const again = writePrivate(places.keystore, 'second', { isNew: true });
  await assert.rejects(again, failing('local', /is there already/));
  assert.equal(await readFile(places.keystore, 'utf8'), 'first');
  await chmod(places.keystore, 0o640);
  await assert.rejects(mustBePrivate(places.keystore), failing('local', /mode 0640.*chmod 600/));
  await chmod(places.keystore, 0o604);
  await assert.rejects(mustBePrivate(places.keystore), failing('local', /mode 0604/));
  await mustBePrivate(places.keystore, null);
  await chmod(places.keystore, 0o600);
  await mustBePrivate(places.keystore);
  // Files of root's are left alone, so root gives this one away.
  if (process.geteuid?.() === 0) await chown(places.keystore, 8, 8);
  const { uid } = await stat(places.keystore);
  const fault = failing(
    'local',
    new RegExp(`belongs to user ${uid}, and this is user ${uid + 1}:`),
  );
  await assert.rejects(mustBePrivate(places.keystore, uid + 1), fault);
  await assert.rejects(chosenProfile(env, undefined), failing('needs_you', /parley init/));
  await writePrivate(places.profileFile, '{}');
  assert.equal(await chosenProfile(env, undefined), 'one');
  await writePrivate(placesOf(env, 'two').profileFile, '{}');
  await assert.rejects(chosenProfile(env, undefined), failing('needs_you', /one, two/));
});

test('a profile or account that cannot be read is named, with what to do', async () => {
  const env = { HOME: join(dir, 'damaged') };
  const { profileFile, account } = placesOf(env, 'one');
  for (const [file, text, status, why] of [
    [profileFile, '', 9, /one\.json: it is no JSON/],
    [profileFile, '{"market":', 9, /one\.json: it is no JSON/],
    [profileFile, '{"network":"later"}', 9, /one\.json: market: .*; network: /],
    [profileFile, null, 9, /one\.json cannot be read: a folder has its name/],
    [account, '{"market"', 9, /account\.json is damaged: "parley login" writes it anew/],
    [account, 'null', 9, /account\.json is damaged/],
    [account, '{"market":"x","key":"k"}', 9, /account\.json is damaged/],
  ] as const) {
    await writePrivate(profileFile, writeProfile(profile));
    if (text === null) {
      await rm(profileFile);
      await mkdir(profileFile);
    } else await writePrivate(file, text);
    const { io, said } = ioOf({ env });
    assert.equal(await runParley(['webhooks', 'list'], io), status, said.err);
    assert.match(said.err, why);
    if (text === null) await rm(profileFile, { recursive: true });
  }
  const { config } = foldersOf(env);
  await rm(config, { recursive: true });
  await writePrivate(config, '');
  await assert.rejects(chosenProfile(env, undefined), /ENOTDIR/, 'not that there is none');
});

test('deliveries are received, verified and printed, and no other ones', async () => {
  const home = join(dir, 'hooks');
  const secret = 'whsec_of_a_test';
  const end = new AbortController();
  const { io, said } = ioOf({
    env: { HOME: home },
    signal: end.signal,
    readDescriptor: async () => `${secret}\n`,
  });
  await writePrivate(placesOf({ HOME: home }, 'one').profileFile, writeProfile(profile));
  const ended = runParley(['webhooks', 'listen', '--port', '0', '--secret-fd', '3', '--json'], io);
  await waitUntil(() => said.err.includes('listens on'));
  const [url = ''] = /http:\S+\d/.exec(said.err) ?? [];
  const delivery = { type: 'swap.created', deliveryId: 'd1', createdAt: '2026-11-27T14:05:00Z' };
  const body = JSON.stringify(delivery);
  const at = String(Math.floor(Date.now() / 1_000));
  const sent = async (text: string) => {
    const headers = {
      'x-parley-timestamp': at,
      'x-parley-signature': signatureOf(secret, at, body),
    };
    return (await fetch(url, { method: 'POST', headers, body: text })).status;
  };
  assert.deepEqual([await sent(body), await sent(body)], [204, 204]);
  assert.equal(await sent(body.replace('d1', 'd2')), 400);
  assert.equal(await sent('x'.repeat(262_145)), 413);
  end.abort(new Error('interrupted'));
  assert.equal(await ended, 0);
  assert.equal(said.out, `${body}\n`);
  assert.match(said.err, /again: d1\nnot verified \(bad_signature\)/);
});
