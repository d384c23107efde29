// A token funded by a signature, on a real anvil and bitcoind: by a permit in one transaction, or
// by an authorization that others send. The market is a stand-in that answers by the pure code.

import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import type { Hex } from 'viem';
import { privateKeyToAccount } from 'viem/accounts';
import { encodeFunctionData } from 'viem/utils';
import { evmDeployment, evmEscrow } from '../chains/evm/plan.ts';
import { parseSignature } from '../chains/evm/ways.ts';
import type { Owed, Warning } from '../chains/interface/gas.ts';
import type { EvmCall, FundAlternative, TypedData } from '../chains/interface/material.ts';
import type { SigningReads } from '../chains/interface/tokens.ts';
import { ParleyError } from '../core/errors.ts';
import { contextOf } from './settle/context.ts';
import { tendAuthorization } from './settle/ways.ts';
import { type Progress, type SettleInput, settle } from './settle.ts';
import { settleMany } from './settle-many.ts';
import type { Store, SwapRecord } from './stores/store.ts';
import { onChains } from './testing/evm-account.ts';
import type { FourChains } from './testing/four-chains.ts';
import { type Coin, coinAbi, newCoin, offering } from './testing/paper-ways.ts';
import {
  type Anvil,
  anvilOf,
  evmKey,
  hastySide,
  isFunded,
  later,
  rpcUrlOf,
  running,
  until,
  withAdapter,
} from './testing/sides.ts';
import { timed } from './testing/timed.ts';
import { evmWallet } from './wallets/evm.ts';
import type { EvmWallet } from './wallets/wallet.ts';

const root = join(import.meta.dirname, '..');
const chainId = 31_337;
const { contract } = evmDeployment(chainId);
let chains: FourChains;
let anvil: Anvil;
let coin: Coin;
let keeper: EvmWallet;
let rpcUrl: string;

onChains(async (on) => {
  chains = on.chains;
  anvil = await anvilOf(chains);
  coin = await newCoin(anvil);
  rpcUrl = await rpcUrlOf(chains, 'evm');
  keeper = newWallet();
  await chains.dev.faucet({ chain: evmKey, address: keeper.address });
});

const newWallet = (privateKey = `0x${randomBytes(32).toString('hex')}`) =>
  evmWallet({ rpcUrl, chainId, privateKey });
const countOf = async (address: string) =>
  Number(await anvil.call<string>('eth_getTransactionCount', [address, 'latest']));
const etherOf = async (address: string) =>
  BigInt(await anvil.call<string>('eth_getBalance', [address, 'latest']));

/** What is made while the maker has this wallet. */
function withMaker<T>(wallet: EvmWallet, make: () => T): T {
  const { maker } = chains.walletsOf;
  const { evm } = maker;
  maker.set(evmKey, wallet);
  try {
    return make();
  } finally {
    maker.set(evmKey, evm);
  }
}

type Makes = {
  readonly key?: Hex;
  readonly gas: boolean;
  /** Of the coin. */
  readonly held?: bigint;
  readonly more?: Partial<SettleInput>;
  /** What stands in the place of the wallet's own signing. */
  readonly signs?: (wallet: EvmWallet, data: TypedData, signal: AbortSignal) => Promise<string>;
};

/** A maker who gives 500 dollars of that coin, with a wallet of its own, and its taker. */
async function making({ gas, key, held = 1_000_000_000n, more = {}, signs }: Makes) {
  const own = newWallet(key);
  const texts: TypedData[] = [];
  const signTypedData = async (data: TypedData, signal: AbortSignal): Promise<string> => {
    texts.push(data);
    if (signs !== undefined) return signs(own, data, signal);
    return (await own.signTypedData?.(data, signal)) ?? '';
  };
  const wallet = { ...own, signTypedData };
  if (gas) await chains.dev.faucet({ chain: evmKey, address: own.address });
  await coin.mint(own.address, held);
  const scene = withMaker(wallet, () => chains.swap(undefined, coin));
  const given = await withMaker(wallet, () => hastySide(scene, 'maker', more));
  const taker = await hastySide(scene, 'taker');
  const { input, relay } = offering(given, { scene, coin, keeper, party: 'maker' });
  const told: Progress[] = [];
  const maker = { ...input, onProgress: (each: Progress) => void told.push(each) };
  return { scene, maker, taker, relay, wallet, texts, told };
}

