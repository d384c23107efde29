// Wallets of TRON and Solana, whose transactions die by themselves, against the dev chains: their
// signatures, and when they call a transaction dead.

import assert from 'node:assert/strict';
import { after, before, type TestContext, test } from 'node:test';
import { ed25519 } from '@noble/curves/ed25519.js';
import { bytesToHex } from '@noble/hashes/utils.js';
import type {
  SolanaMaterial,
  TronMaterial,
  TronTransaction,
} from '@parley/chains/interface/material.ts';
import {
  readTransaction,
  unsignedTransaction,
  withBlockhash,
} from '@parley/chains/solana/message.ts';
import { materialProblems, solanaDeployment } from '@parley/chains/solana/plan.ts';
import { lyingNode as solanaLies } from '@parley/chains/solana/testing/nodes.ts';
import * as onSolana from '@parley/chains/solana/testing/world.ts';
import { tronAdapter } from '@parley/chains/tron/adapter.ts';
import { signTronTransaction } from '@parley/chains/tron/broadcast.ts';
import { tronDevPolicy } from '@parley/chains/tron/policy.ts';
import * as onTron from '@parley/chains/tron/testing/chain.ts';
import { lyingNode as tronLies } from '@parley/chains/tron/testing/nodes.ts';
import { ParleyError } from '@parley/core/errors.ts';
import { hashlockOf } from '@parley/core/hashlock.ts';
import { base64 } from '@scure/base';
import type { WalletError } from '../errors.ts';
import type { Kept } from '../stores/store.ts';
import { asking } from './asking.ts';
import { solanaWallet } from './solana.ts';
import { tronWallet } from './tron.ts';
import { outcomeByAll, type TxOutcome } from './wallet.ts';

const soon = () => AbortSignal.timeout(30_000);
const newHashlock = () => hashlockOf(bytesToHex(crypto.getRandomValues(new Uint8Array(32))));
const undo: (() => unknown)[] = [];
/** The context of the whole file. */
const context = { after: (step: () => unknown) => void undo.unshift(step) } as TestContext;
after(async () => {
  for (const step of undo) await step();
});

type Chain = {
  readonly url: string;
  /** Fundings of new terms, all of the same. */
  fundings(count: number): Promise<Kept[]>;
  /** As anybody may. */
  send(kept: Kept): Promise<unknown>;
  /** Past what the adapter tries first. */
  force(kept: Kept): Promise<unknown>;
  mine(): Promise<unknown>;
  /** Until the newest block is past the end of it. */
  outlive(kept: Kept): Promise<unknown>;
  finalise(): Promise<unknown>;
  stateOf(kept: Kept, ...urls: string[]): Promise<string>;
  /** A node that has seen nothing since now, and one that names its newest block and fails then. */
  behind(): Promise<string>;
  failing(): Promise<string>;
};

let world: onSolana.World;
async function solana(): Promise<Chain> {
  world = await onSolana.newWorld(context);
  const { chain, adapter } = world;
  const url = chain.info.rpcUrl;
  const height = async () =>
    Number(await chain.rpc.getBlockHeight({ commitment: 'processed' }).send());
  const walletOn = (...rpcUrls: string[]) =>
    solanaWallet({ chain: 'solana-dev', rpcUrls, secretKey: onSolana.seedOf('funder') });
  return {
    url,
    fundings: async (count) => {
      const escrow = onSolana.escrowIn(world, { hashlock: newHashlock() });
      const all: Kept[] = [];
      for (let made = 0; made < count; made += 1) {
        const built = await adapter.buildFund(onSolana.built(escrow), soon());
        all.push(await walletOn(url).sign(built as SolanaMaterial, soon()));
        await chain.mine(2);
      }
      return all;
    },
    send: async ({ raw }) => adapter.broadcast(await adapter.readSigned(raw, soon()), soon()),
    force: ({ raw }) => onSolana.sendRaw(world, raw),
    mine: () => chain.mine(2),
    outlive: async ({ lastValidBlockHeight = 0 }) => {
      await chain.mine(lastValidBlockHeight - (await height()) + 1);
      assert.ok((await height()) > lastValidBlockHeight);
    },
    finalise: () => chain.mine(40),
    stateOf: async (kept, ...urls) => (await walletOn(...urls).outcome(kept, soon())).state,
    behind: async () => {
      const result = await height();
      return solanaLies(context, url, ({ method }, forward) => {
        if (method === 'getBlockHeight') return { result };
        if (method !== 'getSignatureStatuses') return forward();
        return { result: { context: { slot: 1 }, value: [null] } };
      });
    },
    failing: () =>
      solanaLies(context, url, ({ method }, forward) =>
        method === 'getBlockHeight' ? forward() : { error: { code: -32005, message: 'busy 503' } },
      ),
  };
}

