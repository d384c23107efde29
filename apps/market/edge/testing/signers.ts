// Wallets for tests: keys of their own that sign texts as real wallets do, TRON's and Solana's by
// other libraries than the server checks them with.

import { createRequire } from 'node:module';
import { bitcoinNetworks } from '@parley/chains/bitcoin/networks.ts';
import { toSignTransaction } from '@parley/chains/bitcoin/proof.ts';
import type { Family } from '@parley/core/families.ts';
import { base58, base64 } from '@scure/base';
import { p2tr, p2wpkh, RawWitness } from '@scure/btc-signer';
import { pubECDSA, pubSchnorr, randomPrivateKeyBytes } from '@scure/btc-signer/utils.js';
import nacl from 'tweetnacl';
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts';

/** Loaded where it is used: it takes a third of a second, and many tests have no TRON wallet. */
const tronweb = () => createRequire(import.meta.url)('tronweb') as typeof import('tronweb');

export type TestWallet = {
  readonly family: Family;
  readonly address: string;
  /** Bitcoin: the compressed key, hex. */
  readonly pubkey: string | null;
  sign(message: string): Promise<string>;
};

export function evmWallet(): TestWallet {
  const account = privateKeyToAccount(generatePrivateKey());
  return {
    family: 'evm',
    address: account.address,
    pubkey: null,
    sign: (message) => account.signMessage({ message }),
  };
}

export function tronWallet(): TestWallet {
  const { Trx, utils } = tronweb();
  const { privateKey, address } = utils.accounts.generateAccount();
  return {
    family: 'tron',
    address: address.base58,
    pubkey: null,
    sign: async (message) => Trx.signMessageV2(message, privateKey),
  };
}

export function solanaWallet(): TestWallet {
  const { publicKey, secretKey } = nacl.sign.keyPair();
  return {
    family: 'solana',
    address: base58.encode(publicKey),
    pubkey: null,
    sign: async (message) => base58.encode(nacl.sign.detached(Buffer.from(message), secretKey)),
  };
}

/** A regtest wallet that signs by BIP-322. */
export function bitcoinWallet(kind: 'p2wpkh' | 'p2tr' = 'p2wpkh'): TestWallet {
  const secret = randomPrivateKeyBytes();
  const pubkey = pubECDSA(secret);
  const network = bitcoinNetworks.regtest;
  const payment =
    kind === 'p2wpkh' ? p2wpkh(pubkey, network) : p2tr(pubSchnorr(secret), undefined, network);
  return {
    family: 'bitcoin',
    address: payment.address as string,
    pubkey: Buffer.from(pubkey).toString('hex'),
    sign: async (message) => {
      const transaction = toSignTransaction(message, payment.script);
      if (kind === 'p2tr') transaction.updateInput(0, { tapInternalKey: pubSchnorr(secret) });
      transaction.signIdx(secret, 0);
      transaction.finalizeIdx(0);
      return base64.encode(RawWitness.encode(transaction.getInput(0).finalScriptWitness ?? []));
    },
  };
}

export const walletOf: Readonly<Record<Family, () => TestWallet>> = {
  evm: evmWallet,
  tron: tronWallet,
  bitcoin: bitcoinWallet,
  solana: solanaWallet,
};

/** Every way to write the address of a wallet. */
export function spellings({ family, address }: TestWallet): string[] {
  const digits = address.slice(2);
  const hex = () => tronweb().TronWeb.address.toHex(address);
  switch (family) {
    case 'evm':
      return [address, address.toLowerCase(), ...['0x', '0X'].map((x) => x + digits.toUpperCase())];
    case 'tron':
      return [address, hex(), hex().toUpperCase()];
    case 'bitcoin':
      return [address, address.toUpperCase()];
    case 'solana':
      return [address];
  }
}
