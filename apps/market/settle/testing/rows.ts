// Rows for tests that need a swap and no negotiation: assets, accounts' wallets, and the RFQ and
// thread that an agreement stands on.

import { randomBytes } from 'node:crypto';
import { secp256k1 } from '@noble/curves/secp256k1.js';
import { bytesToHex } from '@noble/hashes/utils.js';
import type { ChainAdapter } from '@parley/chains/adapter.ts';
import { bitcoinAdapter } from '@parley/chains/bitcoin/adapter.ts';
import { addressesOfPubkey } from '@parley/chains/bitcoin/keys.ts';
import { bitcoinNetworks } from '@parley/chains/bitcoin/networks.ts';
import { evmAdapter } from '@parley/chains/evm/adapter.ts';
import { parseEvmAddress } from '@parley/chains/evm/address.ts';
import { evmChains } from '@parley/chains/evm/policy.ts';
import { type TestDeps, testDeps } from '@parley/verify/test/support/deps.ts';
import type { Asset } from '../../db/assets.ts';
import type { Database, Tx } from '../../db/database.ts';
import { type Swap, swapById } from '../../db/swaps.ts';
import type { Deps } from '../../ports/deps.ts';
import { uuidv7 } from '../../ports/ids.ts';
import { createSwap } from '../create.ts';
import type { TradeTerms } from '../preview.ts';
import { insertAccount, type Wallet } from './account.ts';

type Parts = Pick<Deps, 'db' | 'now' | 'randomBytes'>;

/** The real adapters of `bitcoin`, `evm-dev` and `evm-dev-2`, whose nodes do not exist. */
export function nodelessAdapters(): ChainAdapter[] {
  const nowhere = 'http://127.0.0.1:9';
  const evm = (chain: 'evm-dev' | 'evm-dev-2') =>
    evmAdapter({ chain, ...evmChains[chain], rpcUrls: [nowhere] });
  const bitcoin = bitcoinAdapter({
    chain: 'bitcoin',
    network: 'regtest',
    source: { coreUrl: nowhere },
    now: () => Math.floor(Date.now() / 1000),
  });
  return [bitcoin, evm('evm-dev'), evm('evm-dev-2')];
}

export function nodelessDeps(db: Database, adapters = nodelessAdapters()): TestDeps {
  return testDeps({ db, adapters: new Map(adapters.map((each) => [each.chain, each])) });
}

export async function insertAsset(
  deps: Parts,
  chain: string,
  address: string | null,
  highValueFrom: bigint | null,
): Promise<Asset> {
  const id = uuidv7(deps.now(), deps.randomBytes);
  await deps.db.rows({
    name: 'test_asset',
    text: `insert into assets (id, chain, symbol, address, decimals, verified, source, created_at)
      values ($1, $2, 'X', $3, 8, true, 'curated', now())`,
    values: [id, chain, address],
  });
  const rest = { symbol: 'X', decimals: 8, enabled: true, closed: null, verified: true };
  return { id, chain, address, highValueFrom, source: 'curated', ...rest };
}

export function someWallets(): { evm: Wallet; bitcoin: Wallet } {
  const { publicKey } = secp256k1.keygen();
  const pubkey = bytesToHex(publicKey);
  const { p2wpkh } = addressesOfPubkey(pubkey, bitcoinNetworks.regtest);
  const address = parseEvmAddress(`0x${randomBytes(20).toString('hex')}`);
  return {
    evm: { family: 'evm', address, pubkey: null },
    bitcoin: { family: 'bitcoin', address: p2wpkh, pubkey },
  };
}

/** The rows an agreement stands on, and the swap made of them inside `tx`. */
export async function insertAgreed(
  tx: Tx,
  deps: Deps,
  terms: TradeTerms,
  parties: { makerId: string; takerId: string; hashlock?: string },
): Promise<string> {
  const { makerId, takerId, hashlock = randomBytes(32).toString('hex') } = parties;
  const id = () => uuidv7(deps.now(), deps.randomBytes);
  const rfqId = id();
  const threadId = id();
  await tx.rows({
    name: 'test_rfq',
    text: `insert into rfqs (id, creator_id, direction, base_asset_id, base_amount, quote_asset_id,
        visibility, status, created_at, expires_at, updated_at)
      values ($1, $2, $3, $4, 1, $5, 'public', 'agreed', now(), now(), now())`,
    values: [rfqId, takerId, terms.direction, terms.base.id, terms.quote.id],
  });
  await tx.rows({
    name: 'test_thread',
    text: `insert into threads (id, rfq_id, maker_id, taker_id, status, quote_amount, proposed_by,
        messages, created_at, updated_at)
      values ($1, $2, $3, $4, 'agreed', 1, 'maker', '[]', now(), now())`,
    values: [threadId, rfqId, makerId, takerId],
  });
  await tx.rows({
    name: 'test_hashlock',
    text: `insert into hashlocks values ($1, $2, $3, now())`,
    values: [hashlock, takerId, threadId],
  });
  const agreement = { ...terms, threadId, rfqId, hashlock, makerId, takerId };
  return (await createSwap(tx, deps, agreement)).swapId;
}

/** A swap of these terms between accounts with these wallets. */
export async function agreedSwap(
  deps: Deps,
  terms: TradeTerms,
  [maker, taker]: readonly (readonly Wallet[])[] = [],
): Promise<Swap> {
  const account = async (wallets: readonly Wallet[] = Object.values(someWallets())) =>
    (await insertAccount(deps, wallets)).accountId;
  return swapBetween(deps, terms, { makerId: await account(maker), takerId: await account(taker) });
}

export async function swapBetween(
  deps: Deps,
  terms: TradeTerms,
  parties: { makerId: string; takerId: string },
): Promise<Swap> {
  const id = await deps.db.transaction((tx) => insertAgreed(tx, deps, terms, parties));
  return (await swapById(deps.db, id)) as Swap;
}
