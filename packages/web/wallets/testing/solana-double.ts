// Tests only: a wallet of Solana by wallet-standard.

import { ed25519 } from '@noble/curves/ed25519.js';
import { readBytes } from '@parley/chains/solana/message.ts';
import { base58 } from '@scure/base';
import { icon, person, seedOf } from './person.ts';
import type { SolanaSettings, Told } from './settings.ts';

type Asked = {
  readonly transaction: Uint8Array;
  readonly message: Uint8Array;
  readonly chain: string;
};

export function solanaDouble({ name, privateKey }: SolanaSettings, told: Told): void {
  const seed = seedOf(privateKey);
  const publicKey = ed25519.getPublicKey(seed);
  const chains = ['solana:mainnet', 'solana:devnet', 'solana:localnet'];
  const features = ['solana:signTransaction', 'solana:signMessage'];
  const account = { address: base58.encode(publicKey), publicKey, chains, features };
  const listeners: ((changed: object) => void)[] = [];
  const refusal = Object.assign(new Error('User rejected the request.'), { code: 4001 });
  const wallet = {
    version: '1.0.0',
    name,
    icon,
    chains,
    accounts: [] as object[],
    features: {
      'standard:connect': {
        version: '1.0.0',
        connect: async () => {
          await person(told, 'standard:connect', refusal);
          wallet.accounts = [account];
          return { accounts: wallet.accounts };
        },
      },
      'standard:events': {
        version: '1.0.0',
        on: (_: string, listener: (changed: object) => void) => {
          listeners.push(listener);
          return () => {};
        },
      },
      'solana:signTransaction': {
        version: '1.0.0',
        supportedTransactionVersions: ['legacy', 0],
        signTransaction: async ({ transaction, chain }: Asked) => {
          if (!chains.includes(chain)) throw new Error(`no chain ${chain}`);
          await person(told, 'solana:signTransaction', refusal);
          const signature = ed25519.sign(readBytes(transaction).message, seed);
          const signedTransaction = Uint8Array.from(transaction);
          signedTransaction.set(signature, 1);
          return [{ signedTransaction }];
        },
      },
      'solana:signMessage': {
        version: '1.0.0',
        signMessage: async ({ message }: Asked) => {
          await person(told, 'solana:signMessage', refusal);
          return [{ signedMessage: message, signature: ed25519.sign(message, seed) }];
        },
      },
    },
  };
  told.emit = (_, accounts) => {
    wallet.accounts = accounts as object[];
    for (const listener of listeners) listener({ accounts });
  };
  const register = ({ register: add }: { register(wallet: object): void }) => add(wallet);
  dispatchEvent(new CustomEvent('wallet-standard:register-wallet', { detail: register }));
  addEventListener('wallet-standard:app-ready', (event) =>
    register((event as CustomEvent<{ register(wallet: object): void }>).detail),
  );
}
