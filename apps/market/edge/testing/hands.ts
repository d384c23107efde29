// Hands for the tests of rules: a mint or a proof of whatever text a test wants signed.

import type { Answer, TestEdge } from './edge.ts';
import type { TestWallet } from './signers.ts';

// biome-ignore lint/suspicious/noExplicitAny: tests reach into answers of every shape
export function must({ status, body }: Answer): any {
  if (status >= 300) throw new Error(`${status} ${JSON.stringify(body)}`);
  return body;
}

export type Write = (nonce: string) => string;

export async function mintNonce({ call }: TestEdge): Promise<string> {
  return (await call('GET', '/v1/keys/nonce')).body.nonce;
}

/** A mint of the text that `write` makes of a fresh nonce, signed by the wallet. */
export async function mintOf(
  edge: TestEdge,
  wallet: TestWallet,
  write: Write,
  overrides: Record<string, unknown> = {},
  headers: Record<string, string> = {},
): Promise<Answer> {
  const message = write(await mintNonce(edge));
  const signature = await wallet.sign(message);
  const { family: rail, address } = wallet;
  const body = { rail, address, message, signature, ...overrides };
  return edge.call('POST', '/v1/keys', { body, headers });
}

/** The account of a fresh wallet, and its key. */
export async function account(
  edge: TestEdge,
  wallet: TestWallet,
  lines: readonly string[] = [],
): Promise<{ wallet: TestWallet; key: string; userId: string }> {
  const { key } = must(await edge.mint(wallet, lines));
  const { userId } = (await edge.call('GET', '/v1/me', { key })).body;
  return { wallet, key, userId };
}

export type Purpose = 'link' | 'authorize';

export async function walletNonce(edge: TestEdge, key: string, purpose: Purpose): Promise<string> {
  return (await edge.call('GET', `/v1/wallets/nonce?purpose=${purpose}`, { key })).body.nonce;
}

/** The three fields of a signed text. */
export async function signed(
  wallet: TestWallet,
  message: string,
): Promise<{ address: string; message: string; signature: string }> {
  return { address: wallet.address, message, signature: await wallet.sign(message) };
}

export function prove(
  edge: TestEdge,
  key: string,
  wallet: TestWallet,
  body: unknown,
): Promise<Answer> {
  return edge.call('POST', `/v1/wallets/${wallet.family}`, { key, body });
}

/** Links the wallet, with an authorization by `login` where one is given. */
export async function link(
  edge: TestEdge,
  key: string,
  wallet: TestWallet,
  login?: TestWallet,
): Promise<Answer> {
  const nonce = await walletNonce(edge, key, 'link');
  const words = `Parley - link this wallet\n\nAddress: ${wallet.address}\nNonce: ${nonce}`;
  const body = await signed(wallet, words);
  if (login === undefined) return prove(edge, key, wallet, body);
  const authorization = await vouch(edge, key, login, wallet);
  return prove(edge, key, wallet, { ...body, authorization });
}

export async function vouch(edge: TestEdge, key: string, login: TestWallet, linked: TestWallet) {
  const nonce = await walletNonce(edge, key, 'authorize');
  return signed(login, vouching(login, linked, nonce));
}

export function vouching(login: TestWallet, linked: TestWallet, nonce: string): string {
  const parties = `Wallet: ${linked.address}\nLogin: ${login.address}`;
  return `Parley - authorise this wallet\n\n${parties}\nNonce: ${nonce}`;
}