const tronWalletOf = ({ key }: { readonly key: Uint8Array }, ...urls: string[]) =>
  tronWallet({
    chain: 'tron-dev',
    sources: urls.map((url) => ({ url })),
    privateKey: bytesToHex(key),
  });
let unsigned: (leg?: onTron.Leg) => Promise<TronTransaction>;
async function tron(): Promise<Chain> {
  const chain = await onTron.startTron();
  context.after(() => chain.stop());
  const { url, deployment } = chain;
  const sources = [{ url }];
  const adapter = tronAdapter({ chain: 'tron-dev', deployment, sources, policy: tronDevPolicy });
  unsigned = async ({ escrow } = onTron.newLeg(chain)) => {
    const built = await adapter.buildFund({ escrow, feeRateSatPerVbyte: null }, soon());
    return (built as TronMaterial).transactions[0] as TronTransaction;
  };
  const walletOn = (...urls: string[]) => tronWalletOf(onTron.funder, ...urls);
  const lying = async (...how: Parameters<typeof tronLies>) => {
    const node = await tronLies(...how);
    context.after(() => node.stop());
    return node.url;
  };
  const send: Chain['send'] = async ({ raw }) =>
    adapter.broadcast(await adapter.readSigned(raw, soon()), soon());
  return {
    url,
    fundings: async (count) => {
      const leg = onTron.newLeg(chain);
      const all: Kept[] = [];
      for (let made = 0; made < count; made += 1) {
        all.push(await walletOn(url).sign(await unsigned(leg), soon()));
        await chain.pass(1);
      }
      return all;
    },
    send,
    force: send,
    mine: () => chain.dev.mine(1),
    outlive: () => chain.pass(700),
    finalise: () => chain.solidify(),
    stateOf: async (kept, ...urls) => (await walletOn(...urls).outcome(kept, soon())).state,
    behind: () => {
      let block: unknown = null;
      return lying(url, async ({ path }, forward) => {
        if (path.includes('info')) return { body: {} };
        if (!path.startsWith('walletsolidity/getnowblock')) return forward();
        block ??= (await forward()).body;
        return { body: block };
      });
    },
    failing: () =>
      lying(url, ({ path }, forward) =>
        path.endsWith('getnowblock') ? forward() : { status: 503, body: {} },
      ),
  };
}

let chains: Readonly<Record<'solana' | 'tron', Chain>>;
/** Each hook waits for it: they need not run one after the other. */
let starting: Promise<void> | null = null;
const started = () => {
  starting ??= (async () => {
    chains = { solana: await solana(), tron: await tron() };
  })();
  return starting;
};
before(started);

for (const family of ['solana', 'tron'] as const) {
  let chain: Chain;
  before(async () => {
    await started();
    chain = chains[family];
  });
  const funding = async () => (await chain.fundings(1))[0] as Kept;
  const stateOf = (kept: Kept) => chain.stateOf(kept, chain.url);

  test(`${family}: what was never sent is lost once a FINAL block is past its end`, async () => {
    const kept = await funding();
    assert.equal(await stateOf(kept), 'waiting');
    await chain.outlive(kept);
    assert.equal(await stateOf(kept), 'waiting', 'the newest block can go away');
    await assert.rejects(chain.send(kept), /blockhash|expir/i);
    await chain.finalise();
    assert.equal(await stateOf(kept), 'lost');
  });

  test(`${family}: what is in a block has succeeded, in any version, whatever its age`, async () => {
    const kept = await funding();
    await chain.send(kept);
    if (family === 'tron') assert.equal(await stateOf(kept), 'waiting', 'a pool is no block');
    await chain.mine();
    assert.equal(await stateOf(kept), 'succeeded');
    await chain.outlive(kept);
    await chain.finalise();
    assert.equal(await stateOf(kept), 'succeeded');
    assert.equal(await stateOf({ ...(await funding()), former: [kept.txid] }), 'succeeded');
  });

  test(`${family}: a second funding of the terms has failed once that is final`, async () => {
    const [first, second] = (await chain.fundings(2)) as [Kept, Kept];
    assert.notEqual(first.txid, second.txid);
    await chain.send(first);
    if (family === 'solana') await chain.mine();
    await chain.force(second);
    await chain.mine();
    assert.deepEqual([await stateOf(first), await stateOf(second)], ['succeeded', 'waiting']);
    await chain.finalise();
    assert.equal(await stateOf(second), 'reverted');
  });

  test(`${family}: the height of one node says nothing about another's blocks`, async () => {
    const kept = await funding();
    const behind = await chain.behind();
    const failing = await chain.failing();
    assert.equal(await chain.stateOf(kept, behind), 'waiting');
    await chain.send(kept);
    await chain.mine();
    await chain.outlive(kept);
    await chain.finalise();
    assert.equal(await chain.stateOf(kept, failing, behind), 'waiting');
    assert.equal(await chain.stateOf(kept, failing, chain.url), 'succeeded');
    await assert.rejects(chain.stateOf(kept, failing), /503/);
  });
}

