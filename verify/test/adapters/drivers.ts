// The four drivers.

import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { bitcoinAdapter } from '@parley/chains/bitcoin/adapter.ts';
import { bitcoinPolicies } from '@parley/chains/bitcoin/policy.ts';
import { evmAdapter } from '@parley/chains/evm/adapter.ts';
import { evmChains } from '@parley/chains/evm/policy.ts';
import type { Material, Signed } from '@parley/chains/interface/material.ts';
import { solanaAdapter } from '@parley/chains/solana/adapter.ts';
import { solanaDeployment } from '@parley/chains/solana/plan.ts';
import { solanaChains } from '@parley/chains/solana/policy.ts';
import { tronAdapter } from '@parley/chains/tron/adapter.ts';
import { tronDevPolicy } from '@parley/chains/tron/policy.ts';
import type { Family } from '@parley/core/families.ts';
import type { Destination, EscrowTerms } from '@parley/core/terms.ts';
import { startAnvil } from '@parley/dev/devnet/anvil.ts';
import { bitcoinChain } from '@parley/dev/devnet/bitcoin-chain.ts';
import { startBitcoind } from '@parley/dev/devnet/bitcoind.ts';
import { deployContracts } from '@parley/dev/devnet/contracts.ts';
import type { DevChain } from '@parley/dev/devnet/dev-chain.ts';
import { evmChain } from '@parley/dev/devnet/evm-chain.ts';
import { findBitcoind } from '@parley/dev/devnet/find-bitcoind.ts';
import { rpcTo } from '@parley/dev/devnet/rpc.ts';
import { devLags, solanaChain } from '@parley/dev/devnet/solana-chain.ts';
import { tronChain } from '@parley/dev/devnet/tron-chain.ts';
import { bitcoinWallet, signaturesOf } from '@parley/sdk/wallets/bitcoin.ts';
import { coreCoins } from '@parley/sdk/wallets/coins.ts';
import { evmWallet } from '@parley/sdk/wallets/evm.ts';
import { solanaWallet } from '@parley/sdk/wallets/solana.ts';
import { tronWallet } from '@parley/sdk/wallets/tron.ts';
import type { AccountWallet, BitcoinCoins, BitcoinKey } from '@parley/sdk/wallets/wallet.ts';
import { testClock } from './clock.ts';
import { type CoinKind, contractOf, type Driver, type Side } from './driver.ts';
import { lies } from './lies.ts';
import { evmMoney, solanaMoney, tronMoney } from './money.ts';

const soon = () => AbortSignal.timeout(30_000);
const quiet = { info: () => undefined, warn: () => undefined, error: () => undefined };
const fresh = () => randomBytes(32).toString('hex');

/** A family, or Bitcoin with escrows of Taproot. */
export const startDriver: Readonly<Record<Family | 'taproot', () => Promise<Driver>>> = {
  bitcoin: () => startBitcoin(),
  taproot: () => startBitcoin({ form: 'p2tr' }),
  evm: startEvm,
  tron: startTron,
  solana: startSolana,
};

type Base = Pick<Driver, 'now' | 'pass' | 'stop'> & { readonly dir: string };

/** A folder and a clock; `dev` is asked only once it is there. */
async function baseOf(family: Family, dev: () => DevChain | undefined) {
  const dir = await mkdtemp(join(tmpdir(), `parley-adapters-${family}-`));
  const clock = testClock();
  const base: Base = {
    dir,
    now: clock.now,
    pass: async (seconds) => {
      await clock.move(seconds);
      await dev()?.moveTo(clock.now());
    },
    stop: async () => {
      await dev()?.stop();
      await rm(dir, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 });
    },
  };
  return { base, clock };
}

const contractCoins = ['token', 'tether', 'false'] as const;

/** By the names of their contracts; on Solana the first mint. */
function tokensOf({
  info: { tokens = [], hostileTokens = [], family },
}: DevChain): Driver['token'] {
  const all = [...tokens, ...hostileTokens];
  return (kind) => {
    if (kind === 'native') return null;
    const isThis = ({ contract }: { contract?: string }) => contract === contractOf[kind];
    const found = family === 'solana' ? all[0] : all.find(isThis);
    if (found === undefined) throw new Error(`no ${contractOf[kind]} on the dev chain`);
    return found.address;
  };
}

async function signFirst(wallet: AccountWallet, material: Material): Promise<Signed> {
  if (material.sign === 'evm-tx' && wallet.family === 'evm') {
    const [call] = material.txs;
    if (call !== undefined) return (await wallet.sign(material.chainId, call, soon())).raw;
  }
  if (material.sign === 'tron-txid' && wallet.family === 'tron') {
    const [first] = material.transactions;
    if (first !== undefined) return (await wallet.sign(first, soon())).raw;
  }
  if (material.sign === 'solana-tx' && wallet.family === 'solana') {
    return (await wallet.sign(material, soon())).raw;
  }
  throw new Error(`${material.sign} is not for a ${wallet.family} wallet`);
}

