// docs/signing.md against the code: every worked example is signed again, and is accepted.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { hexToBytes } from '@noble/hashes/utils.js';
import { keySignatureText } from '@parley/chains/bitcoin/keys.ts';
import { bitcoinNetworks } from '@parley/chains/bitcoin/networks.ts';
import { signBip322 } from '@parley/chains/bitcoin/proof.ts';
import { type Family, families } from '@parley/core/families.ts';
import {
  checkMessage,
  clearText,
  keyTermsOf,
  mustName,
  nonceOf,
  type Purpose,
} from '@parley/market/market/messages.ts';
import { canonicalAddress, checkSignature, spellingIn } from '@parley/market/market/proofs.ts';
import { mustBeWritten } from '@parley/market/people/sign-in-text.ts';
import { signInStatement } from '@parley/market/people/wallet.ts';
import { readSettings } from '@parley/market/settings/config.ts';
import { base58 } from '@scure/base';
import { Trx } from 'tronweb';
import nacl from 'tweetnacl';
import { privateKeyToAccount } from 'viem/accounts';

type Words = { address: string; message: string; signature: string };
type Example = Words & { rail?: Family; authorization?: Words };

const keyText = /^Parley - use this key: ([0-9a-f]{66}) for swap ([0-9a-f-]{36})$/m;
const doc = readFileSync(new URL('../../docs/signing.md', import.meta.url), 'utf8');
const examples = [...doc.matchAll(/```json\n([\s\S]*?)\n```/g)].map(
  ([, json = '']) => JSON.parse(json) as Example,
);
const one = '1'.padStart(64, '0');
const seed = /seed `([0-9a-f]{64})` of RFC 8032/.exec(doc)?.[1] ?? '';
const settings = { ...readSettings({}), network: 'mainnet' } as const;

const sign: Readonly<Record<Family, (message: string) => string | Promise<string>>> = {
  evm: (message) => privateKeyToAccount(`0x${one}`).signMessage({ message }),
  tron: (message) => Trx.signMessageV2(message, one),
  bitcoin: (message) =>
    signBip322({
      privateKey: hexToBytes(one),
      kind: 'p2wpkh',
      message,
      network: bitcoinNetworks.mainnet,
    }).signature,
  solana: (message) => {
    const { secretKey } = nacl.sign.keyPair.fromSeed(hexToBytes(seed));
    return base58.encode(nacl.sign.detached(Buffer.from(message), secretKey));
  },
};

async function holds(words: Words, family: Family, purpose: Purpose, linked: string[] = []) {
  const { message, signature } = words;
  const address = canonicalAddress(family, words.address, 'mainnet');
  assert.equal(address, words.address);
  const addresses = [...linked, ...mustName(family, spellingIn(message, family, address))];
  const { productName, sites } = settings;
  const text = clearText(message);
  checkMessage(text, { productName, sites, purpose, addresses });
  assert.match(nonceOf(text), /^[0-9a-f]{32}$/);
  assert.equal(signature, await sign[family](message));
  const signed = { family, address, message, signature };
  await checkSignature({ settings, evmNodes: [] }, signed, AbortSignal.timeout(60_000));
}

test('docs/signing.md has a mint of every family, and each would be accepted', async () => {
  const mints = examples.filter((each) => each.rail !== undefined);
  assert.deepEqual(mints.map((each) => each.rail).sort(), [...families].sort());
  for (const mint of mints) {
    await holds(mint, mint.rail as Family, 'create an API key');
    keyTermsOf(clearText(mint.message));
  }
  assert.ok(mints.some((each) => doc.includes(`\`\`\`\n${each.message}\n\`\`\``)));
});

test('its link and its authorization would be accepted', async () => {
  const [link, ...more] = examples.filter((each) => each.authorization !== undefined);
  assert.ok(link?.authorization !== undefined && more.length === 0);
  await holds(link, 'solana', 'link this wallet');
  await holds(link.authorization, 'tron', 'authorise this wallet', [link.address]);
});

test('the text of a keySignature is the one that is checked', () => {
  const [text, pubkey = '', swapId = ''] = keyText.exec(doc) ?? [];
  assert.equal(text, keySignatureText(settings.productName, pubkey, swapId));
});

test('the text that signs in to the browser is written as the documentation shows it', () => {
  const [text = ''] = /^market\.example wants[\s\S]*?(?=\n```)/m.exec(doc) ?? [];
  const value = (label: string) => new RegExp(`^${label}: (.*)$`, 'm').exec(text)?.[1] ?? '';
  const [, address = '', , statement = ''] = text.split('\n');
  mustBeWritten(text, {
    family: 'evm',
    domain: 'market.example',
    address,
    statement,
    uri: value('URI'),
    chain: value('Chain ID'),
    nonce: value('Nonce'),
    issuedAt: new Date(value('Issued At')),
    expiresAt: new Date(value('Expiration Time')),
  });
  for (const purpose of ['sign-in', 'add', 'renew'] as const) {
    const row = `| \`${purpose}\` | \`${signInStatement(purpose, 'Parley')}\` |`;
    assert.ok(doc.includes(row), row);
  }
});