/** The side with another word of its own node about tokens. */
function reading(input: SettleInput, more: Partial<SigningReads>): SettleInput {
  return withAdapter(input, evmKey, ({ signing }) =>
    signing === undefined ? {} : { signing: { ...signing, ...more } },
  );
}

/** Both to their ends. */
async function ends(...sides: readonly SettleInput[]) {
  return (await Promise.all(sides.map((side) => settle(side)))).map(({ end }) => end);
}

const received = ['received', 'received'];

timed('a permit of exactly the amount funds in one transaction', async () => {
  const { maker, taker, wallet, texts } = await making({ gas: true });
  assert.deepEqual(await ends(maker, taker), received);
  assert.deepEqual(
    texts.map(({ primaryType, message }) => [primaryType, message.value]),
    [['Permit', '500000000']],
  );
  assert.equal(await countOf(wallet.address), 1);
  assert.equal(await coin.read('allowance', [wallet.address, contract]), 0n);
});

timed('a standing permit is signed once: the next swap needs none', async () => {
  const first = await making({ gas: true, more: { allowance: 'standing' } });
  assert.deepEqual(await ends(first.maker, first.taker), received);
  assert.equal(first.texts[0]?.message.value, `${2n ** 256n - 1n}`);
  assert.ok((await coin.read('allowance', [first.wallet.address, contract])) >= 500_000_000n);
  const scene = withMaker(first.wallet, () => chains.swap(undefined, coin));
  const given = await withMaker(first.wallet, () => hastySide(scene, 'maker'));
  const { input } = offering(given, { scene, coin, keeper, party: 'maker' });
  assert.deepEqual(await ends(input, await hastySide(scene, 'taker')), received);
  assert.equal(first.texts.length, 1);
  assert.equal(await countOf(first.wallet.address), 2);
});

timed('a permit that somebody else used first does not stop the funding', async () => {
  const frontRun = async (wallet: EvmWallet, data: TypedData, signal: AbortSignal) => {
    const signature = (await wallet.signTypedData?.(data, signal)) ?? '';
    const { v, r, s } = parseSignature(signature);
    const { owner, spender, value, deadline } = data.message;
    const args = [owner, spender, BigInt(value ?? 0), BigInt(deadline ?? 0), v, r, s];
    const call = { abi: coinAbi, functionName: 'permit', args } as never;
    const [from] = await anvil.call<string[]>('eth_accounts');
    const sent = { from, to: coin.address, data: encodeFunctionData(call) as Hex };
    await anvil.call('eth_sendTransaction', [sent]);
    return signature;
  };
  const { maker, taker, wallet } = await making({ gas: true, signs: frontRun });
  assert.deepEqual(await ends(maker, taker), received);
  assert.equal(await countOf(wallet.address), 1);
});

timed('a permit that fails on the own node gives way to an approval', async () => {
  const { maker, taker, wallet, told } = await making({ gas: true });
  const refusing = reading(maker, { trial: async () => 'it reverts' });
  assert.deepEqual(await ends(refusing, taker), received);
  assert.equal(await countOf(wallet.address), 2);
  assert.ok(told.some(({ text }) => text === 'approves instead of a permit: it reverts'));
});

