// Tests only: vectors of hashlocks, of webhooks' signatures and of wallets' proofs.

import { createHmac } from 'node:crypto';
import { hexToBytes } from '@noble/hashes/utils.js';
import { keySignatureText, verifyKeySignature } from '@parley/chains/bitcoin/keys.ts';
import { bitcoinNetworks } from '@parley/chains/bitcoin/networks.ts';
import { signBip322, verifyBitcoinProof } from '@parley/chains/bitcoin/proof.ts';
import { signKeySignature } from '@parley/chains/bitcoin/testing/swaps.ts';
import { verifyEvmProof } from '@parley/chains/evm/proof.ts';
import {
  signSolanaMessage,
  solanaAddressOfSeed,
  verifySolanaProof,
} from '@parley/chains/solana/proof.ts';
import { signTronMessage, tronAddressOfKey, verifyTronProof } from '@parley/chains/tron/proof.ts';
import { ParleyError } from '@parley/core/errors.ts';
import { hashlockOf, opens, parseHashlock, parseSecret } from '@parley/core/hashlock.ts';
import { privateKeyToAccount } from 'viem/accounts';
import { authorizeMessage, linkMessage, mintMessage } from '../../keys.ts';
import { verifyWebhook, WebhookError, type WebhookRequest } from '../../webhooks.ts';
import { secret } from '../honest.ts';
import { someone } from '../materials.ts';

/** Code and sentence of what is refused before anything is compared. */
export function faultOf(name: string, check: () => unknown) {
  try {
    check();
  } catch (error) {
    if (!(error instanceof ParleyError || error instanceof WebhookError)) throw error;
    return { code: error.code, message: error.message };
  }
  throw new Error(`${name} was taken`);
}

export function hashlockVectors() {
  const secrets = [secret, '00'.repeat(32), 'ff'.repeat(32), `${'00'.repeat(31)}01`];
  const spelled = [`0x${secret}`, secret.toUpperCase()];
  const bad = ['', secret.slice(2), `${secret}00`, `${secret.slice(1)}g`, `0X${secret}`];
  return {
    hashlocks: secrets.map((each) => ({ secret: each, hashlock: hashlockOf(each) })),
    spelled: spelled.map((text) => ({ text, secret: parseSecret(text) })),
    refused: bad.map((text) => ({ text, ...faultOf(text, () => parseHashlock(text)) })),
    opens: [
      { secret, hashlock: hashlockOf(secret), opens: opens(secret, hashlockOf(secret)) },
      // A party that gives the secret in the hashlock's place has lost it.
      { secret, hashlock: secret, opens: opens(secret, secret) },
    ],
  };
}

const webhookSecret = 'whsec_5f2d0c9a7be14d63a8f01b27c4e6d590';
const webhookNow = 1_800_000_000;

export function webhookVectors() {
  const body = JSON.stringify({
    type: 'swap.updated',
    deliveryId: '0193f0a0-0000-7000-8000-0000000000d9',
    createdAt: '2027-01-15T08:00:00.000Z',
    note: 'Grüße 你好',
  });
  const sign = (text: string, at: string, by = webhookSecret) =>
    `sha256=${createHmac('sha256', by).update(`${at}.${text}`).digest('hex')}`;
  const request = (
    more: Partial<Record<'body' | 'timestamp' | 'signature' | 'secret', string>>,
  ) => {
    const timestamp = more.timestamp ?? `${webhookNow - 10}`;
    const text = more.body ?? body;
    return {
      secret: more.secret ?? webhookSecret,
      headers: {
        'x-parley-timestamp': timestamp,
        'x-parley-signature': more.signature ?? sign(text, timestamp),
      },
      body: text,
      toleranceSeconds: 300,
      now: webhookNow,
    };
  };
  const signature = sign(body, `${webhookNow - 10}`);
  const other = signature.replace(/.$/, (last) => (last === '0' ? '1' : '0'));
  const lies: readonly (readonly [string, WebhookRequest])[] = [
    ['another byte of the body', request({ body: `${body} `, signature })],
    ['another signature', request({ signature: other })],
    ['another moment', request({ timestamp: `${webhookNow - 11}`, signature })],
    ['another secret', request({ signature: sign(body, `${webhookNow - 10}`, 'whsec_other') })],
    ['too old', request({ timestamp: `${webhookNow - 301}` })],
    ['too far ahead', request({ timestamp: `${webhookNow + 301}` })],
    ['no seconds', request({ timestamp: '1.8e9' })],
    ['upper case', request({ signature: signature.toUpperCase() })],
    ['another algorithm', request({ signature: signature.replace('sha256', 'sha512') })],
    ['no secret', request({ secret: '' })],
    ['no JSON', request({ body: 'hello' })],
    ['no delivery', request({ body: '{"type":"swap.updated"}' })],
    ['no header', { ...request({}), headers: {} }],
  ];
  const good = [`${webhookNow - 10}`, `${webhookNow - 300}`, `${webhookNow + 300}`];
  return {
    accepted: good.map((timestamp) => {
      const given = request({ timestamp });
      return { request: given, delivery: verifyWebhook(given) };
    }),
    refused: lies.map(([why, given]) => {
      return { why, request: given, ...faultOf(why, () => verifyWebhook(given)) };
    }),
  };
}

