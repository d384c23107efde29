// Address forms over HTTP: what is taken, in which form it is kept and compared, and what is said
// of an address of another network. Specification part 4; TRON's and Solana's forms:
// chains/tron/proof.test.ts, chains/solana/address.test.ts.

import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { after, before, describe, test } from 'node:test';
import { secp256k1 } from '@noble/curves/secp256k1.js';
import { bytesToHex } from '@noble/hashes/utils.js';
import { Address } from '@scure/btc-signer';
import { addressesOfPubkey } from '../../../chains/bitcoin/keys.ts';
import { type BitcoinNetworkName, bitcoinNetworks } from '../../../chains/bitcoin/networks.ts';
import { type ProofKind, signBip322 } from '../../../chains/bitcoin/proof.ts';
import { startEdge, type TestEdge } from '../testing/edge.ts';
import { account, codeOf, link, mintOf } from '../testing/hands.ts';
import { bitcoinWallet, evmWallet, type TestWallet } from '../testing/signers.ts';

const kinds: readonly ProofKind[] = ['p2wpkh', 'p2shP2wpkh', 'p2tr'];
/** The deployment that a Bitcoin network belongs to. */
const deployments = { mainnet: 'mainnet', testnet: 'testnet', regtest: 'dev' } as const;
const names = Object.keys(deployments) as BitcoinNetworkName[];

/** A wallet of a network and kind, by a key of its own. */
function walletOn(name: BitcoinNetworkName, kind: ProofKind): TestWallet {
  const { secretKey: privateKey } = secp256k1.keygen();
  const network = bitcoinNetworks[name];
  const pubkey = bytesToHex(secp256k1.getPublicKey(privateKey, true));
  return {
    family: 'bitcoin',
    address: addressesOfPubkey(pubkey, network)[kind],
    pubkey,
    sign: async (message) => signBip322({ privateKey, kind, message, network }).signature,
  };
}

for (const name of names) {
  describe(`a deployment on ${name}`, () => {
    let edge: TestEdge;
    before(async () => {
      edge = await startEdge({ settings: { network: deployments[name] } });
    });
    after(() => edge.close());

    for (const kind of kinds) {
      test(`takes its own ${kind} addresses, to mint and to link`, async () => {
        const wallet = walletOn(name, kind);
        const { key } = await account(edge, wallet);
        const me = await edge.call('GET', '/v1/me', { key });
        assert.equal(me.body.wallets.bitcoin.login, wallet.address);
        const other = walletOn(name, kind);
        assert.equal((await link(edge, key, other)).body.address, other.address);
      });
    }

    for (const from of names.filter((each) => each !== name)) {
      test(`refuses an address of ${from} with a sentence that names both networks`, async () => {
        const { key } = await account(edge, evmWallet());
        for (const kind of kinds) {
          // Test networks share their base58 forms.
          if (kind === 'p2shP2wpkh' && from !== 'mainnet' && name !== 'mainnet') continue;
          const wallet = walletOn(from, kind);
          const other = kind === 'p2shP2wpkh' && from === 'regtest' ? 'testnet' : from;
          for (const answer of [await edge.mint(wallet), await link(edge, key, wallet)]) {
            assert.equal(codeOf(answer), '400 wrong_network', wallet.address);
            assert.match(answer.body.error, new RegExp(`Bitcoin ${name}\\b`));
            assert.match(answer.body.error, new RegExp(`Bitcoin ${other}\\b`));
          }
        }
        const me = await edge.call('GET', '/v1/me', { key });
        assert.deepEqual(me.body.wallets.bitcoin, { login: null, proven: [] });
      });
    }
  });
}