test('a Solana wallet signs what it alone pays for, until its own node forgets the hash', async () => {
  const { info, rpc } = world.chain;
  const walletOn = (rpcUrl: string, name = 'funder') =>
    solanaWallet({ chain: 'solana-dev', rpcUrls: [rpcUrl], secretKey: onSolana.seedOf(name) });
  const material = (await world.adapter.buildFund(
    onSolana.built(onSolana.escrowIn(world)),
    soon(),
  )) as SolanaMaterial;
  const wallet = walletOn(info.rpcUrl);
  const { txid, raw } = await wallet.sign(material, soon());
  assert.equal((await world.adapter.readSigned(raw, soon())).txid, txid);
  await assert.rejects(walletOn(info.rpcUrl, 'payee').sign(material, soon()), /signs alone as/);
  const accounts = [{ address: onSolana.walletOf('payee'), signs: true, writes: true }];
  const program = onSolana.walletOf('stranger');
  const instruction = { program, accounts, data: new Uint8Array(1) };
  const { blockhash } = (await rpc.getLatestBlockhash().send()).value;
  const payer = onSolana.walletOf('funder');
  const message = unsignedTransaction(payer, [instruction], blockhash).subarray(65);
  const two = Uint8Array.of(2, ...new Uint8Array(128), ...message);
  const shared = { ...material, transaction: base64.encode(two) };
  await assert.rejects(wallet.sign(shared, soon()), /signs alone as .* not with 2/);
  // Its end follows from what the own node knows of the blockhash, not from what is said.
  const height = Number(await rpc.getBlockHeight({ commitment: 'processed' }).send());
  for (const lastValidBlockHeight of [1, material.lastValidBlockHeight, 10 ** 12]) {
    const signed = await wallet.sign({ ...material, lastValidBlockHeight }, soon());
    assert.equal(signed.lastValidBlockHeight, height + 150);
  }
  const behind = await solanaLies(context, info.rpcUrl, async ({ method }, forward) =>
    method === 'isBlockhashValid' ? { result: { context: { slot: 1 }, value: false } } : forward(),
  );
  const signed = await walletOn(behind).sign(material, soon());
  assert.equal(signed.lastValidBlockHeight, height + 450);
});

// Wallets of a person: only the requested signature comes through.

const answering = (address: string, answer: (asked: never) => unknown) => {
  const signMessage = () => assert.fail('of a transaction');
  const signTransaction = async (asked: never) => answer(asked);
  return { address, asks: asking(), signMessage, signTransaction };
};
const isLie = (words: RegExp) => (error: Error) => {
  assert.deepEqual([error.name, (error as WalletError).code], ['WalletError', 'lied']);
  assert.match(error.message, words);
  return true;
};

test('a TRON wallet of a person lets through only the transaction that was asked for', async () => {
  const { funder, receiver } = onTron;
  const honest = await unsigned();
  const another = await unsigned();
  const { url } = chains.tron;
  const sign = (answer: (asked: TronTransaction) => unknown) =>
    tronWallet({
      chain: 'tron-dev',
      sources: [{ url }],
      account: answering(funder.address, answer as never),
    }).sign(honest, soon());
  const signed = await sign((asked) => signTronTransaction(funder.key, asked));
  assert.equal(signed.txid, honest.txID);
  for (const [answer, words] of [
    [() => signTronTransaction(funder.key, another), /transaction [0-9a-f]+ in place of/],
    [(asked: TronTransaction) => signTronTransaction(receiver.key, asked), /signed by .* not by/],
    [(asked: TronTransaction) => ({ ...asked, signature: [] }), /not signed/],
    [(asked: TronTransaction) => asked, /not signed/],
    [() => 'yes', /no transaction/],
    [() => null, /no transaction/],
  ] as const) {
    await assert.rejects(sign(answer), isLie(words));
  }
});