const key = '1'.padStart(64, '0');
const nonce = '5f2d0c9a7be14d63a8f01b27c4e6d590';

export async function proofVectors() {
  const account = privateKeyToAccount(`0x${key}`);
  const network = bitcoinNetworks.mainnet;
  const bytes = hexToBytes(key);
  const about = { productName: 'Parley', swapId: '0199d3c4-5e8f-7a30-9b1c-2d4e6f8091a2' };
  const pubkey = signBip322({ privateKey: bytes, kind: 'p2wpkh', message: '', network }).pubkey;
  const never = AbortSignal.timeout(60_000);
  const signers = [
    {
      family: 'evm',
      kind: 'key',
      privateKey: key,
      address: account.address,
      sign: (message: string) => account.signMessage({ message }),
      verify: (address: string, message: string, signature: string) =>
        verifyEvmProof({ address, message, signature, nodes: [] }, never),
    },
    {
      family: 'tron',
      kind: 'key',
      privateKey: key,
      address: tronAddressOfKey(bytes),
      sign: (message: string) => signTronMessage(bytes, message),
      verify: (address: string, message: string, signature: string) =>
        verifyTronProof({ address, message, signature }),
    },
    {
      family: 'solana',
      kind: 'key',
      privateKey: '07'.repeat(32),
      address: solanaAddressOfSeed(someone(7)),
      sign: (message: string) => signSolanaMessage(someone(7), message),
      verify: (address: string, message: string, signature: string) =>
        verifySolanaProof({ address, message, signature }),
    },
    ...(['p2wpkh', 'p2shP2wpkh', 'p2tr'] as const).map((kind) => {
      const signed = (message: string) => signBip322({ privateKey: bytes, kind, message, network });
      return {
        family: 'bitcoin',
        kind,
        privateKey: key,
        address: signed('').address,
        sign: (message: string) => signed(message).signature,
        verify: (address: string, message: string, signature: string) =>
          verifyBitcoinProof({ address, message, signature, network }),
      };
    }),
  ];
  const proofs = await Promise.all(
    signers.map(async ({ sign, verify, ...who }) => {
      const { address } = who;
      const named = { address, nonce };
      const messages = [
        mintMessage({ ...named, name: 'my bot', scopes: ['read', 'taker'] }),
        linkMessage(named),
        authorizeMessage({ ...named, loginAddress: address }),
        'Grüße 你好',
      ];
      const signed = await Promise.all(
        messages.map(async (message) => ({ message, signature: await sign(message) })),
      );
      for (const { message, signature } of signed) await verify(address, message, signature);
      return { ...who, signed };
    }),
  );
  const keySignature = signKeySignature(about, bytes);
  verifyKeySignature({ ...about, pubkey }, keySignature);
  const message = keySignatureText(about.productName, pubkey, about.swapId);
  return { proofs, keySignatures: [{ privateKey: key, pubkey, ...about, message, keySignature }] };
}
