// The payer on each chain: the market's adapter checks and asks the nodes, the SDK's wallet of the
// faucet's key signs. A payer signs nothing but a payment of a fixed amount to one address.

import { bitcoinNetworks, parseBitcoinAddress } from '@parley/chains/bitcoin/networks.ts';
import { parseEvmAddress } from '@parley/chains/evm/address.ts';
import { transferCall } from '@parley/chains/evm/builders.ts';
import { RpcError } from '@parley/chains/nodes/rpc.ts';
import { parseTronAddress } from '@parley/chains/tron/address.ts';
import { ParleyError } from '@parley/core/errors.ts';
import { readKey } from '@parley/maker/keys.ts';
import type { Log } from '@parley/maker/log.ts';
import { type Opened, openOne } from '@parley/market/ports/chains.ts';
import type { Of } from '@parley/market/settings/chains.ts';
import type { Settings } from '@parley/market/settings/config.ts';
import type { Kept } from '@parley/sdk/stores/store.ts';
import { bitcoinWallet } from '@parley/sdk/wallets/bitcoin.ts';
import { type CoinSource, coreCoins, esploraCoins } from '@parley/sdk/wallets/coins.ts';
import { evmWallet, mostFeePerGasOf } from '@parley/sdk/wallets/evm.ts';
import { solanaWallet } from '@parley/sdk/wallets/solana.ts';
import { tronWallet } from '@parley/sdk/wallets/tron.ts';
import { parseWallet as parseSolanaWallet, solanaPayment } from '@parley/trader/paying/solana.ts';
import { tronPayment } from '@parley/trader/paying/tron.ts';
import { type Hex, parseTransaction } from 'viem';
import type { Payer } from './give.ts';
import type { FaucetChain } from './settings.ts';

/**
 * A transfer takes a quarter of it, by rules of forks to come two thirds. A contract that takes
 * more would have us pay for its work.
 */
const mostEvmGas = 300_000n;

/** A gift takes 141 bytes of one coin. Strangers bid as they like with coins without worth. */
const mostSatPerVbyte = 200;

/** Wei, of a gift of a token where no coins are given: a hundredth of the coin. */
const mostTokenFee = 10n ** 16n;

/** 30 TRX: the transfer of a token burns about 14, to an address without any about 28. */
const feeLimitSun = 30_000_000n;

/** The part of a payer that differs by family. */
type Signer = Pick<Payer, 'address' | 'parse' | 'sign' | 'forget'>;

/**
 * Throws where a node is of another chain than configured, as the market's start does. One that is
 * silent then is asked again before anything is signed: its chain's coins may have worth.
 */
export async function openPayers(
  chains: readonly FaucetChain[],
  settings: Pick<Settings, 'chainTimeoutMs'>,
  { now, log }: { readonly now: () => number; readonly log: Log },
): Promise<Payer[]> {
  const said = (level: 'info' | 'warn') => (facts: object, message: string) =>
    log[level](message, facts as Readonly<Record<string, string>>);
  const parts = { now, log: { info: said('info'), warn: said('warn') } };
  return Promise.all(
    chains.map(async (each) => {
      const { adapter, identify } = openOne(each.of, settings, parts);
      const mustBeKnown = knownBy(identify, (source, why) =>
        log.warn('a node does not answer; it is asked again', {
          chain: each.of.chain,
          source,
          why,
        }),
      );
      await mustBeKnown();
      const { sign, ...signer } = signerOf(each, await readKey(each.keyFile, each.of.family));
      return {
        chain: each.of.chain,
        ...signer,
        sign: async (...asked) => {
          await mustBeKnown();
          return sign(...asked);
        },
        send: async ({ txid, raw }, signal) => {
          await adapter.broadcast({ txid, raw, touches: [] }, signal);
        },
        close: () => adapter.close(),
      } satisfies Payer;
    }),
  );
}

/** Asks until each node has answered once. Throws WrongNodeError. */
function knownBy(identify: Opened['identify'], tell: (source: number, why: string) => void) {
  let isKnown = false;
  return async () => {
    if (isKnown) return;
    let silent = 0;
    await identify((source, why) => {
      silent += 1;
      tell(source, why);
    });
    isKnown = silent === 0;
  };
}