/** Two wallets of a family of accounts with some of each coin; no block comes by itself. */
async function accountsOn<W extends AccountWallet>(
  dev: DevChain,
  newWallet: () => W,
  coins: readonly CoinKind[],
) {
  const wallets: Readonly<Record<Side, W>> = { funder: newWallet(), receiver: newWallet() };
  const token = tokensOf(dev);
  for (const { address } of Object.values(wallets)) {
    for (const kind of coins) await dev.give({ address, token: token(kind), amount: null });
  }
  await dev.setAutomatic(false);
  const plain = ({ address }: W): Destination => ({ address, pubkey: null });
  const handles = {
    dev,
    url: dev.info.rpcUrl,
    coins,
    token,
    parties: { funder: plain(wallets.funder), receiver: plain(wallets.receiver) },
    sign: (by: Side, material: Material) => signFirst(wallets[by], material),
  };
  return { wallets, handles };
}

async function startEvm(): Promise<Driver> {
  let dev: DevChain | undefined;
  const { base, clock } = await baseOf('evm', () => dev);
  const chainId = 31_337;
  const node = await startAnvil(join(base.dir, 'node'), chainId);
  const chain = await evmChain('evm-dev', chainId, node, clock, () =>
    deployContracts(node, undefined),
  );
  dev = chain;
  const { rpcUrl } = chain.info;
  const wallet = () => evmWallet({ rpcUrl, chainId, privateKey: `0x${fresh()}` });
  const { wallets, handles } = await accountsOn(chain, wallet, ['native', ...contractCoins]);
  const { policy, depthTag } = evmChains['evm-dev'];
  const depth = policy.normal.confirmations;
  const known = { chain: 'evm-dev', chainId, policy, depthTag };
  const adapter = (rpcUrls: readonly string[] = [rpcUrl], attemptTimeoutMs = 5_000) =>
    evmAdapter({ ...known, rpcUrls, rpc: { attemptTimeoutMs, rounds: 1 } });
  return {
    ...base,
    ...lies.evm,
    ...handles,
    money: evmMoney({ ...handles, adapter }),
    family: 'evm',
    amount: (kind) => (kind === 'native' ? 10n ** 17n : 1_000_000n),
    depth,
    adapter,
    noToken: '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed',
    show: () => chain.mine(1),
    deepen: () => chain.mine(depth),
    takeBack: async (blocks) => {
      await node.rpc('anvil_rollback', [blocks]);
      for (const each of Object.values(wallets)) each.forget();
    },
    foreign: '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1Beaed1',
    spelt: [
      '0x5aaeb6053f3e94c9b9a09f33669435e7ef1beaed',
      '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed',
    ],
  };
}

async function startTron(): Promise<Driver> {
  let dev: DevChain | undefined;
  const { base, clock } = await baseOf('tron', () => dev);
  const solidityLag = 4;
  const options = { dir: join(base.dir, 'node'), log: quiet, clock, solidityLag };
  const chain = await tronChain('tron-dev', options);
  dev = chain;
  const { rpcUrl: url, chainId, escrows: contract, escrowsCreation: creation } = chain.info;
  const wallet = () => tronWallet({ chain: 'tron-dev', sources: [{ url }], privateKey: fresh() });
  const { handles } = await accountsOn(chain, wallet, ['native', ...contractCoins]);
  await chain.mine(solidityLag + 1);
  const known = { chain: 'tron-dev', deployment: { chainId, contract, creation } };
  const adapter = (urls: readonly string[] = [url], attemptTimeoutMs = 5_000) =>
    tronAdapter({
      ...known,
      sources: urls.map((each) => ({ url: each })),
      policy: tronDevPolicy,
      http: { attemptTimeoutMs, rounds: 1 },
    });
  return {
    ...base,
    ...lies.tron,
    ...handles,
    money: tronMoney({ ...handles, adapter }),
    family: 'tron',
    amount: () => 20_000_000n,
    depth: tronDevPolicy.normal.confirmations,
    adapter,
    noToken: 'TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t',
    show: () => chain.mine(1),
    deepen: () => chain.mine(solidityLag + 1),
    takeBack: (blocks) => chain.simulator.chain.takeBack(blocks),
    foreign: 'TJRabPrwbZy45sbavfcjinPJC18kjpRTv9',
    spelt: ['41a614f803b6fd780986a42c78ec9c7f77e6ded13c', 'TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t'],
  };
}