describe('an address', () => {
  let edge: TestEdge;
  before(async () => {
    edge = await startEdge();
  });
  after(() => edge.close());

  /** One whose checksum has letters of both cases. */
  function mixedWallet(): TestWallet {
    for (;;) {
      const wallet = evmWallet();
      const digits = wallet.address.slice(2);
      if (/[a-f]/.test(digits) && /[A-F]/.test(digits)) return wallet;
    }
  }
  const swapCase = (text: string) =>
    [...text].map((c) => (c === c.toLowerCase() ? c.toUpperCase() : c.toLowerCase())).join('');

  test('of EVM is taken in any case with a right checksum or none, and kept with it', async () => {
    const wallet = mixedWallet();
    const digits = wallet.address.slice(2);
    const login = await account(edge, wallet);
    const spellings = [
      wallet.address,
      `0x${digits.toLowerCase()}`,
      `0x${digits.toUpperCase()}`,
      `0X${digits.toUpperCase()}`,
    ];
    const linked = mixedWallet();
    const { key } = await account(edge, evmWallet());
    for (const [at, address] of spellings.entries()) {
      const again = await edge.mint({ ...wallet, address });
      assert.equal(again.status, 200, address);
      assert.equal(again.body.replaced, true);
      const me = await edge.call('GET', '/v1/me', { key: again.body.key });
      assert.equal(me.body.userId, login.userId);
      assert.equal(me.body.wallets.evm.login, wallet.address);
      const other = [
        linked.address,
        linked.address.toLowerCase(),
        `0x${linked.address.slice(2).toUpperCase()}`,
        linked.address.toUpperCase(),
      ][at] as string;
      const proven = await link(edge, key, { ...linked, address: other });
      assert.equal(proven.body.address, linked.address, JSON.stringify(proven.body));
    }
    const me = await edge.call('GET', '/v1/me', { key });
    assert.deepEqual(me.body.wallets.evm.proven, [linked.address]);
    const spelt = linked.address.toLowerCase();
    const removed = await edge.call('DELETE', `/v1/wallets/${spelt}`, { key });
    assert.equal(removed.body.address, linked.address);
  });

  test('of EVM with a wrong checksum is refused, and the sentence says so', async () => {
    const wallet = mixedWallet();
    const address = `0x${swapCase(wallet.address.slice(2))}`;
    const answer = await edge.mint({ ...wallet, address });
    assert.equal(codeOf(answer), '400 bad_address');
    assert.match(answer.body.error, /checksum/);
    const { key } = await account(edge, evmWallet());
    assert.match((await link(edge, key, { ...wallet, address })).body.error, /checksum/);
  });

  test('of Bitcoin is taken in small letters or capitals, not in both, and kept in small', async () => {
    for (const kind of ['p2wpkh', 'p2tr'] as const) {
      const wallet = bitcoinWallet(kind);
      const { userId } = await account(edge, { ...wallet, address: wallet.address.toUpperCase() });
      const again = await account(edge, wallet);
      assert.equal(again.userId, userId);
      const me = await edge.call('GET', '/v1/me', { key: again.key });
      assert.equal(me.body.wallets.bitcoin.login, wallet.address);
      const mixed = wallet.address
        .replace(/[a-z]$/, (c) => c.toUpperCase())
        .replace('bcrt', 'Bcrt');
      const refused = await edge.mint({ ...wallet, address: mixed });
      assert.equal(codeOf(refused), '400 bad_address');
    }
  });

  test('of Bitcoin with base58 compares exactly', async () => {
    const wallet = walletOn('regtest', 'p2shP2wpkh');
    assert.equal((await edge.mint(wallet)).status, 200);
    const refused = await edge.mint({ ...wallet, address: swapCase(wallet.address) });
    assert.equal(codeOf(refused), '400 bad_address');
  });

  const nonsense = [
    '0x',
    `0x${'0'.repeat(39)}`,
    `0x${'0'.repeat(41)}`,
    '0'.repeat(40),
    ` 0x${'0'.repeat(40)}`,
    `0x${'0'.repeat(40)} `,
    `0x${'0'.repeat(39)}g`,
    'vitalik.eth',
    'bcrt1q',
    'bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t5',
    '1BoatSLRHtKNngkdXEeobR76b53LETtpyU',
    randomBytes(60).toString('hex'),
  ];
  for (const address of nonsense) {
    test(`that is none is 400: ${JSON.stringify(address).slice(0, 60)}`, async () => {
      for (const wallet of [evmWallet(), bitcoinWallet()]) {
        const answer = await mintOf(edge, wallet, (n) => `Parley\nNonce: ${n}`, { address });
        assert.equal(codeOf(answer), '400 bad_address');
      }
    });
  }

  test('of Bitcoin that cannot be proven here is refused with what to use instead', async () => {
    const of = Address(bitcoinNetworks.regtest);
    const hash = randomBytes(32);
    for (const address of [
      of.encode({ type: 'pkh', hash: hash.subarray(0, 20) }),
      of.encode({ type: 'wsh', hash }),
    ]) {
      const write = (nonce: string) => `Parley create an API key\nNonce: ${nonce}`;
      const answer = await mintOf(edge, bitcoinWallet(), write, { address });
      assert.equal(codeOf(answer), '400 bad_signature');
      assert.match(answer.body.error, /use P2WPKH, P2SH-P2WPKH or P2TR/);
    }
  });
});