function signerOf({ of, gifts }: FaucetChain, key: string | Uint8Array): Signer {
  switch (of.family) {
    case 'bitcoin':
      return bitcoinSigner(of, String(key));
    case 'evm': {
      const coins = gifts.find(({ token }) => token === null);
      return evmSigner(of, `0x${String(key)}`, coins?.amount ?? mostTokenFee);
    }
    case 'tron': {
      const { chain, sources } = of;
      const wallet = tronWallet({ chain, sources, privateKey: String(key) });
      return {
        address: wallet.address,
        parse: parseTronAddress,
        sign: async (pay, signal) =>
          wallet.sign(
            await tronPayment({ chain, sources }, wallet.address, pay, signal, feeLimitSun),
            signal,
          ),
      };
    }
    case 'solana': {
      const { chain, rpcUrls } = of;
      const wallet = solanaWallet({ chain, rpcUrls, secretKey: key });
      return {
        address: wallet.address,
        parse: parseSolanaWallet,
        sign: async (pay, signal) => {
          const transaction = await solanaPayment({ chain, rpcUrls }, wallet.address, pay, signal);
          const material = { chain, transaction, escrow: '', lastValidBlockHeight: 0 };
          return wallet.sign({ ...material, family: 'solana', sign: 'solana-tx' }, signal);
        },
      };
    }
  }
}

/** `mostFee`, wei: the most that a gift's own fee may come to. */
function evmSigner(
  { chain, chainId, rpcUrls }: Of<'evm'>,
  privateKey: Hex,
  mostFee: bigint,
): Signer {
  const wallet = evmWallet({ rpcUrl: rpcUrls, chainId, privateKey });
  return {
    address: wallet.address,
    parse: parseEvmAddress,
    sign: async (pay, signal) => {
      // The next nonce is the nodes' to tell: a gap would hold up all gifts that come after it.
      wallet.forget();
      try {
        const kept = await wallet.sign(
          chainId,
          transferCall(pay.token, pay.to, pay.amount),
          signal,
        );
        const { gas = 0n } = parseTransaction(kept.raw as Hex);
        if (gas > mostEvmGas) {
          const sentence = `a payment to ${pay.to} takes ${gas} gas, above ${mostEvmGas}`;
          throw new ParleyError('bad_address', sentence, { gas, most: mostEvmGas });
        }
        const fee = feeOf(kept);
        if (fee <= mostFee) return kept;
        throw tooDear(chain, `up to ${fee} wei for a gift, above ${mostFee}`);
      } catch (error) {
        if (pay.token !== null || !isReverted(error)) throw error;
        throw new ParleyError('bad_address', `${pay.to} is a contract that takes no coins`, {});
      }
    },
  };
}

/** For a token it may be the faucet that has none left. */
const isReverted = (error: unknown) =>
  error instanceof Error && error.cause instanceof RpcError && /revert/i.test(error.message);

/** At most, wei. */
const feeOf = (kept: Kept) => (parseTransaction(kept.raw as Hex).gas ?? 0n) * mostFeePerGasOf(kept);

function tooDear(chain: string, how: string): ParleyError {
  return new ParleyError('chain_unavailable', `fees of ${chain} are too high: ${how}`, { chain });
}

function bitcoinSigner(
  { chain, rpcUrl, esploraUrl = '' }: Of<'bitcoin'>,
  privateKey: string,
): Signer {
  const node = rpcUrl === undefined ? esploraCoins(esploraUrl) : coreCoins(rpcUrl);
  const source: CoinSource = {
    ...node,
    feeRateSatPerVbyte: async (signal) => {
      const rate = await node.feeRateSatPerVbyte(signal);
      if (rate <= mostSatPerVbyte) return rate;
      throw tooDear(chain, `${rate} sat/vB, above ${mostSatPerVbyte}`);
    },
  };
  const wallet = bitcoinWallet({ privateKey, network: 'testnet', source });
  return {
    address: wallet.address,
    parse: (text) => parseBitcoinAddress(text, bitcoinNetworks.testnet).address,
    sign: ({ to, amount }, signal) => wallet.signPayment(to, amount, signal),
    forget: (signed) => wallet.release(signed.raw, signed),
  };
}
