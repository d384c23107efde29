// BIP-322 beside a node: Bitcoin Knots signs and verifies it with signmessage and verifymessage,
// which a Bitcoin Core does for P2PKH alone. On a Core these tests only say so.

import assert from 'node:assert/strict';
import { after, before, type TestContext, test } from 'node:test';
import { base64 } from '@scure/base';
import { RawTx, RawWitness, WIF } from '@scure/btc-signer';
import fc from 'fast-check';
import { ParleyError } from '../../core/errors.ts';
import { bitcoinNetworks } from './networks.ts';
import { type ProofKind, signBip322, verifyBitcoinProof } from './proof.ts';
import { type Regtest, startRegtest } from './testing/regtest.ts';

const network = bitcoinNetworks.regtest;
const text = 'Parley - link this wallet\n\nNonce: 0123456789abcdef';
const types: Readonly<Record<string, ProofKind>> = {
  bech32: 'p2wpkh',
  'p2sh-segwit': 'p2shP2wpkh',
  bech32m: 'p2tr',
};

let node: Regtest;
let serves = false;
before(async () => {
  node = await startRegtest();
  const { subversion } = await node.rpc<{ subversion: string }>('getnetworkinfo');
  serves = subversion.includes('Knots');
});
after(() => node?.stop());

function served(t: TestContext): boolean {
  if (!serves) t.diagnostic('this bitcoind is no Knots: BIP-322 is not checked against it');
  return serves;
}

/** The signature that the node's own wallet makes for a new address. */
async function signedByNode(type: string, message: string) {
  const address = await node.wallet<string>('getnewaddress', ['', type]);
  const signature = await node.wallet<string>('signmessage', [address, message]);
  return { address, message, signature };
}

/** Of a full signature, which Knots makes for P2SH, the witness that a simple one is. */
function simple(signature: string): string {
  const { witnesses = [] } = RawTx.decode(base64.decode(signature));
  return base64.encode(RawWitness.encode(witnesses[0] ?? []));
}

const verifiedByNode = (address: string, signature: string, message: string) =>
  node.rpc<boolean>('verifymessage', [address, signature, message]);

function taken(proof: { address: string; message: string; signature: string }): boolean {
  try {
    verifyBitcoinProof({ ...proof, network });
    return true;
  } catch (error) {
    if (error instanceof ParleyError && error.code === 'bad_signature') return false;
    throw error;
  }
}

test('what the node signs is taken, and of no other text', async (t) => {
  if (!served(t)) return;
  for (const [type, kind] of Object.entries(types)) {
    for (const message of ['', 'hello', text, '東京 🗼']) {
      const made = await signedByNode(type, message);
      const signature = kind === 'p2shP2wpkh' ? simple(made.signature) : made.signature;
      assert.ok(taken({ ...made, signature }), `${type} ${message}`);
      assert.ok(!taken({ ...made, signature, message: `${message} ` }));
    }
  }
});

test('what this project signs, the node verifies', async (t) => {
  if (!served(t)) return;
  const privateKey = WIF(network).decode('cMahea7zqjxrtgAbB7LSGbcQUr1uX1ojuat9jZodMN87JcbXMTcA');
  for (const kind of ['p2wpkh', 'p2tr'] as const) {
    const { address, signature } = signBip322({ privateKey, kind, message: text, network });
    assert.ok(await verifiedByNode(address, signature, text), kind);
    assert.ok(!(await verifiedByNode(address, signature, `${text}.`)), kind);
  }
});

test('what is taken after any change of its bytes, the node takes too', async (t) => {
  if (!served(t)) return;
  let same = 0;
  for (const type of ['bech32', 'bech32m']) {
    const made = await signedByNode(type, text);
    const bytes = base64.decode(made.signature);
    const change = fc.tuple(fc.nat(bytes.length - 1), fc.nat(255));
    await fc.assert(
      fc.asyncProperty(change, async ([at, to]) => {
        const changed = Uint8Array.from(bytes);
        changed[at] = to;
        const signature = base64.encode(changed);
        if (!taken({ ...made, signature })) return;
        same += 1;
        assert.ok(await verifiedByNode(made.address, signature, text));
      }),
      { numRuns: 400, examples: [[[bytes.length - 1, bytes.at(-1) as number]]] },
    );
  }
  assert.ok(same >= 2, `${same} taken`);
});
