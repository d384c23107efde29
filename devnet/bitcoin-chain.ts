// The Bitcoin dev chain: a faucet wallet that holds the first coinbases (regtest halves every 150
// blocks, so these are the coins there will ever be), mining by itself, and a clock that moves.
import type { BitcoinNode } from './bitcoind.ts';
import type { ChainHead, DevChain, Gift } from './dev-chain.ts';
import { RefusedRequest } from './failure.ts';
import { pace } from './pace.ts';
import { RpcError, rpcTo } from './rpc.ts';

const wallet = 'faucet';
/** 20 of them mature at once, which is 1 000 BTC; the others follow as the chain grows. */
const firstBlocks = 120;
/** Everyday blocks pay to OP_TRUE: the wallet stays small however long the chain runs. */
const everydayMiner = 'raw(51)#8lvh9jxk';
/** The median of eleven block times moves when six of them did. */
const blocksToMoveMedian = 6;
const defaultGiftSats = 100_000_000n;
const giftLimitSats = 50n * 100_000_000n;
const dustSats = 1_000n;
const satsPerCoin = 100_000_000n;

type ChainState = { blocks: number; time: number; mediantime: number; bestblockhash: string };

/** `now()` is the dev network's clock in Unix seconds; `isMoved()` says whether it left ours. */
export async function bitcoinChain(
  chain: string,
  node: BitcoinNode,
  clock: { now(): number; isMoved(): boolean },
): Promise<DevChain> {
  const { rpc } = node;
  const walletRpc = rpcTo(`${node.rpcUrl}/wallet/${wallet}`);
  const rhythm = pace();
  let automatic = true;
  /** What waited when a block left it out: fees too low to mine, so no reason to mine again. */
  let leftOut = '';

  const followClock = async () => {
    if (clock.isMoved()) await rpc('setmocktime', [clock.now()]);
  };
  const head = async (): Promise<ChainHead> => {
    const state = await rpc<ChainState>('getblockchaininfo');
    return { height: state.blocks, time: state.time, medianTime: state.mediantime };
  };
  const mineQuietly = async (blocks: number) => {
    await followClock();
    await rpc('generatetodescriptor', [blocks, everydayMiner]);
    // The only call that writes the chain state to disk at once: after a kill -9 the node would
    // otherwise come back an hour older.
    await rpc('gettxoutsetinfo', ['none']);
    rhythm.mined(performance.now());
  };
  const mine = async (blocks: number) => {
    await mineQuietly(blocks);
    rhythm.wake((await head()).height);
  };
  const tick = async () => {
    if (!automatic) return;
    const height = await rpc<number>('getblockcount');
    const pool = await rpc<{ size: number; bytes: number }>('getmempoolinfo');
    const waiting = pool.size > 0 && `${pool.size}:${pool.bytes}` !== leftOut;
    if (!rhythm.isDue(height, waiting, performance.now())) return;
    await mineQuietly(1);
    if (!waiting) return;
    const after = await rpc<{ size: number; bytes: number }>('getmempoolinfo');
    leftOut = after.size === 0 ? '' : `${after.size}:${after.bytes}`;
    if (after.bytes !== pool.bytes) rhythm.wake(height + 1);
  };
  const moveTo = async (now: number) => {
    for (let time = now; (await head()).medianTime < now; time++) {
      await rpc('setmocktime', [time]);
      await mineQuietlyAt(time);
    }
    rhythm.wake((await head()).height);
  };
  const mineQuietlyAt = async (time: number) => {
    await rpc('setmocktime', [time]);
    await rpc('generatetodescriptor', [blocksToMoveMedian, everydayMiner]);
    await rpc('gettxoutsetinfo', ['none']);
  };

  await openWallet(rpc, walletRpc, clock.now());
  await mine(1);
  return {
    info: { chain, family: 'bitcoin', rpcUrl: node.rpcUrl, node: node.node },
    nativeSymbol: 'BTC',
    head,
    give: async (gift) => {
      const sent = await send(walletRpc, gift);
      await mine(1);
      return sent;
    },
    mine,
    moveTo,
    tick,
    setAutomatic: async (value) => {
      automatic = value;
    },
    stop: () => node.running.stop(),
  };
}

async function openWallet(
  rpc: BitcoinNode['rpc'],
  walletRpc: BitcoinNode['rpc'],
  now: number,
): Promise<void> {
  const loaded = await rpc<readonly string[]>('listwallets');
  if (!loaded.includes(wallet)) await loadOrCreate(rpc);
  const { blocks } = await rpc<ChainState>('getblockchaininfo');
  const missing = firstBlocks - blocks;
  if (missing <= 0) return;
  const address = await walletRpc<string>('getnewaddress', ['', 'bech32']);
  // Dated back: 120 blocks in one second would put the median time ahead of the clock.
  await rpc('setmocktime', [now - firstBlocks]);
  await rpc('generatetoaddress', [missing, address]);
  await rpc('setmocktime', [0]);
}

async function loadOrCreate(rpc: BitcoinNode['rpc']): Promise<void> {
  const { wallets } = await rpc<{ wallets: readonly { name: string }[] }>('listwalletdir');
  if (wallets.some(({ name }) => name === wallet)) await rpc('loadwallet', [wallet, true]);
  else await rpc('createwallet', [wallet, false, false, '', false, true, true]);
}

async function send(
  walletRpc: BitcoinNode['rpc'],
  { address, token, amount }: Gift,
): Promise<{ txid: string; amount: bigint }> {
  if (token !== null) throw new RefusedRequest(400, 'Bitcoin has no tokens');
  const sats = amount ?? defaultGiftSats;
  if (sats < dustSats || sats > giftLimitSats) {
    throw new RefusedRequest(
      400,
      `The faucet gives ${dustSats} to ${giftLimitSats} satoshi at a time, not ${sats}.`,
    );
  }
  const { isvalid } = await walletRpc<{ isvalid: boolean }>('validateaddress', [address]);
  if (!isvalid) throw new RefusedRequest(400, `${address} is not a Bitcoin regtest address.`);
  const coins = `${sats / satsPerCoin}.${(sats % satsPerCoin).toString().padStart(8, '0')}`;
  try {
    return { txid: await walletRpc<string>('sendtoaddress', [address, coins]), amount: sats };
  } catch (error) {
    if (!(error instanceof RpcError)) throw error;
    throw new RefusedRequest(409, `The faucet cannot send now: ${error.message}`);
  }
}
