// A single-key P2WPKH wallet: texts (BIP-322 simple), sighashes, and payments where it has coins.
// For bots, demos, tests, and as the key of an app whose people pay by hand.

import { secp256k1 } from '@noble/curves/secp256k1.js';
import { bytesToHex, hexToBytes, randomBytes } from '@noble/hashes/utils.js';
import {
  boundedFee,
  defaultFeeBounds,
  type FeeBounds,
  feeAt,
  mostFee,
} from '@parley/chains/bitcoin/fees.ts';
import { signLeaves, signSighashes } from '@parley/chains/bitcoin/keys.ts';
import { answer, ask, finish } from '@parley/chains/bitcoin/musig.ts';
import {
  type BitcoinNetwork,
  type BitcoinNetworkName,
  bitcoinNetworks,
  dustSats,
  parseBitcoinAddress,
} from '@parley/chains/bitcoin/networks.ts';
import { signBip322 } from '@parley/chains/bitcoin/proof.ts';
import { larger } from '@parley/core/amounts.ts';
import { queue } from '@parley/core/queue.ts';
import type { EscrowTerms } from '@parley/core/terms.ts';
import { p2wpkh, Transaction } from '@scure/btc-signer';
import { SettleError } from '../errors.ts';
import type { MessageSigner } from '../keys.ts';
import { inPlaceOf, type Kept, versionsOf } from '../stores/store.ts';
import type { Coin, CoinSource } from './coins.ts';
import type { BitcoinCoins, BitcoinKey, Cosigns, NoCoins } from './wallet.ts';

export type BitcoinWalletOptions = {
  /** 64 hex. */
  readonly privateKey: string;
  readonly network: BitcoinNetworkName;
  /** Absent: it claims and refunds, and never funds. */
  readonly source?: CoinSource | undefined;
  /**
   * Any address of the network, where claims and refunds are paid; default the one agreed. Throws
   * `bad_address`, `wrong_network`.
   */
  readonly payout?: string | undefined;
  /** `p2wsh`: asks for no escrow of Taproot, which some wallets cannot pay; default `p2tr`. */
  readonly form?: 'p2tr' | 'p2wsh' | undefined;
};

const replaceable = 0xffff_fffd;
/** Virtual bytes: an empty transaction, one P2WPKH input, one output of 43 bytes at most. */
const baseVsize = 11;
const inputVsize = 68;
const outputVsize = 43;
const mostInputs = 100;

type KeyWallet = BitcoinKey & MessageSigner;

/** One wallet object a key: it keeps two payments from spending one coin. */
export function bitcoinWallet(
  options: BitcoinWalletOptions & { readonly source: CoinSource },
): KeyWallet & BitcoinCoins;
export function bitcoinWallet(options: BitcoinWalletOptions): KeyWallet & NoCoins;
export function bitcoinWallet(options: BitcoinWalletOptions): KeyWallet & (BitcoinCoins | NoCoins) {
  const { source, payout, form = 'p2tr' } = options;
  const network = bitcoinNetworks[options.network];
  const privateKey = hexToBytes(options.privateKey);
  const publicKey = secp256k1.getPublicKey(privateKey, true);
  const { address, script } = p2wpkh(publicKey, network);
  const key: KeyWallet = {
    family: 'bitcoin',
    signsAlone: true,
    address,
    pubkey: bytesToHex(publicKey),
    ...(form === 'p2tr' && { form }),
    ...(payout === undefined ? {} : { payout: parseBitcoinAddress(payout, network).address }),
    signMessage: async (message) =>
      signBip322({ privateKey, kind: 'p2wpkh', message, network }).signature,
    signSighashes: async (hashes) => signSighashes(privateKey, hashes),
    signLeaves: async (hashes) => signLeaves(privateKey, hashes),
    cosigns: cosigning(privateKey, network),
  };
  if (source === undefined) return key;
  const own = { privateKey, script, source: bounded(source), spent: new Set<string>() };
  return { ...key, ...coinsOfKey(own, address, network) };
}

function cosigning(privateKey: Uint8Array, network: BitcoinNetwork): Cosigns {
  const by = (terms: EscrowTerms) => ({ terms, network, privateKey });
  return {
    ask: (terms, spend, store) => ask(by(terms), spend, store, () => randomBytes(32)),
    answer: async (terms, request) => answer(by(terms), request),
    finish: (terms, request, given, store) => finish(by(terms), request, given, store),
  };
}

/** As the form of the escrow wants them. Throws SettleError `no_wallet`. */
export async function signaturesOf(
  wallet: Pick<BitcoinKey, 'pubkey' | 'signSighashes' | 'signLeaves'>,
  { form }: Pick<EscrowTerms, 'form'>,
  sighashHexes: readonly string[],
  signal: AbortSignal,
): Promise<string[]> {
  if (form === undefined) return wallet.signSighashes(sighashHexes, signal);
  if (wallet.signLeaves !== undefined) return wallet.signLeaves(sighashHexes, signal);
  throw new SettleError('no_wallet', `the wallet of ${wallet.pubkey} signs no leaves of Taproot`);
}

