// Withdrawals through kills, silent nodes and false answers: each is signed once, is on disk before
// it is sent, and takes nothing that is promised. Wallet and chain are scripted.

import assert from 'node:assert/strict';
import { mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { type Kept, writeKept } from '@parley/sdk/stores/store.ts';
import type { Spent } from '@parley/trader/paying/spent.ts';
import type { OwnChains } from '../chains.ts';
import { type Commitment, type Costs, holdingOf } from '../rules/inventory.ts';
import type { WithdrawalsInput } from './checks.ts';
import { mostOf, refusalOf } from './rules.ts';
import { begunOf, lookingAlone, withdrawAsked } from './withdraw.ts';
import { ask, keep, openOnes, read, told, untoldOnes, type Withdrawal } from './withdrawal.ts';
import { createWithdrawals } from './withdrawals.ts';

let dir: string;
before(async () => {
  dir = await mkdtemp(join(tmpdir(), 'parley-maker-withdrawals-'));
});
after(() => rm(dir, { recursive: true, force: true }));

const coin = { asset: 'eth', chain: 'evm', token: null, decimals: 18 };
/** Addresses of nobody: the wallet is scripted. */
const token = `0x${'1'.repeat(40)}`;
const to = `0x${'2'.repeat(40)}`;
const dollar = { asset: 'usd', chain: 'evm', token, decimals: 6 };
/** 100 a funding, 20 a claim, 30 a refund. */
const costs: Costs = {
  fund: 100n,
  claim: 20n,
  refund: 30n,
  deposit: 0n,
  settlesFromAmount: false,
};

/** 10 000 of the coin and 500 dollars, of each of which 400 are the reserve or promised. */
function known(commitments: readonly Commitment[] = []) {
  const balance = (units: bigint) => ({ units, readAtMs: 0 });
  return {
    balances: new Map([
      [holdingOf(coin), balance(10_000n)],
      [holdingOf(dollar), balance(500n)],
    ]),
    reserves: new Map([[holdingOf(coin), 300n]]),
    commitments,
    nowMs: 0,
    costs,
    dearest: costs,
    leastSwaps: 2,
    coinDecimals: 18,
  };
}

const promised = (of: typeof coin | typeof dollar, units: bigint): Commitment => ({
  id: 'q',
  kind: 'quote',
  asset: of.asset,
  amount: units,
  fundedAtMs: null,
  before: new Map([[holdingOf(of), units]]),
  after: new Map(),
});

test('a withdrawal leaves reserve, promises and gas to the unit, and one unit more is refused', () => {
  const all = known([promised(coin, 100n), promised(dollar, 400n)]);
  // 10 000 less 300 of reserve, 100 promised, 100 for its fee, and 300 for two swaps.
  for (const [of, most, why] of [
    [
      coin,
      9_200n,
      /would be left for gas, which pays for 1 swaps: warn_below_swaps of evm wants 2/,
    ],
    [dollar, 100n, /0.000101 usd are needed.*0.0005 usd are there.*0.0004 usd are promised/],
  ] as const) {
    assert.equal(mostOf(of, all), most);
    assert.equal(refusalOf({ ...of, amount: most }, all), null);
    assert.match(refusalOf({ ...of, amount: most + 1n }, all) ?? '', why);
  }
  const needy = { ...all, leastSwaps: 0 };
  assert.equal(mostOf(coin, needy), 9_500n);
  assert.match(refusalOf({ ...coin, amount: 9_501n }, needy) ?? '', /9601 |are promised/);
  // Gas for the payment of a token is not there.
  const poor = { ...all, commitments: [promised(coin, 9_601n)] };
  assert.match(refusalOf({ ...dollar, amount: 1n }, poor) ?? '', /of the coin of evm are needed/);
  assert.match(refusalOf({ ...dollar, amount: 1n }, { ...all, costs: null }) ?? '', /fees of evm/);
});

const asked = (id: string, more: Partial<Withdrawal> = {}): Withdrawal => ({
  id,
  isNamed: false,
  ...dollar,
  amount: 100n,
  name: 'treasury',
  to,
  askedAtMs: Date.now(),
  untilMs: Date.now() + 60_000,
  state: 'asked',
  why: null,
  kept: null,
  minedAtMs: null,
  ...more,
});

type State = 'waiting' | 'succeeded' | 'reverted' | 'lost';

/** One process: `heard` is what it did, in order. */
function processOf(script: {
  state?: State;
  isDeep?: boolean;
  silent?: boolean;
  held?: readonly bigint[];
  treasury?: string;
  /** In the place of the scripted one. */
  wallet?: object;
  closedWhy?: string;
  /** The spender of the coins of a payment of Bitcoin. */
  spent?: Spent | null;
  /** Between the check of its time and its note on the disk. */
  meanwhile?: () => void;
}) {
  const heard: string[] = [];
  const lines: string[] = [];
  const said = (event: string) => {
    if (event !== 'withdrawal') lines.push(event);
  };
  const [one = 500n, other = one] = script.held ?? [];
  const node = (units: bigint) => ({ held: async () => units });
  let signatures = 0;
  const adapter = {
    parseAddress: (text: string) => text,
    checkAmount: async () => {},
    readSigned: async (raw: string) => ({ raw, txid: raw, touches: [] }),
    broadcast: async ({ raw }: { raw: string }) => {
      const { open } = await openOnes(dir);
      const [{ state, kept } = asked('none')] = open;
      heard.push(`sent ${raw}, on disk ${state} ${kept?.raw}`);
      if (script.silent) throw new Error('no node answers');
    },
  };
  const wallet = {
    family: 'evm',
    address: '0xown',
    sign: async (): Promise<Kept> => {
      heard.push('signed');
      signatures += 1;
      return { txid: `t${signatures}`, raw: `t${signatures}` };
    },
    raise: async (kept: Kept) => ({ txid: `${kept.txid}+`, raw: `${kept.raw}+` }),
    outcome: async () => ({ state: script.state ?? 'waiting', next: true, gap: false }),
    isNonceDeep: async () => script.isDeep ?? false,
    forget: () => void heard.push('forgot'),
  };
  const policy = { normal: { confirmations: 2, settleSeconds: 60 } };
  const source = { adapter, nodes: [node(one), node(other)], view: { family: 'evm', policy } };
  const open = new Map<string, Commitment>();
  const input = {
    config: {
      store: dir,
      assets: [],
      addresses: new Map([['treasury', { evm: script.treasury ?? to }]]),
      chains: [
        {
          chain: 'evm',
          family: script.wallet === undefined ? 'evm' : 'bitcoin',
          chainId: 1,
          warnBelowSwaps: 0,
        },
      ],
    },
    chains: { evm: { source, wallet: script.wallet ?? wallet } } as unknown as OwnChains,
    store: { getSwap: async () => null, swapIds: async () => script.meanwhile?.() ?? [] },
    deals: new Map(),
    stock: { ...known(), payable: new Map(), costsOf: () => costs, read: async () => {} },
    promises: {
      commitments: () => [...open.values()],
      withdrawing: (of: Commitment) => {
        heard.push(`promised ${of.before.get(holdingOf(dollar))}`);
        open.set(of.id, of);
      },
      withdrawn: (id: string) => void open.delete(id),
    },
    log: { debug: () => {}, info: said, warn: () => {}, error: said },
    searchOn: () => async () => script.spent ?? null,
    now: () => 0,
    closedWhy: script.closedWhy ?? null,
    agreePauseMs: 0,
    signal: new AbortController().signal,
  };
  const withdrawals = createWithdrawals(input as unknown as WithdrawalsInput);
  return { ...withdrawals, heard, lines, open, input: input as unknown as WithdrawalsInput };
}

const stateOf = async (id: string) => {
  const found = await read(dir, id);
  return [found?.state, found?.kept?.txid];
};

test('it is promised, signed, on disk, and sent; a process after a kill sends the same bytes', async () => {
  await ask(dir, asked('one'));
  await assert.rejects(ask(dir, asked('one')), { code: 'exists' });
  const killed = processOf({ silent: true });
  await killed.look();
  assert.deepEqual(killed.heard, ['promised 100', 'signed', 'sent t1, on disk signed t1']);
  assert.deepEqual(await stateOf('one'), ['signed', 't1']);
  const next = processOf({ state: 'succeeded' });
  await next.resume();
  assert.deepEqual(next.heard, ['promised 100', 'sent t1, on disk signed t1']);
  await next.look();
  assert.deepEqual(await stateOf('one'), ['mined', 't1']);
  const last = processOf({ state: 'succeeded', isDeep: true });
  await last.resume();
  await last.look();
  assert.deepEqual(await stateOf('one'), ['paid', 't1']);
  assert.deepEqual(await openOnes(dir), { open: [], damaged: [] });
  await assert.rejects(ask(dir, asked('one')), { code: 'exists' }, 'its name is paid once');
  for (const each of [next, last]) assert.ok(!each.heard.includes('signed'), 'it is signed once');
});

test('a process that stops waits until what it signs is on disk', async () => {
  await ask(dir, asked('stopping'));
  const { look, stopped } = processOf({});
  const run = look();
  await stopped();
  assert.deepEqual(await stateOf('stopping'), ['signed', 't1']);
  await run;
  await keep(dir, asked('stopping', { state: 'failed' }));
});

test('what may not be paid is refused before it is signed, and promises nothing', async () => {
  for (const [id, script, more, why] of [
    ['late', {}, { untilMs: Date.now() - 1 }, /not taken up in time/],
    ['killed', {}, { state: 'taken' }, /ended before it was signed/],
    ['moved', { treasury: '0xother' }, {}, /of the maker that runs has 0xother on evm/],
    ['dear', {}, { amount: 501n }, /0.0005 usd are there/],
    ['closed', { closedWhy: 'a deal is damaged' }, {}, /a deal is damaged/],
    ['elsewhere', {}, { chain: 'tron' }, /name no chain "tron"/],
  ] as const) {
    await ask(dir, asked(id, more));
    const { look, heard, open } = processOf(script);
    await look();
    assert.match((await read(dir, id))?.why ?? '', why);
    assert.deepEqual([await stateOf(id), open.size], [['refused', undefined], 0]);
    assert.ok(!heard.includes('signed'), id);
  }
});

test('one that is on disk as taken after its time is not paid', async (t) => {
  await ask(dir, asked('tardy'));
  t.mock.timers.enable({ apis: ['Date'], now: Date.now() });
  const { look, heard } = processOf({ meanwhile: () => t.mock.timers.tick(60_001) });
  await look();
  assert.deepEqual([await stateOf('tardy'), heard], [['refused', undefined], []]);
});

test('nodes that differ about a balance have nothing signed', async () => {
  await ask(dir, asked('differ'));
  const { look, heard } = processOf({ held: [500n, 400n] });
  await look();
  assert.match((await read(dir, 'differ'))?.why ?? '', /differ about the balances of 0xown/);
  assert.deepEqual(heard, []);
});

test('a fee that no block takes is raised, and what is lost at depth is not paid', async () => {
  await ask(dir, asked('slow'));
  // Long ago, and by a clock that was set back since.
  for (const agoMs of [121_000, -86_400_000]) {
    const kept = { txid: 't1', raw: 't1', keptAtMs: Date.now() - agoMs };
    await keep(dir, asked('slow', { state: 'signed', kept }));
    const slow = processOf({});
    await slow.look();
    assert.deepEqual(slow.heard, ['sent t1+, on disk signed t1+'], 'on disk before it is sent');
  }
  const doubted = processOf({ state: 'lost' });
  await doubted.look();
  assert.deepEqual(await stateOf('slow'), ['signed', 't1+'], 'not before its nonce is deep');
  await processOf({ state: 'lost', isDeep: true }).look();
  assert.deepEqual(await stateOf('slow'), ['failed', 't1+']);
  assert.match((await read(dir, 'slow'))?.why ?? '', /nothing was paid/);
});

test('a payment of Bitcoin is paid by what a block shows, and by nothing else that spends its coins', async () => {
  const freed: string[] = [];
  const looked = async (raised: string, script: object = {}, spent: Spent | null = null) => {
    const wallet = {
      family: 'bitcoin',
      address: 'own',
      reserve: () => {},
      release: (raw: string) => freed.push(raw),
      confirmations: async () => null,
      signRaise: async () => raised,
    };
    const { look } = processOf({ wallet, silent: true, spent, ...script });
    await look();
    return [...(await stateOf('spent')), (await read(dir, 'spent'))?.why ?? null];
  };
  const gone = (spent: Spent | null) => looked('coins_gone', {}, spent);
  const own = { txid: 'b1', pays: true, blocks: 1 };
  const other = { txid: 'x', pays: false, blocks: 1 };
  const kept = { txid: 'b1', raw: 'b1', keptAtMs: Date.now() };
  await ask(dir, asked('spent'));
  const signed = asked('spent', { state: 'signed', kept });
  await keep(dir, signed);
  assert.deepEqual(await looked('no_fee'), ['signed', 'b1', null]);
  const searched = 'a block spends its coins: which one is searched';
  assert.deepEqual(await gone(null), ['signed', 'b1', searched]);
  // A node takes it once more, as a block has it already.
  assert.deepEqual(await looked('coins_gone', { silent: false }, own), ['mined', 'b1', null]);
  assert.deepEqual(await looked('no_fee'), ['signed', 'b1', null], 'a reorganisation took it back');
  assert.deepEqual(await gone({ ...own, blocks: 2 }), ['paid', 'b1', null]);
  await keep(dir, signed);
  const taken = 'another wallet of this key has spent its coins in x: ';
  assert.deepEqual(await gone(other), [
    'signed',
    'b1',
    `${taken}if that is final, the withdrawal paid nobody`,
  ]);
  const end = ['failed', 'b1', `${taken}the withdrawal paid nobody`];
  assert.deepEqual(await gone({ ...other, blocks: 2 }), end);
  assert.deepEqual(freed, ['b1']);
  await ask(dir, signed);
  assert.deepEqual(await stateOf('spent'), ['signed', 'b1'], 'it may be asked for again');
  await keep(dir, { ...signed, state: 'failed' });
});

const damages = [
  ['half', (file: string) => writeFile(file, '{"id":"half","sta')],
  ['empty', (file: string) => writeFile(file, '')],
  ['zeros', (file: string) => writeFile(file, '\0'.repeat(4_096))],
  ['later', (file: string) => writeFile(file, writeKept({ ...asked('later'), state: 'sealed' }))],
  ['bare', (file: string) => writeFile(file, writeKept(asked('bare', { state: 'signed' })))],
  ['other', (file: string) => writeFile(file, writeKept(asked('another')))],
  ['folder', (file: string) => mkdir(file)],
  // As an older version has named it.
  ['Older', (file: string) => writeFile(file, '')],
] as const;

test('one that has ended, and was not set aside by a process that was killed, is not open', async () => {
  await mkdir(join(dir, 'withdrawals'), { recursive: true });
  for (const state of ['refused', 'failed', 'paid'] as const) {
    const id = `over-${state}`;
    const kept = state === 'refused' ? null : { txid: 't1', raw: 't1' };
    const file = join(dir, 'withdrawals', `${id}.json`);
    await writeFile(file, writeKept(asked(id, { state, kept })));
    const { resume, look, heard, open } = processOf({});
    await resume();
    await look();
    assert.deepEqual([heard, open.size], [[], 0], state);
    assert.deepEqual((await openOnes(dir)).open, []);
    assert.equal((await read(dir, id))?.state, state);
  }
  await ask(dir, asked('over-failed'));
  await keep(dir, asked('over-failed', { state: 'failed' }));
});

test('a damaged file closes withdrawals and nothing else: what is signed goes on', async () => {
  const kept = { txid: 't1', raw: 't1', keptAtMs: Date.now() };
  await ask(dir, asked('going'));
  await keep(dir, asked('going', { state: 'signed', kept }));
  for (const [id, damage] of damages) {
    const file = join(dir, 'withdrawals', `${id}.json`);
    await damage(file);
    await ask(dir, asked('since'));
    const { look, resume, heard, lines } = processOf({});
    await resume();
    await look();
    const why = `withdrawals are closed, as ${file} cannot be read: `;
    assert.ok((await read(dir, 'since'))?.why?.startsWith(why), id);
    assert.deepEqual(lines, ['withdrawals_closed'], 'said once');
    assert.deepEqual(heard, ['promised 100', ...Array(2).fill('sent t1, on disk signed t1')]);
    await assert.rejects(read(dir, id), { code: 'withdrawals_closed' });
    await rm(file, { recursive: true });
    await look();
    assert.deepEqual(lines, ['withdrawals_closed', 'withdrawals_open']);
  }
  await keep(dir, asked('going', { state: 'failed' }));
});

test('a disk that takes no note of one withdrawal holds up no other', async () => {
  await ask(dir, asked('full', { askedAtMs: 1, untilMs: 2 }));
  await ask(dir, asked('free'));
  // Its refusal cannot be set aside.
  const place = join(dir, 'withdrawals', 'ended', 'full.json');
  await mkdir(place);
  const { look, heard } = processOf({});
  await look();
  assert.deepEqual(await stateOf('free'), ['signed', 't1'], heard.join());
  await rm(place, { recursive: true });
  for (const id of ['full', 'free']) await keep(dir, asked(id, { state: 'failed' }));
});

test('ids that differ in case are two withdrawals, and older names and marks are read', async (t) => {
  const own = await mkdtemp(join(tmpdir(), 'parley-maker-cases-'));
  t.after(() => rm(own, { recursive: true }));
  const folder = join(own, 'withdrawals');
  await mkdir(join(folder, 'ended'), { recursive: true });
  await mkdir(join(folder, 'told'));
  const older = (id: string) =>
    writeFile(join(folder, 'ended', `${id}.json`), writeKept(asked(id, { state: 'refused' })));
  for (const id of ['Heard', 'Untold']) await older(id);
  await writeFile(join(folder, 'told', 'Heard.json'), '{}');
  const untold = async () => (await untoldOnes(own)).map(({ id }) => id).sort();
  assert.deepEqual(await untold(), ['Untold']);
  for (const id of ['pay', 'Pay']) await ask(own, asked(id));
  assert.deepEqual(await untold(), ['Pay', 'Untold', 'pay']);
  assert.deepEqual((await readdir(folder)).sort(), ['+pay.json', 'ended', 'pay.json', 'untold']);
  // One of an older name is written by the name of now.
  const before = join(folder, 'Before.json');
  await writeFile(before, writeKept(asked('Before')));
  await keep(own, asked('Before', { state: 'taken' }));
  const open = (await openOnes(own)).open.map(({ id, state }) => `${id} ${state}`);
  assert.deepEqual(open.sort(), ['Before taken', 'Pay asked', 'pay asked']);
  assert.ok(!(await readdir(folder)).includes('Before.json'));
  for (const id of ['pay', 'Untold']) await told(own, asked(id));
  assert.deepEqual(await untold(), ['Pay']);
});

test('what a maker has promised while a person was asked is not paid', async () => {
  let desk = processOf({});
  const store = { lock: async () => ({ release: async () => {} }) };
  const look = lookingAlone(dir, store, async () => desk.input);
  await look();
  desk = processOf({});
  desk.open.set('q', promised(dollar, 500n));
  await ask(dir, asked('since'));
  await look();
  assert.match((await read(dir, 'since'))?.why ?? '', /0.0005 usd are promised/);
});

test('the same command again pays nothing anew until somebody was told the end', async () => {
  const config = { store: dir } as Parameters<typeof begunOf>[0];
  const target = { asset: { name: 'usd', decimals: 6 } } as Parameters<typeof begunOf>[2];
  const again = (...args: string[]) =>
    begunOf(config, withdrawAsked(args), target, { err: () => {} });
  await ask(dir, asked('first', { amount: 7_000_000n }));
  assert.equal(await again('usd', '7', 'treasury'), 'first');
  assert.equal(await again('usd', '8', 'treasury'), null);
  assert.equal(await again('usd', '7', 'cold'), null);
  await ask(dir, asked('named', { amount: 8_000_000n, isNamed: true }));
  assert.equal(await again('usd', '8', 'treasury'), null, 'it is another payment');
  const kept = { txid: 't', raw: 't' };
  await keep(dir, asked('first', { amount: 7_000_000n, state: 'paid', kept }));
  assert.equal(await again('usd', '7', 'treasury'), 'first', 'nobody was told');
  await ask(dir, asked('second', { amount: 9_000_000n }));
  await keep(dir, asked('second', { amount: 9_000_000n, state: 'mined', kept }));
  assert.equal(await again('usd', '9', 'treasury'), 'second');
  await told(dir, asked('second'));
  assert.equal(await again('usd', '9', 'treasury'), null, 'it is in a block, and was told');
  await told(dir, asked('first'));
  assert.equal(await again('usd', '7', 'treasury'), null);
  assert.equal(await again('usd', '7', 'treasury', '--id', 'first'), 'first');
  await assert.rejects(again('usd', '8', 'treasury', '--id', 'first'), /was asked for as 7 usd/);
  await keep(dir, asked('named', { amount: 8_000_000n, isNamed: true, state: 'failed' }));
  const named = () => again('usd', '8', 'treasury', '--id', 'named');
  assert.equal(await named(), 'named', 'that it failed is told first');
  await told(dir, asked('named'));
  assert.equal(await named(), null, 'it may be paid now');
});