test('a Solana wallet of a person is asked with a block of that moment, and late bytes are not sent', async () => {
  const { chain, adapter } = world;
  const escrow = onSolana.escrowIn(world, { hashlock: newHashlock() });
  const built = (await adapter.buildFund(onSolana.built(escrow), soon())) as SolanaMaterial;
  const seed = onSolana.seedOf('funder');
  const sign = (blocks: number) =>
    solanaWallet({
      chain: 'solana-dev',
      rpcUrls: [chain.info.rpcUrl],
      account: answering(onSolana.walletOf('funder'), async (asked: Uint8Array) => {
        await chain.mine(blocks);
        const signed = Uint8Array.from(asked);
        signed.set(ed25519.sign(asked.subarray(65), seed), 1);
        return signed;
      }),
    }).sign(built, soon());
  // The page stood open: no block takes what was built any more.
  await chain.mine(151);
  await assert.rejects(sign(152), (error: WalletError) => {
    assert.match(
      error.message,
      /after the 30 s that a Solana transaction lives, so it was not sent/,
    );
    return error.code === 'late';
  });
  const { raw } = await sign(140);
  const { blockhash } = readTransaction(raw);
  assert.notEqual(blockhash, readTransaction(built.transaction).blockhash);
  const material = { ...built, transaction: withBlockhash(built.transaction, blockhash) };
  assert.deepEqual(readTransaction(raw).message, readTransaction(material.transaction).message);
  const { terms } = escrow;
  assert.deepEqual(materialProblems(material, { verb: 'fund' }, terms, solanaDeployment), []);
  await adapter.broadcast(await adapter.readSigned(raw, soon()), soon());
});

test('a Solana wallet of a person lets through only the transaction that was asked for', async () => {
  const { info } = world.chain;
  const make = async () =>
    (await world.adapter.buildFund(
      onSolana.built(onSolana.escrowIn(world, { hashlock: newHashlock() })),
      soon(),
    )) as SolanaMaterial;
  const honest = await make();
  const another = await make();
  const [seed, other] = ['funder', 'payee'].map(onSolana.seedOf) as [Uint8Array, Uint8Array];
  const signed = (whole: Uint8Array, by = seed) => {
    const answer = Uint8Array.from(whole);
    answer.set(ed25519.sign(whole.subarray(65), by), 1);
    return answer;
  };
  const sign = (answer: (asked: Uint8Array) => unknown) =>
    solanaWallet({
      chain: 'solana-dev',
      rpcUrls: [info.rpcUrl],
      account: answering(onSolana.walletOf('funder'), answer as never),
    }).sign(honest, soon());
  const { raw } = await sign(signed);
  assert.deepEqual(base64.decode(raw), signed(base64.decode(honest.transaction)));
  for (const [answer, words] of [
    [() => signed(base64.decode(another.transaction)), /another transaction/],
    [(asked: Uint8Array) => signed(asked, other), /not signed it with the key/],
    [(asked: Uint8Array) => asked, /not signed it with the key/],
    [(asked: Uint8Array) => signed(Uint8Array.of(...asked, 0)), /bytes in place of/],
    [(asked: Uint8Array) => base64.encode(signed(asked)), /no transaction/],
    [() => undefined, /no transaction/],
  ] as const) {
    await assert.rejects(sign(answer), isLie(words));
  }
});
test('nodes that differ come to one outcome, and no single one ends a transaction', async () => {
  const waits = { state: 'waiting', next: true, gap: false } as const;
  const of = (...said: (TxOutcome['state'] | 'silent')[]) =>
    outcomeByAll(said, soon(), async (state) => {
      if (state === 'silent') throw new ParleyError('chain_unavailable', 'busy', {});
      return state === 'waiting' ? waits : { state };
    });
  for (const state of ['waiting', 'succeeded', 'reverted', 'lost'] as const) {
    assert.equal((await of(state)).state, state);
    assert.deepEqual(await of('silent', state, state), await of(state));
  }
  await assert.rejects(of('silent', 'silent'), /busy/);
  const doubted = (state: 'succeeded' | 'reverted') => ({ state, doubt: waits });
  for (const other of ['waiting', 'lost', 'reverted'] as const) {
    assert.deepEqual(await of('succeeded', other), doubted('succeeded'));
    assert.deepEqual(await of(other, 'succeeded'), doubted('succeeded'));
  }
  assert.deepEqual(await of('lost', 'waiting'), waits);
  assert.deepEqual(await of('reverted', 'waiting'), doubted('reverted'));
  assert.deepEqual(await of('lost', 'reverted'), { state: 'reverted' });
});
