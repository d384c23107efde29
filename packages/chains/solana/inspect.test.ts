// The findings about tokens before anybody may trade them: mints made by the token programs
// themselves, and accounts that are no mints.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { type TestContext, test } from 'node:test';
import {
  issuerOf,
  type MintOptions,
  makeMint,
} from '@parley/dev/simulators/solana/testing/mints.ts';
import { defaultPowerRules, type Inspection, type PowerRules } from '@parley/tokens/inspection.ts';
import type { Address } from '@solana/kit';
import { rpcClient } from '../nodes/rpc.ts';
import { readMintAt } from './checks/mint.ts';
import { metadataAddress } from './checks/name.ts';
import { checkTransfer } from './inspect.ts';
import { accountsAt } from './node.ts';
import { solanaDeployment } from './plan.ts';
import {
  associatedTokenAccount,
  metadataProgram,
  token2022Program,
  tokenProgram,
} from './programs.ts';
import { metaplexAccount } from './testing/metaplex.ts';
import type { Call } from './testing/nodes.ts';
import {
  lyingAdapter,
  newWorld,
  refuses,
  SOL,
  soon,
  type World,
  walletOf,
} from './testing/world.ts';

const GOOD = { name: 'Good Token', symbol: 'GOOD' };
const funder = walletOf('funder') as Address;

type Options = Partial<MintOptions> & { readonly name: string };

/** A mint of which the funder has all, which nobody has powers over. */
const made = ({ chain }: World, options: Options) =>
  makeMint(chain, { holder: funder, ...options });

async function look(
  { adapter }: Pick<World, 'adapter'>,
  token: string,
  rules: PowerRules = defaultPowerRules,
): Promise<Inspection> {
  const found = await adapter.inspect?.(token, rules, soon());
  assert.ok(found);
  for (const { outcome, reason } of found.findings) {
    assert.equal(outcome === 'pass', reason === null, `${outcome}: ${reason}`);
  }
  return found;
}

/** Checks that did not pass, with their outcome and reason. */
const objections = ({ findings }: Inspection) =>
  findings.flatMap(({ check, outcome, reason }) =>
    outcome === 'pass' ? [] : [`${check} ${outcome}: ${reason}`],
  );
const checksOf = ({ findings }: Inspection) => findings.map(({ check }) => check);
const all = ['mint', 'extensions', 'mintable', 'blacklist', 'name', 'transfer'];

function putMetaplex({ chain }: World, mint: string, data: Uint8Array, owner = metadataProgram) {
  chain.put(metadataAddress(mint), {
    lamports: SOL,
    owner: owner as Address,
    data,
    executable: false,
  });
}

/** An adapter whose node tells all it is asked, and lies where `lie` does. */
async function spied(
  context: TestContext,
  world: World,
  lie: (call: Call) => object | null = () => null,
) {
  const calls: Call[] = [];
  const adapter = await lyingAdapter(context, world, (call, forward) => {
    calls.push(call);
    return lie(call) ?? forward();
  });
  const count = (method: string) => calls.filter((call) => call.method === method).length;
  return { adapter, calls, count };
}

test('a classic token that nobody has powers over passes all checks, with what it is called', async (context) => {
  const world = await newWorld(context);
  const mint = await made(world, { name: 'classic', decimals: 9 });
  putMetaplex(world, mint, metaplexAccount(mint, { name: 'Good Token', symbol: 'GOOD' }));
  const { adapter, count } = await spied(context, world);
  const found = await look({ adapter }, mint);
  assert.deepEqual(objections(found), []);
  assert.deepEqual(checksOf(found), all);
  const { address, symbol, name, decimals } = found;
  assert.deepEqual([address, symbol, name, decimals], [mint, 'GOOD', 'Good Token', 9]);
  assert.equal(count('simulateTransaction'), 1);
});

test('Token-2022 with metadata of its own, or of Metaplex, passes too, through an escrow', async (context) => {
  const world = await newWorld(context);
  const own = await made(world, { name: 'own metadata', metadata: GOOD });
  const closable = await made(world, {
    name: 'closable',
    metadata: GOOD,
    extensions: ['closeAuthority'],
  });
  const bare = await made(world, { name: 'bare', isToken2022: true });
  putMetaplex(world, bare, metaplexAccount(bare, GOOD));
  const { adapter, count } = await spied(context, world);
  for (const mint of [own, closable, bare]) {
    const found = await look({ adapter }, mint);
    assert.deepEqual(objections(found), []);
    assert.deepEqual([found.symbol, found.name], ['GOOD', 'Good Token']);
  }
  assert.equal(count('simulateTransaction'), 3);
});

