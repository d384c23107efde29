// The Bitcoin dev chain: a faucet wallet with the first coinbases, mining, a clock that moves.

import { RefusedRequest } from '@parley/host/failure.ts';
import { openDoor } from './bitcoin-door.ts';
import { bitcoinMining, everydayMiner, type NodeClock } from './bitcoin-mining.ts';
import type { BitcoinNode } from './bitcoind.ts';
import type { DevChain, Gift } from './dev-chain.ts';
import { amountOf, cannotSend } from './faucet.ts';
import { type Rpc, RpcError, rpcTo } from './rpc.ts';

const wallet = 'faucet';
/** 2 000 BTC: the subsidy is whole until block 150. */
const faucetBlocks = 40;
/** A coinbase can be spent when a hundred blocks lie on top of it. */
const maturityBlocks = 100;
/** A search for an escrow begins two hours before it, by how much block times may be off. */
const ageSeconds = 6 * 3_600;
const satsPerCoin = 100_000_000n;
const gifts = { usual: satsPerCoin, most: 50n * satsPerCoin, unit: 'satoshi', least: 1_000n };

export async function bitcoinChain(
  chain: string,
  node: BitcoinNode,
  clock: NodeClock,
): Promise<DevChain> {
  const { rpc } = node;
  const walletRpc = rpcTo(`${node.rpcUrl}/wallet/${wallet}`);
  const mining = bitcoinMining(node.rpcUrl, clock);
  let automatic = true;
  // Dated back: so many blocks in one second would put the median time ahead of the clock, and all
  // would be read again for every escrow. The wallet too: it looks at no block of before its time.
  await rpc('setmocktime', [clock.now() - ageSeconds]);
  await openWallet(rpc);
  await makeFirstCoins(rpc, walletRpc);
  // After a pause, or a crash in the middle of a move: timelocks see the present at once.
  await mining.moveTo(clock.now());
  // A node that starts thinks itself far behind the network until it sees a block of today.
  await mining.mine(1);
  const door = await openDoor(node.rpcUrl, node.doorPort);
  const { rpcUrl } = node;
  const ownAddress = await walletRpc<string>('getnewaddress', ['', 'bech32']);
  return {
    info: { chain, family: 'bitcoin', rpcUrl, pageUrl: door.url, ownAddress, node: node.node },
    nativeSymbol: 'BTC',
    head: mining.head,
    mine: mining.mine,
    moveTo: mining.moveTo,
    give: async (gift) => {
      const sent = await send(walletRpc, gift);
      await mining.mine(1);
      return sent;
    },
    tick: async () => {
      if (automatic) await mining.tick();
    },
    setAutomatic: async (value) => {
      automatic = value;
    },
    hasEnded: node.running.hasEnded,
    stop: async () => {
      await door.close();
      await node.running.stop();
    },
  };
}

async function openWallet(rpc: Rpc): Promise<void> {
  const loaded = await rpc<readonly string[]>('listwallets');
  if (loaded.includes(wallet)) return;
  const { wallets } = await rpc<{ wallets: readonly { name: string }[] }>('listwalletdir');
  if (wallets.some(({ name }) => name === wallet)) await rpc('loadwallet', [wallet, true]);
  // Descriptors, and loaded at every start; no passphrase, for there is nothing to steal.
  else await rpc('createwallet', [wallet, false, false, '', false, true, true]);
}

async function makeFirstCoins(rpc: Rpc, walletRpc: Rpc): Promise<void> {
  const height = await rpc<number>('getblockcount');
  if (height < faucetBlocks) {
    const address = await walletRpc<string>('getnewaddress', ['', 'bech32']);
    await rpc('generatetoaddress', [faucetBlocks - height, address]);
  }
  const missing = faucetBlocks + maturityBlocks - Math.max(height, faucetBlocks);
  if (missing > 0) await rpc('generatetodescriptor', [missing, everydayMiner]);
}

async function send(walletRpc: Rpc, gift: Gift) {
  const { address, token } = gift;
  if (token !== null) throw new RefusedRequest(400, 'Bitcoin has no tokens.');
  const sats = amountOf(gift, gifts);
  const { isvalid } = await walletRpc<{ isvalid: boolean }>('validateaddress', [address]);
  if (!isvalid) throw new RefusedRequest(400, `${address} is not a Bitcoin regtest address.`);
  const coins = `${sats / satsPerCoin}.${(sats % satsPerCoin).toString().padStart(8, '0')}`;
  try {
    return { txid: await walletRpc<string>('sendtoaddress', [address, coins]), amount: sats };
  } catch (error) {
    if (!(error instanceof RpcError)) throw error;
    throw cannotSend(error);
  }
}