/** A rate above the cap is a mistake, whichever node names it. */
function bounded(source: CoinSource): CoinSource {
  const { capSatPerVbyte } = defaultFeeBounds;
  return {
    ...source,
    feeRateSatPerVbyte: async (signal) =>
      Math.min(await source.feeRateSatPerVbyte(signal), capSatPerVbyte),
  };
}

function coinsOfKey(own: Own, address: string, network: BitcoinNetwork): BitcoinCoins {
  const { script, source, spent } = own;
  const inTurn = queue();
  const freeCoins = async (signal: AbortSignal) => {
    const coins = await source.coins(address, signal);
    return coins.filter((coin) => !spent.has(outpoint(coin)));
  };
  const pay = async (payTo: string, amountSats: bigint, signal: AbortSignal): Promise<Kept> => {
    const rate = await source.feeRateSatPerVbyte(signal);
    const { chosen, changeSats } = choose(await freeCoins(signal), amountSats, rate);
    const payment = { script: parseBitcoinAddress(payTo, network).script, amount: amountSats };
    const kept = signed(own, chosen, [payment, { script, amount: changeSats }]);
    for (const coin of chosen) spent.add(outpoint(coin));
    return kept;
  };
  const sumOf = (coins: readonly Coin[]) =>
    coins.reduce((sum, { amountSats }) => sum + amountSats, 0n);
  return {
    spendable: async (signal) => sumOf(await freeCoins(signal)),
    standing: async (signal) => {
      const coins = await source.coins(address, signal);
      const confirmed = (await source.confirmed?.(address, signal)) ?? sumOf(coins);
      return { spendable: sumOf(coins.filter((coin) => !spent.has(outpoint(coin)))), confirmed };
    },
    signPayment: (payTo, amountSats, signal) => inTurn(() => pay(payTo, amountSats, signal)),
    reserve: (raw) => {
      for (const each of inputsOf(raw)) spent.add(outpoint(each));
    },
    signRaise: (kept, { payTo, amountSats, mostSatPerVbyte }, signal) => {
      const payment = { script: parseBitcoinAddress(payTo, network).script, amount: amountSats };
      const { capSatPerVbyte } = defaultFeeBounds;
      const bounds = { ...defaultFeeBounds, capSatPerVbyte: mostSatPerVbyte ?? capSatPerVbyte };
      return signRaise(own, kept, { ...payment, bounds }, signal);
    },
    signCancel: (raw, former, signal) => signCancel(own, raw, former, signal),
    confirmations: async (cancel, signal) => {
      // Spent by another payment before it is final, it would be lost from sight.
      for (const txid of versionsOf(cancel)) spent.add(outpoint({ txid, vout: 0 }));
      for (const txid of versionsOf(cancel)) {
        const found = await source.output({ txid, vout: 0 }, signal);
        if (found !== null) return found.confirmations;
      }
      return null;
    },
    release: (raw, cancel) => {
      for (const each of inputsOf(raw)) spent.delete(outpoint(each));
      for (const txid of versionsOf(cancel)) spent.delete(outpoint({ txid, vout: 0 }));
    },
  };
}

type Outpoint = { readonly txid: string; readonly vout: number };

function read(raw: string): Transaction {
  return Transaction.fromRaw(hexToBytes(raw), { allowUnknownOutputs: true });
}

function inputsOf(raw: string): Outpoint[] {
  const tx = read(raw);
  return Array.from({ length: tx.inputsLength }, (_, at) => {
    const { txid, index } = tx.getInput(at);
    if (txid === undefined || index === undefined) throw new Error('an input names its coin');
    return { txid: bytesToHex(txid), vout: index };
  });
}

type Own = {
  readonly privateKey: Uint8Array;
  readonly script: Uint8Array;
  readonly source: CoinSource;
  readonly spent: Set<string>;
};

type Output = { readonly script: Uint8Array; readonly amount: bigint };

function signed({ privateKey, script }: Own, coins: readonly Coin[], outputs: Output[]): Kept {
  const tx = new Transaction({ version: 2 });
  for (const { txid, vout, amountSats: amount } of coins) {
    const witnessUtxo = { script, amount };
    tx.addInput({ txid: hexToBytes(txid), index: vout, sequence: replaceable, witnessUtxo });
  }
  for (const each of outputs) if (each.amount > 0n) tx.addOutput(each);
  tx.sign(privateKey);
  tx.finalize();
  return { txid: tx.id, raw: tx.hex };
}