test('an authority that can make more or freeze is named, and becomes what the rules say', async (context) => {
  const world = await newWorld(context);
  const { address: issuer } = await issuerOf();
  const mint = await made(world, {
    name: 'powers',
    isMintable: true,
    isFreezable: true,
    metadata: GOOD,
  });
  for (const outcome of ['wait', 'reject'] as const) {
    const rules = { ...defaultPowerRules, mintable: outcome, blacklist: outcome };
    assert.deepEqual(objections(await look(world, mint, rules)), [
      `mintable ${outcome}: ${issuer} can make more of it`,
      `blacklist ${outcome}: ${issuer} can freeze any holding, an escrow’s too`,
    ]);
  }
  const lenient = { ...defaultPowerRules, mintable: 'pass', blacklist: 'pass' } as const;
  assert.deepEqual(objections(await look(world, mint, lenient)), []);
});

test('a trial goes through the escrow program itself, which refuses what it must', async (context) => {
  const world = await newWorld(context);
  const rpc = rpcClient({ chain: 'solana-dev', urls: [world.chain.info.rpcUrl] });
  const at = { chain: 'solana-dev', rpc, deployment: solanaDeployment };
  for (const [extension, outcome] of [
    ['transferFee', 'wait'],
    ['closeAuthority', 'pass'],
  ] as const) {
    const mint = await made(world, { name: extension, extensions: [extension] });
    const { accounts } = await accountsAt(rpc, [mint], 'confirmed', soon());
    const read = readMintAt('solana-dev', mint, accounts[0] ?? null);
    const { outcome: is, reason } = await checkTransfer(at, read, soon());
    assert.equal(is, outcome);
    if (outcome === 'pass') continue;
    const words = `a trial of 1000000000000 base units of ${funder} in an escrow failed: `;
    assert.equal(reason, `${words}the escrow program says UnsafeMint`);
  }
});

test('where nobody holds it who could be tried with, it passes untried', async (context) => {
  const world = await newWorld(context);
  const holders = {
    empty: walletOf('has no lamports'),
    poor: walletOf('has few lamports'),
    program: associatedTokenAccount(funder, world.dollar, tokenProgram),
  };
  await world.chain.give({ address: holders.poor, token: null, amount: SOL / 200n });
  for (const [name, holder] of Object.entries(holders)) {
    const mint = await made(world, { name, holder: holder as Address, metadata: GOOD });
    const { adapter, count } = await spied(context, world);
    assert.deepEqual(objections(await look({ adapter }, mint)), []);
    assert.equal(count('simulateTransaction'), 0, name);
  }
  // Many public nodes answer so for every token.
  const error = { code: -32_010, message: 'excluded from account secondary indexes' };
  const mint = await made(world, { name: 'untold', metadata: GOOD });
  const { adapter, count } = await spied(context, world, ({ method }) =>
    method === 'getTokenLargestAccounts' ? { error } : null,
  );
  assert.deepEqual(objections(await look({ adapter }, mint)), []);
  assert.equal(count('simulateTransaction'), 0);
});

test('an account that is no mint is no token, and why', async (context) => {
  const world = await newWorld(context);
  const { chain, adapter } = world;
  const put = (name: string, owner: string, data: Uint8Array, executable = false) => {
    const of = walletOf(name);
    chain.put(of, { lamports: SOL, owner: owner as Address, data, executable });
    return of;
  };
  const program = new Uint8Array(
    readFileSync(new URL('../../../contracts/solana/parley_escrow.so', import.meta.url)),
  );
  const loader = 'BPFLoader2111111111111111111111111111111111';
  /** A group of signers, whose keys say that it is a mint. */
  const group = new Uint8Array(355).fill(1);
  const extended = new Uint8Array(200).fill(1);
  for (const [token, words] of [
    [walletOf('nobody at all'), /there is no account/],
    [funder, /it is a wallet/],
    [associatedTokenAccount(funder, world.dollar, tokenProgram), /165 bytes, and no mint/],
    [put('a program', loader, program, true), /it is a program/],
    [put('of another', metadataProgram, new Uint8Array(82)), /belongs to metaqbxx.* token program/],
    [put('empty', tokenProgram, new Uint8Array(82)), /never set up/],
    [put('nothing', tokenProgram, new Uint8Array()), /0 bytes, and no mint/],
    [put('short', token2022Program, new Uint8Array(90)), /90 bytes, and no mint/],
    [put('group', token2022Program, group), /355 bytes, and no mint/],
    [put('classic group', tokenProgram, group), /355 bytes, and no mint/],
    [put('classic, extended', tokenProgram, extended), /200 bytes, and no mint/],
  ] as const) {
    const asked = adapter.inspect?.(token, defaultPowerRules, soon());
    await refuses(asked ?? Promise.resolve(), 'not_a_token', words);
  }
});

test('no supply is a reason to wait; more decimals than a supply can have are one to reject', async (context) => {
  const world = await newWorld(context);
  const none = await makeMint(world.chain, { name: 'none', isMintable: true, metadata: GOOD });
  assert.match(objections(await look(world, none)).join(), /mint wait: its supply is 0,mintable/);
  for (const [decimals, words] of [
    [19, /^$/],
    [20, /^mint reject: it has 20 decimals/],
  ] as const) {
    const mint = await made(world, { name: `${decimals}`, decimals, metadata: GOOD });
    assert.match(objections(await look(world, mint)).join(), words);
  }
});