async function startSolana(): Promise<Driver> {
  let dev: DevChain | undefined;
  const { base, clock } = await baseOf('solana', () => dev);
  const key = 'solana-dev';
  const chain = await solanaChain({ chain: key, dir: join(base.dir, 'node'), clock, log: quiet });
  dev = chain;
  const { rpcUrl: url, genesisHash } = chain.info;
  const wallet = () =>
    solanaWallet({ chain: key, rpcUrls: [url], secretKey: new Uint8Array(randomBytes(32)) });
  const { handles } = await accountsOn(chain, wallet, ['native', 'token']);
  await chain.mine(devLags.finalized + 1);
  const { policy } = solanaChains[key];
  const known = { chain: key, policy, genesisHash, now: clock.now, deployment: solanaDeployment };
  const adapter = (rpcUrls: readonly string[] = [url], attemptTimeoutMs = 5_000) =>
    solanaAdapter({
      ...known,
      rpcUrls,
      mostDriftSeconds: policy.driftSeconds,
      rpc: { attemptTimeoutMs, rounds: 1 },
    });
  const nobody = 'DyRkUpQxYG2VnP2SkMdQs5BTsVPeKCpSHLxzByc2Sxvj';
  return {
    ...base,
    ...lies.solana,
    ...handles,
    money: solanaMoney({ ...handles, adapter }),
    family: 'solana',
    amount: () => 2_000_000_000n,
    depth: policy.normal.confirmations,
    adapter,
    noToken: nobody,
    // Shown from `confirmed` on.
    show: () => chain.mine(devLags.confirmed + 1),
    deepen: () => chain.mine(devLags.finalized + 2),
    takeBack: async (blocks) => chain.takeBack(blocks + devLags.confirmed),
    foreign: '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed',
    spelt: [nobody, nobody],
  };
}

async function startBitcoin(form: Pick<EscrowTerms, 'form'> = {}): Promise<Driver> {
  let dev: DevChain | undefined;
  const { base, clock } = await baseOf('bitcoin', () => dev);
  const bitcoind = await findBitcoind(process.env.PARLEY_BITCOIND, join(base.dir, 'b'), undefined);
  const node = await startBitcoind(bitcoind, join(base.dir, 'node'), null);
  const chain = await bitcoinChain('bitcoin-regtest', node, clock);
  dev = chain;
  const { rpcUrl: url } = chain.info;
  const coins = coreCoins(url);
  const wallet = () => bitcoinWallet({ privateKey: fresh(), network: 'regtest', source: coins });
  const wallets: Record<Side, BitcoinKey & BitcoinCoins> = { funder: wallet(), receiver: wallet() };
  const home = ({ address, pubkey }: BitcoinKey): Destination => ({ address, pubkey, ...form });
  const parties = { funder: home(wallets.funder), receiver: home(wallets.receiver) };
  await chain.setAutomatic(false);
  // One coin for each test: a payment of another waits for a block.
  for (let coin = 0; coin < 12; coin += 1) {
    await chain.give({ address: parties.funder.address, token: null, amount: 5_000_000n });
  }
  const policy = bitcoinPolicies.regtest;
  const depth = policy.normal.confirmations;
  const rpc = rpcTo(url);
  const source = (coreUrl: string, timeMs: number) => ({ coreUrl, timeMs });
  return {
    ...base,
    ...lies.bitcoin,
    family: 'bitcoin',
    dev: chain,
    url,
    coins: ['native'],
    token: () => null,
    amount: () => 1_000_000n,
    parties,
    depth,
    adapter: ([first = url, second] = [url], attemptMs = 5_000) =>
      bitcoinAdapter({
        chain: 'bitcoin-regtest',
        network: 'regtest',
        source: source(first, attemptMs),
        ...(second === undefined ? {} : { second: source(second, attemptMs) }),
        policy,
        now: clock.now,
      }),
    sign: (by, material, secret) => signBitcoin(wallets[by], material, secret),
    noToken: '',
    show: () => chain.mine(1),
    deepen: () => chain.mine(depth),
    takeBack: async (blocks) => {
      const height = await rpc<number>('getblockcount');
      const hash = await rpc<string>('getblockhash', [height - blocks + 1]);
      const { time } = await rpc<{ time: number }>('getblockchaininfo');
      await rpc('invalidateblock', [hash]);
      // The same second would make the very same block again, which the node has refused; blocks
      // of a burst are ahead of the clock.
      await clock.move(Math.max(5, time + 1 - clock.now()));
    },
    foreign: 'bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4',
    spelt: [
      'BCRT1QW508D6QEJXTDG4Y5R3ZARVARY0C5XW7KYGT080',
      'bcrt1qw508d6qejxtdg4y5r3zarvary0c5xw7kygt080',
    ],
  };
}

async function signBitcoin(
  wallet: BitcoinKey & BitcoinCoins,
  material: Material,
  preimageHex?: string,
): Promise<Signed> {
  if (material.sign === 'btc-payment') {
    const amount = BigInt(material.amountSats);
    return (await wallet.signPayment(material.payTo, amount, soon())).raw;
  }
  if (material.sign !== 'btc-sighash') throw new Error(`${material.sign} is not for Bitcoin`);
  const { psbtBase64, sighashHexes, scheme } = material;
  const form = scheme === 'schnorr' ? ({ form: 'p2tr' } as const) : {};
  const signaturesHex = await signaturesOf(wallet, form, sighashHexes, soon());
  return { psbtBase64, signaturesHex, ...(preimageHex === undefined ? {} : { preimageHex }) };
}