/**
 * As few coins as the fee takes, the largest first: one in common is enough for only one to be
 * mined.
 */
async function signCancel(
  own: Own,
  raw: string,
  former: Kept | null,
  signal: AbortSignal,
): Promise<Kept | 'no_fee' | 'coins_gone'> {
  const { script, source, spent } = own;
  const rate = await source.feeRateSatPerVbyte(signal);
  const coins = await coinsOf(raw, source, signal);
  if (coins === null) return 'coins_gone';
  const rivals = [raw, ...(former === null ? [] : [former.raw])].map((each) => paid(each, coins));
  const chosen: Coin[] = [];
  let value = 0n;
  for (const coin of coins.sort((x, y) => (y.amountSats > x.amountSats ? 1 : -1))) {
    chosen.push(coin);
    value += coin.amountSats;
    const vsize = baseVsize + chosen.length * inputVsize + outputVsize;
    const fee = rivals.reduce(
      (least, each) => larger(least, outbid(each, vsize)),
      feeAt(vsize, rate),
    );
    if (fee > mostFee(defaultFeeBounds, vsize, value) || value - fee < dustSats.p2wpkh) continue;
    const kept = signed(own, chosen, [{ script, amount: value - fee }]);
    spent.add(outpoint({ txid: kept.txid, vout: 0 }));
    return former === null ? kept : inPlaceOf(former, kept);
  }
  return 'no_fee';
}

/** The value of a transaction's inputs; null when a block spends one of them. */
async function coinsOf(
  raw: string,
  source: CoinSource,
  signal: AbortSignal,
): Promise<Coin[] | null> {
  const coins: Coin[] = [];
  for (const at of inputsOf(raw)) {
    const found = await source.output(at, signal);
    if (found === null) return null;
    coins.push({ ...at, amountSats: found.amountSats });
  }
  return coins;
}

/** A raise below this is not worth another wait: an eighth, as on EVM. */
const leastRaise = 1.125;

/** Less change. The fee is at most what a claim of the payment may cost. */
async function signRaise(
  own: Own,
  kept: Kept,
  { bounds, ...payment }: Output & { readonly bounds: FeeBounds },
  signal: AbortSignal,
): Promise<Kept | 'no_fee' | 'coins_gone'> {
  const { script, source } = own;
  const rate = await source.feeRateSatPerVbyte(signal);
  const coins = await coinsOf(kept.raw, source, signal);
  if (coins === null) return 'coins_gone';
  const rival = paid(kept.raw, coins);
  const value = coins.reduce((sum, { amountSats }) => sum + amountSats, 0n);
  const wanted = Math.max(rate, rival.rate * leastRaise);
  for (const outputs of [2, 1]) {
    const vsize = baseVsize + coins.length * inputVsize + outputs * outputVsize;
    const least = larger(feeAt(vsize, wanted), outbid(rival, vsize));
    // Without change all that is left is the fee.
    const fee = outputs === 2 ? least : value - payment.amount;
    const change = value - payment.amount - fee;
    if (fee < least || fee > mostFee(bounds, vsize, payment.amount)) continue;
    if (outputs === 2 && change < dustSats.p2wpkh) continue;
    const changed = outputs === 2 ? [payment, { script, amount: change }] : [payment];
    return inPlaceOf(kept, signed(own, coins, changed));
  }
  return 'no_fee';
}

/** One satoshi a byte above its fee and its rate (BIP 125 rules 3 and 4, and Core's own). */
function outbid({ fee, rate }: { fee: bigint; rate: number }, vsize: number): bigint {
  return larger(fee, feeAt(vsize, rate)) + BigInt(vsize);
}

function paid(raw: string, coins: readonly Coin[]): { fee: bigint; rate: number } {
  const tx = read(raw);
  const values = new Map(coins.map((coin) => [outpoint(coin), coin.amountSats]));
  let fee = 0n;
  for (const each of inputsOf(raw)) fee += values.get(outpoint(each)) ?? 0n;
  for (let at = 0; at < tx.outputsLength; at += 1) fee -= tx.getOutput(at).amount ?? 0n;
  return { fee, rate: Number(fee) / tx.vsize };
}

function outpoint({ txid, vout }: Outpoint): string {
  return `${txid}:${vout}`;
}

/**
 * Largest coins first: fewest inputs. Change below dust is left to the fee, which is at most what a
 * claim of the payment may cost, whatever a node says.
 */
function choose(
  coins: readonly Coin[],
  amountSats: bigint,
  rate: number,
): { chosen: Coin[]; changeSats: bigint } {
  const chosen: Coin[] = [];
  let total = 0n;
  const fee = (outputs: number) => {
    const vsize = baseVsize + chosen.length * inputVsize + outputs * outputVsize;
    return boundedFee(defaultFeeBounds, vsize, amountSats, rate);
  };
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
