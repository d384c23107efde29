// A driver over a TRON node that somebody else runs: blocks come by themselves, clocks do not move,
// nothing is taken back. Two accounts trade, one of the operator's and one that it pays for.

import { readFile } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { sha256 } from '@noble/hashes/sha2.js';
import { bytesToHex, hexToBytes, utf8ToBytes } from '@noble/hashes/utils.js';
import type { TronPath } from '@parley/chains/nodes/methods.ts';
import { tronAdapter } from '@parley/chains/tron/adapter.ts';
import { tronAddressOf } from '@parley/chains/tron/address.ts';
import { readTronSigned, signTronTransaction } from '@parley/chains/tron/broadcast.ts';
import { type Http, httpClient, type TronSource } from '@parley/chains/tron/http.ts';
import { accountOf, chainIdOf, headBlock, infoOf, sendHex } from '@parley/chains/tron/node.ts';
import { type TronChainSettings, tronChains, tronDevPolicy } from '@parley/chains/tron/policy.ts';
import type { Destination } from '@parley/core/terms.ts';
import { devnetClient } from '@parley/dev/devnet/client.ts';
import type { DevChain } from '@parley/dev/devnet/dev-chain.ts';
import { tronWallet } from '@parley/sdk/wallets/tron.ts';
import type { Driver } from './driver.ts';
import { lies } from './lies.ts';

export type RemoteTron = {
  readonly source: TronSource;
  /** A file with 64 hex characters: an account with some hundred TRX. */
  readonly keyFile: string;
  readonly contract: string;
  /** The transaction that created it. */
  readonly creation: string;
  /** A TRC-20 that this account has some of; null: no token is tried. */
  readonly token: string | null;
  /** Control address of the dev network whose chain it is: its blocks are asked for. */
  readonly dev?: string | null;
  readonly log?: (text: string) => void;
};

/** A step that no real chain does for a test. */
export class NotHere extends Error {}

const chain = 'tron';
const sun = 1_000_000n;
/** More than a claim of it costs in energy and bandwidth. */
const amountSun = 10n * sun;
const amountUnits = 1_000n;
const receiverSun = 150n * sun;
/** A clock further off than that is another one: a dev network's may have been moved. */
const mostClockSeconds = 120;
const blockLimitMs = 60_000;
const solidLimitMs = 300_000;
const pollMs = 200;

export async function remoteTron(options: RemoteTron): Promise<Driver> {
  const { source, contract, creation, token } = options;
  const http = httpClient({ chain, sources: [source] });
  const chainId = await chainIdOf(http, soon());
  const aheadSeconds = await clockDifference(http);
  if (aheadSeconds !== 0) {
    options.log?.(`the chain's clock is ${aheadSeconds} s from this machine's: timelocks go by it`);
  }
  const blocks = options.dev ? devBlocks(options.dev, chainId) : patience;
  const networks: readonly TronChainSettings[] = Object.values(tronChains);
  const policy = networks.find((each) => each.chainId === chainId)?.policy ?? tronDevPolicy;
  const privateKey = (await readFile(options.keyFile, 'utf8')).trim().replace(/^0x/, '');
  const wallet = (key: string) => tronWallet({ chain, sources: [source], privateKey: key });
  const funder = wallet(privateKey);
  // The same each time, so that what an earlier run gave it is not lost.
  const second = bytesToHex(sha256(utf8ToBytes(`conformance of ${privateKey}`)));
  const receiver = wallet(second);
  await payFor(http, { privateKey, from: funder.address, to: receiver.address }, blocks);
  const home = (address: string): Destination => ({ address, pubkey: null });
  const never = (what: string) => async () => {
    throw new NotHere(what);
  };
  const mine = (some: number) => untilHead(http, some, blocks);
  const { confirmations } = policy.normal;
  const dev = {
    info: { chain, family: 'tron', rpcUrl: source.url, chainId },
    mine,
    give: never('there is no faucet'),
    moveTo: never('its clock is its own'),
  } as unknown as DevChain;
  return {
    ...lies.tron,
    family: 'tron',
    dev,
    url: source.url,
    urlOf: (path) =>
      path.startsWith('/walletsolidity/') ? (source.solidityUrl ?? source.url) : source.url,
    coins: token === null ? ['native'] : ['native', 'token'],
    token: (kind) => (kind === 'token' ? token : null),
    amount: (kind) => (kind === 'token' ? amountUnits : amountSun),
    parties: { funder: home(funder.address), receiver: home(receiver.address) },
    depth: confirmations,
    adapter: (urls = [source.url], attemptTimeoutMs = 10_000) =>
      tronAdapter({
        chain,
        deployment: { chainId, contract, creation },
        sources: urls.map((url) => (url === source.url ? source : { url })),
        policy,
        http: { attemptTimeoutMs, rounds: 1 },
      }),
    sign: async (by, material) => {
      if (material.sign !== 'tron-txid') throw new Error(`${material.sign} is not for TRON`);
      const [first] = material.transactions;
      if (first === undefined) throw new Error('there is nothing to sign');
      return (await (by === 'funder' ? funder : receiver).sign(first, soon())).raw;
    },
    now: () => Math.floor(Date.now() / 1_000) + aheadSeconds,
    pass: never('its clock is its own'),
    show: () => mine(1),
    deepen: () => untilDeep(http, confirmations, blocks),
    takeBack: never('its blocks are not ours to take back'),
    isSlow: true,
    noToken: tronAddressOf(sha256(utf8ToBytes('no token')).subarray(0, 20)),
    foreign: '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed',
    spelt: ['41a614f803b6fd780986a42c78ec9c7f77e6ded13c', 'TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t'],
    stop: async () => {},
  };
}

