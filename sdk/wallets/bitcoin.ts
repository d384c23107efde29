// A single-key P2WPKH wallet: signs texts (BIP-322 simple), sighashes of escrows, and payments
// from coins that a source of the customer's own knows. For bots, demos and tests.

import { secp256k1 } from '@noble/curves/secp256k1.js';
import { bytesToHex, hexToBytes } from '@noble/hashes/utils.js';
import { p2wpkh, Transaction } from '@scure/btc-signer';
import { signSighashes } from '../../chains/bitcoin/keys.ts';
import {
  type BitcoinNetwork,
  dustSats,
  parseBitcoinAddress,
} from '../../chains/bitcoin/networks.ts';
import { signBip322 } from '../../chains/bitcoin/proof.ts';
import type { MessageSigner } from '../keys.ts';
import type { Kept } from '../stores/store.ts';
import type { Coin, CoinSource } from './coins.ts';
import type { BitcoinWallet } from './wallet.ts';

export type BitcoinWalletOptions = {
  /** 32 bytes, hex. */
  readonly privateKey: string;
  readonly network: BitcoinNetwork;
  readonly source: CoinSource;
};

const replaceable = 0xffff_fffd;
/** Virtual bytes: an empty transaction, one P2WPKH input, one output of 43 bytes at most. */
const [baseVsize, inputVsize, outputVsize] = [11, 68, 43];
const mostInputs = 100;

/** One wallet object a key: it keeps two payments from spending one coin. */
export function bitcoinWallet(options: BitcoinWalletOptions): BitcoinWallet & MessageSigner {
  const { network, source } = options;
  const privateKey = hexToBytes(options.privateKey);
  const publicKey = secp256k1.getPublicKey(privateKey, true);
  const { address, script } = p2wpkh(publicKey, network);
  if (address === undefined) throw new Error('a P2WPKH output has an address');
  const spent = new Set<string>();
  let queue: Promise<unknown> = Promise.resolve();
  const pay = async (payTo: string, amountSats: bigint, signal: AbortSignal): Promise<Kept> => {
    const rate = await source.feeRateSatPerVbyte(signal);
    const coins = await source.coins(address, signal);
    const free = coins.filter((coin) => !spent.has(outpoint(coin)));
    const { chosen, changeSats } = choose(free, amountSats, rate);
    const tx = new Transaction({ version: 2 });
    for (const { txid, vout, amountSats: amount } of chosen) {
      const witnessUtxo = { script, amount };
      tx.addInput({ txid: hexToBytes(txid), index: vout, sequence: replaceable, witnessUtxo });
    }
    tx.addOutput({ script: parseBitcoinAddress(payTo, network).script, amount: amountSats });
    if (changeSats > 0n) tx.addOutput({ script, amount: changeSats });
    tx.sign(privateKey);
    tx.finalize();
    for (const coin of chosen) spent.add(outpoint(coin));
    return { txid: tx.id, raw: tx.hex };
  };
  return {
    family: 'bitcoin',
    address,
    pubkey: bytesToHex(publicKey),
    signMessage: async (message) =>
      signBip322({ privateKey, kind: 'p2wpkh', message, network }).signature,
    signSighashes: async (hashes) => signSighashes(privateKey, hashes),
    signPayment: (payTo, amountSats, signal) => {
      const run = queue.then(() => pay(payTo, amountSats, signal));
      queue = run.catch(() => undefined);
      return run;
    },
    reserve: (raw) => {
      const tx = Transaction.fromRaw(hexToBytes(raw), { allowUnknownOutputs: true });
      for (let at = 0; at < tx.inputsLength; at += 1) {
        const { txid, index } = tx.getInput(at);
        if (txid && index !== undefined) spent.add(`${bytesToHex(txid)}:${index}`);
      }
    },
  };
}

function outpoint({ txid, vout }: { txid: string; vout: number }): string {
  return `${txid}:${vout}`;
}

/** Largest coins first: fewest inputs. Change below dust is left to the fee. */
function choose(
  coins: readonly Coin[],
  amountSats: bigint,
  rate: number,
): { chosen: Coin[]; changeSats: bigint } {
  const chosen: Coin[] = [];
  let total = 0n;
  const fee = (outputs: number) =>
    BigInt(Math.ceil((baseVsize + chosen.length * inputVsize + outputs * outputVsize) * rate));
  const bySize = [...coins].sort((x, y) => (y.amountSats > x.amountSats ? 1 : -1));
  for (const coin of bySize.slice(0, mostInputs)) {
    chosen.push(coin);
    total += coin.amountSats;
    if (total < amountSats + fee(1)) continue;
    const change = total - amountSats - fee(2);
    return { chosen, changeSats: change >= dustSats.p2wpkh ? change : 0n };
  }
  throw new Error(
    `the wallet has ${total} sats in confirmed coins; ${amountSats} and a fee are due`,
  );
}