/** The program of docs/funding.md, placed where it stands. */
async function documented() {
  const text = await readFile(join(root, 'docs/funding.md'), 'utf8');
  const [, program = ''] = /```ts\n(import [\s\S]*?)```/.exec(text) ?? [];
  const dir = await mkdtemp(join(tmpdir(), 'parley-funding-'));
  try {
    const file = join(dir, 'sign-funding.ts');
    const base = pathToFileURL(`${root}/`).href;
    await writeFile(file, program.replaceAll(/(?<=from ')\.\//g, base));
    const { signFunding } = await import(file);
    return signFunding as (...given: readonly unknown[]) => Promise<{ call: EvmCall }>;
  } finally {
    await rm(dir, { recursive: true, force: true });
  }
}

timed('the program of docs/funding.md makes the call that anybody may send', async () => {
  const signFunding = await documented();
  const key: Hex = `0x${randomBytes(32).toString('hex')}`;
  const { scene, maker, taker } = await making({ gas: false, key });
  await until(taker, isFunded);
  const trade = scene.market.trade('maker');
  const { client, swapId, sources } = maker;
  const { call } = await signFunding(client, swapId, trade, sources, privateKeyToAccount(key));
  const { adapter } = sources.get(evmKey) ?? assert.fail();
  const signal = AbortSignal.timeout(15_000);
  const { raw } = await keeper.sign(chainId, call, signal);
  await adapter.broadcast(await adapter.readSigned(raw, signal), signal);
  const watched = scene.market.watched('a');
  while ((await adapter.readEscrow(watched, signal)).funded === null) await sleep(50);
});

timed('without gas one signature funds, and the market sends it', async () => {
  const { maker, taker, wallet, relay, texts } = await making({ gas: false });
  assert.deepEqual(await ends(maker, taker), received);
  assert.deepEqual([await etherOf(wallet.address), await countOf(wallet.address)], [0n, 0]);
  assert.deepEqual(
    texts.map(({ primaryType }) => primaryType),
    ['ReceiveWithAuthorization'],
  );
  assert.equal(new Set(relay.given.map(({ signature }) => signature)).size, 1);
});

timed(
  'a signature is kept before the market has it, and handed out again after a crash',
  async () => {
    const { maker, taker, relay, texts, scene } = await making({ gas: false });
    const others = running(taker);
    let atOnce: string | undefined;
    const store: Store = {
      ...maker.store,
      putSwap: async (record) => {
        if (record.authorization) assert.deepEqual(relay.given, []);
        await maker.store.putSwap(record);
        atOnce ??= record.authorization?.signature;
      },
    };
    await until({ ...maker, store }, ({ step }) => step === 'signed');
    assert.deepEqual(relay.given, []);
    // Whatever the market says of the leg meanwhile.
    const { escrow } = (await maker.store.getSwap(maker.swapId))?.authorization ?? {};
    assert.equal(escrow, scene.market.watched('a').address);
    assert.deepEqual(await ends(maker), ['received']);
    assert.equal((await others.end).end, 'received');
    assert.equal(texts.length, 1);
    assert.deepEqual(
      relay.given.map(({ signature }) => signature),
      relay.given.map(() => atOnce),
    );
  },
);

timed('where the market does not send it, this side does once it has gas', async () => {
  const { scene, maker, taker, relay, wallet, texts } = await making({ gas: false });
  relay.does = 'refuse';
  const others = running(taker);
  const own = running({ ...maker, marketPollMs: 100 });
  await own.next('market_refused');
  // Another escrow of the same hashlock is for nobody to sign now.
  const { terms, address: signed } = scene.market.watched('a');
  const lane = { number: '5a'.repeat(12), counter: 1 };
  const { address: escrow } = evmEscrow({ ...terms, lane }, evmDeployment(chainId));
  scene.market.lie((swap) => {
    const a = { ...swap.legs.a, lane, escrow };
    return { ...swap, legs: { ...swap.legs, a } };
  });
  while (relay.given.length < 4) await sleep(50);
  assert.ok(relay.given.every((given) => given.escrow === signed));
  const { legs } = (await maker.store.getSwap(maker.swapId))?.swap ?? {};
  assert.equal(legs?.a.escrow?.address, signed);
  scene.market.lie((swap) => swap);
  // What it says that it has sent is not believed for ever either.
  relay.does = 'pretend';
  await chains.dev.faucet({ chain: evmKey, address: wallet.address });
  assert.equal((await own.end).end, 'received');
  assert.equal((await others.end).end, 'received');
  assert.equal(await countOf(wallet.address), 1);
  assert.equal(texts.length, 1);
});

/** Kept, and in nobody's hands: its side was stopped right then. */
async function signedOnly() {
  const made = await making({ gas: false });
  const { maker, taker, relay } = made;
  await until(taker, isFunded);
  await until(maker, ({ step }) => step === 'signed');
  assert.deepEqual(relay.given, []);
  const record = (await maker.store.getSwap(maker.swapId)) ?? assert.fail();
  assert.ok(record.authorization);
  const tend = async (side: SettleInput, more: Partial<SwapRecord> = {}) => {
    await side.store.putSwap({ ...record, ...more });
    const context = contextOf(side);
    await context.store.getSwap(side.swapId);
    await tendAuthorization(context);
    return context.record;
  };
  return { ...made, record, tend };
}

timed('a kept signature goes out only where a new funding would', async () => {
  const { maker, relay, record, tend } = await signedOnly();
  const differs = async () => {
    throw new ParleyError('chain_unavailable', 'its nodes differ', {});
  };
  await assert.rejects(tend(withAdapter(maker, evmKey, () => ({ mustAgree: differs }))), {
    message: 'its nodes differ',
  });
  const tooLate = later(maker, record.swap.deadlines.counterpartyFundBy - chains.now() + 60);
  await assert.rejects(tend(tooLate), { code: 'too_late_to_fund' });
  const { chain: btc } = record.swap.legs.b;
  const fundsShortage = async (owed: Owed, address: string): Promise<Warning | null> =>
    owed.claims.length === 0
      ? null
      : { code: 'fee_poor', verb: 'claim', address, sentence: 'no fee for its own claim' };
  const poor = withAdapter(maker, btc, () => ({ fundsShortage }));
  await assert.rejects(tend(poor), { code: 'claim_unpayable' });
  assert.deepEqual(relay.given, []);
});

timed('it is sent with the own gas only beside all that the wallet owes', async () => {
  const { maker, relay, record, tend, wallet } = await signedOnly();
  relay.does = 'refuse';
  await chains.dev.faucet({ chain: evmKey, address: wallet.address });
  const fundsShortage = async (owed: Owed, address: string): Promise<Warning | null> =>
    owed.claims.length === 0
      ? null
      : { code: 'fee_poor', verb: 'claim', address, sentence: 'too little for both' };
  const short = withAdapter(maker, evmKey, () => ({ fundsShortage }));
  // A swap that pays this wallet on the chain where it funds this one.
  const id = crypto.randomUUID();
  const other: SwapRecord = {
    ...record,
    trade: { ...record.trade, party: 'taker', threadId: id },
    swap: { ...record.swap, id, hashlock: '5a'.repeat(32) },
    owedBy: wallet.address,
  };
  await maker.store.putSwap(other);
  await assert.rejects(tend(short), { code: 'claim_unpayable', message: new RegExp(id) });
  assert.equal((await maker.store.getSwap(maker.swapId))?.funding, null);
  await maker.store.putSwap({ ...other, owedBy: null });
  const dead = { txid: `0x${'de'.repeat(32)}`, raw: '0x' };
  const { funding } = await tend(short, { funding: dead });
  assert.deepEqual(funding?.former, [dead.txid]);
});

timed(
  'a signature that nobody sends is over when its chain says so at depth, and not before',
  async () => {
    const { maker, taker, relay, texts } = await making({ gas: false });
    relay.does = 'pretend';
    await until(taker, isFunded);
    await until(maker, isFunded);
    const record = await maker.store.getSwap(maker.swapId);
    const validBefore = record?.authorization?.validBefore ?? 0;
    const late = later(maker, validBefore - chains.now() + 4_000);
    const at = (mayOpen: boolean) =>
      withAdapter(late, evmKey, ({ ways }) =>
        ways === undefined ? {} : { ways: { ...ways, mayOpen: async () => mayOpen } },
      );
    await until(at(true), ({ step, text }) => step === 'waiting' && /may land until/.test(text));
    assert.ok((await maker.store.getSwap(maker.swapId))?.authorization);
    const outcome = await settle(at(false));
    assert.equal(outcome.end, 'nothing');
    assert.equal((await maker.store.getSwap(maker.swapId))?.authorization, null);
    assert.equal(texts.length, 1);
  },
);

timed('what another key has signed is handed out to nobody', async () => {
  const signs = async (_: EvmWallet, data: TypedData, signal: AbortSignal) =>
    (await keeper.signTypedData?.(data, signal)) ?? '';
  const { maker, taker, relay } = await making({ gas: false, signs });
  await until(taker, isFunded);
  await assert.rejects(settle(maker), { code: 'no_wallet' });
  assert.deepEqual(relay.given, []);
  assert.equal((await maker.store.getSwap(maker.swapId))?.authorization, undefined);
});

type Lie = (alternative: FundAlternative) => unknown;
const message =
  (more: Record<string, string>): Lie =>
  (each) => ({
    ...each,
    typedData: each.typedData && {
      ...each.typedData,
      message: { ...each.typedData.message, ...more },
    },
  });
const domain =
  (more: Record<string, string>): Lie =>
  (each) => ({
    ...each,
    typedData: each.typedData && {
      ...each.typedData,
      domain: { ...each.typedData.domain, ...more },
    },
  });
const stranger = `0x${'5a'.repeat(20)}`;
const lies: Record<string, Lie> = {
  'pays somebody else': message({ to: stranger, spender: stranger }),
  'moves more': message({ value: '1000000000' }),
  'lasts longer': message({ validBefore: '99999999999', deadline: '99999999999' }),
  'is of another escrow, or has another owner': message({
    nonce: `0x${'11'.repeat(32)}`,
    owner: stranger,
  }),
  'is for another token': domain({ verifyingContract: stranger }),
  'is for another chain': domain({ chainId: '1' }),
  'has a domain that is not the token’s': domain({ name: 'Dev Coins' }),
  'is another message': (each) => ({
    ...each,
    typedData: each.typedData && { ...each.typedData, primaryType: 'TransferWithAuthorization' },
  }),
  'is carried by another call': (each) => ({
    ...each,
    call: each.call && { ...each.call, to: stranger },
  }),
};

timed('a text that differs from the own terms is never signed', async () => {
  for (const gas of [true, false]) {
    const { maker, taker, relay, texts } = await making({ gas });
    await until(taker, isFunded);
    for (const [what, lie] of Object.entries({ ...lies, 'is none': () => null })) {
      relay.alter = lie;
      await assert.rejects(settle(maker), { name: 'VerificationError' }, `${gas}: ${what}`);
      assert.deepEqual(texts, [], what);
    }
    assert.deepEqual(relay.given, []);
  }
});

timed('a wallet with too few tokens is told both numbers before it pays an approval', async () => {
  const more = { fundingWays: ['approval'] } as const;
  const { maker, taker, wallet } = await making({ gas: true, held: 499_999_999n, more });
  await until(taker, isFunded);
  const short = / has 499999999 of token .* leg a takes 500000000$/;
  await until(maker, ({ step, text }) => step === 'waiting' && short.test(text));
  assert.equal(await countOf(wallet.address), 0);
  await coin.mint(wallet.address, 1n);
  assert.deepEqual(await ends(maker, taker), received);
});

timed('a leg without gas that somebody refunds in a batch ends its swap', async () => {
  const { maker, taker, wallet } = await making({ gas: false });
  await Promise.all([until(taker, isFunded), until(maker, isFunded)]);
  const record = await maker.store.getSwap(maker.swapId);
  assert.ok(record);
  await chains.move(record.swap.legs.a.timelock - chains.now() + 60);
  const { sources, store } = maker;
  const wallets = new Map([[evmKey, keeper]]);
  const { batches } = await settleMany({ chain: evmKey, sources, wallets, store, pollMs: 50 });
  assert.deepEqual(
    batches.map(({ verb, swapIds, state }) => [verb, swapIds, state]),
    [['refund', [maker.swapId], 'mined']],
  );
  const { end, txids } = await settle(maker);
  assert.deepEqual([end, txids.a.refund], ['refunded', batches[0]?.txid]);
  assert.equal(await countOf(wallet.address), 0);
});