const soon = () => AbortSignal.timeout(30_000);

/** Has a block made where that can be asked for, and waits a little. */
type Blocks = () => Promise<void>;

const patience: Blocks = () => sleep(pollMs);

function devBlocks(url: string, chainId: number): Blocks {
  const dev = devnetClient(url);
  return async () => {
    const { chains } = await dev.status();
    const own = chains.find((each) => each.family === 'tron' && each.chainId === chainId);
    if (own === undefined) throw new Error(`the dev network at ${url} has no chain ${chainId}`);
    await dev.mine(own.chain, 1);
    await sleep(pollMs);
  };
}

/** By how much the newest block is ahead of this machine's clock; 0 where that means nothing. */
async function clockDifference(http: Http): Promise<number> {
  const { timestampMs } = await headBlock(http, 'head', soon());
  const seconds = Math.round((timestampMs - Date.now()) / 1_000);
  return Math.abs(seconds) > mostClockSeconds ? seconds : 0;
}

/** A transfer that the node itself writes; its id is computed here before it is signed. */
async function payFor(
  http: Http,
  { privateKey, from, to }: { privateKey: string; from: string; to: string },
  blocks: Blocks,
): Promise<void> {
  const { balance = 0n } = (await accountOf(http, to, soon())) ?? {};
  if (balance >= receiverSun / 2n) return;
  const body = { owner_address: from, to_address: to, amount: Number(receiverSun), visible: true };
  const path = 'wallet/createtransaction' as string as TronPath;
  const built = (await http.call(path, body, soon())) as {
    raw_data_hex: string;
  };
  const txID = bytesToHex(sha256(hexToBytes(built.raw_data_hex)));
  const unsigned = { txID, raw_data_hex: built.raw_data_hex };
  const { raw, txid } = readTronSigned(signTronTransaction(hexToBytes(privateKey), unsigned));
  await sendHex(http, raw, soon());
  for (const until = performance.now() + blockLimitMs; performance.now() < until; ) {
    if ((await infoOf(http, txid, 'head', soon())) !== null) return;
    await blocks();
  }
  throw new Error(`${txid}, which pays for the second account, is in no block`);
}

async function untilHead(http: Http, some: number, blocks: Blocks): Promise<void> {
  const { number } = await headBlock(http, 'head', soon());
  await untilBlock(http, { view: 'head', number: number + some }, blocks);
}

/** The newest block's transactions are solid, and under as many blocks as the policy wants. */
async function untilDeep(http: Http, confirmations: number, blocks: Blocks): Promise<void> {
  const { number } = await headBlock(http, 'head', soon());
  await untilBlock(http, { view: 'head', number: number + confirmations - 1 }, blocks);
  await untilBlock(http, { view: 'solid', number }, blocks);
}

async function untilBlock(
  http: Http,
  { view, number }: { view: 'head' | 'solid'; number: number },
  blocks: Blocks,
): Promise<void> {
  const limitMs = view === 'head' ? blockLimitMs * 3 : solidLimitMs;
  for (const until = performance.now() + limitMs; performance.now() < until; ) {
    if ((await headBlock(http, view, soon())).number >= number) return;
    await blocks();
  }
  throw new Error(`block ${number} is not ${view} after ${limitMs / 1_000} s`);
}
