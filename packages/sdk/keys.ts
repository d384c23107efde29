// Signing in by wallet. A text says what it is for, so that its signature serves nothing else.

import type { Family } from '@parley/core/families.ts';
import { type CallOptions, type ParleyClient, parleyClient } from './client.ts';
import { VerificationError } from './errors.ts';
import { defaultProductName, type HttpOptions } from './http.ts';
import type { ApiKey, Proof, ProvenWallet, Scope } from './types.ts';

/**
 * EIP-191 on EVM (hex), signMessageV2 on TRON (hex), ed25519 on Solana (base58), BIP-322 on Bitcoin
 * (base64).
 */
export type MessageSigner = {
  readonly family: Family;
  readonly address: string;
  signMessage(message: string): Promise<string>;
};

type Named = { readonly address: string; readonly nonce: string; readonly productName?: string };

/** A market that put lines into it would have a key sign them, for whatever they are good for. */
function mustBeNonce(nonce: unknown): void {
  if (typeof nonce === 'string' && /^[0-9A-Za-z]{1,128}$/.test(nonce)) return;
  const got = JSON.stringify(String(nonce)).slice(0, 80);
  throw new VerificationError('nonce', '1 to 128 letters and digits', got);
}

function textOf(
  { address, nonce, productName }: Named,
  what: string,
  more: readonly string[] = [],
) {
  mustBeNonce(nonce);
  const first = `${productName ?? defaultProductName} asks you to sign to ${what}.`;
  return [first, '', `Address: ${address}`, ...more, `Nonce: ${nonce}`].join('\n');
}

export function mintMessage(input: Named & { name?: string; scopes?: readonly Scope[] }): string {
  const { name, scopes } = input;
  return textOf(input, 'create an API key', [
    ...(name === undefined ? [] : [`Key name: ${name}`]),
    ...(scopes === undefined ? [] : [`Scopes: ${scopes.join(', ')}`]),
  ]);
}

export function linkMessage(input: Named): string {
  return textOf(input, 'link this wallet');
}

export function authorizeMessage(input: Named & { loginAddress: string }): string {
  return textOf(input, 'authorise this wallet', [`Login: ${input.loginAddress}`]);
}

export async function mintKey(
  options: HttpOptions,
  signer: MessageSigner,
  wanted: { name?: string; scopes?: readonly Scope[] } = {},
  how: CallOptions = {},
): Promise<ApiKey> {
  const client = parleyClient(options);
  const { nonce } = await client.mintNonce(how);
  const { productName } = client;
  const message = mintMessage({ address: signer.address, nonce, productName, ...wanted });
  const signature = await signer.signMessage(message);
  const proof = { rail: signer.family, address: signer.address, message, signature };
  return client.mintKey(proof, how);
}

/** Proves a further wallet. Only one that `login` vouches for may receive money. */
export async function linkWallet(
  client: ParleyClient,
  wallet: MessageSigner,
  login?: MessageSigner,
): Promise<ProvenWallet> {
  const { nonce } = await client.walletNonce('link');
  const named = { productName: client.productName };
  const message = linkMessage({ address: wallet.address, nonce, ...named });
  const signature = await wallet.signMessage(message);
  const proof: Proof & { authorization?: Proof } = { address: wallet.address, message, signature };
  if (login !== undefined) proof.authorization = await authorization(client, wallet, login, named);
  return client.proveWallet(wallet.family, proof);
}

async function authorization(
  client: ParleyClient,
  wallet: MessageSigner,
  login: MessageSigner,
  named: { productName: string },
): Promise<Proof> {
  const { nonce } = await client.walletNonce('authorize');
  const loginAddress = login.address;
  const message = authorizeMessage({ address: wallet.address, loginAddress, nonce, ...named });
  return { address: loginAddress, message, signature: await login.signMessage(message) };
}
