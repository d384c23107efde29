import assert from 'node:assert/strict';
import test from 'node:test';
import { schnorr } from '@noble/curves/secp256k1.js';
import { bytesToHex, hexToBytes } from '@noble/hashes/utils.js';
import { bitcoinNetworks, parseBitcoinAddress } from '@parley/chains/bitcoin/networks.ts';
import { verifyBitcoinProof } from '@parley/chains/bitcoin/proof.ts';
import { Transaction } from '@scure/btc-signer';
import { bitcoinWallet, signaturesOf } from './bitcoin.ts';
import type { Coin } from './coins.ts';

const network = bitcoinNetworks.regtest;
const soon = () => AbortSignal.timeout(60_000);

function walletWith(coins: Coin[], rate = 2) {
  const source = {
    coins: async () => coins,
    output: async ({ txid, vout }: { txid: string; vout: number }) => {
      const found = coins.find((each) => each.txid === txid && each.vout === vout);
      return found === undefined ? null : { amountSats: found.amountSats, confirmations: 1 };
    },
    feeRateSatPerVbyte: async () => rate,
  };
  return bitcoinWallet({ privateKey: '42'.repeat(32), network: 'regtest', source });
}

function coin(index: number, amountSats: bigint): Coin {
  return { txid: index.toString(16).padStart(64, '0'), vout: 0, amountSats };
}

test('its BIP-322 signature proves its address and shows its key', async () => {
  const wallet = walletWith([]);
  const signature = await wallet.signMessage('Hello World\nNonce: 1');
  const proof = { address: wallet.address, message: 'Hello World\nNonce: 1', signature, network };
  assert.equal(verifyBitcoinProof(proof).pubkey, wallet.pubkey);
  assert.throws(() => verifyBitcoinProof({ ...proof, message: 'Hello World' }));
});

test('a payment has one output of exactly the amount, and change of the rest less the fee', async () => {
  const wallet = walletWith([coin(1, 50_000n), coin(2, 200_000n)]);
  const to = 'bcrt1qw508d6qejxtdg4y5r3zarvary0c5xw7kygt080';
  const { raw, txid } = await wallet.signPayment(to, 120_000n, soon());
  const tx = Transaction.fromRaw(hexToBytes(raw));
  assert.equal(tx.id, txid);
  assert.equal(tx.inputsLength, 1);
  const { script } = parseBitcoinAddress(to, network);
  const paid = tx.getOutput(0);
  assert.equal(paid.amount, 120_000n);
  assert.equal(bytesToHex(paid.script ?? new Uint8Array()), bytesToHex(script));
  const fee = 200_000n - 120_000n - (tx.getOutput(1).amount ?? 0n);
  assert.ok(fee >= 2n * BigInt(tx.vsize) && fee < 3n * BigInt(tx.vsize), `fee ${fee}`);
});

test('two payments at once never spend one coin', async () => {
  const wallet = walletWith([coin(1, 100_000n), coin(2, 100_000n)]);
  const to = wallet.address;
  const both = await Promise.all([1, 2].map(() => wallet.signPayment(to, 60_000n, soon())));
  const inputs = both.map(({ raw }) => {
    const { txid } = Transaction.fromRaw(hexToBytes(raw)).getInput(0);
    return bytesToHex(txid ?? new Uint8Array());
  });
  assert.equal(new Set(inputs).size, 2);
  await assert.rejects(() => wallet.signPayment(to, 60_000n, soon()), /60000 and a fee are due/);
});

test('the coins of a payment from before a restart are left alone', async () => {
  const coins = [coin(1, 100_000n)];
  const { raw } = await walletWith(coins).signPayment(walletWith([]).address, 60_000n, soon());
  const after = walletWith(coins);
  after.reserve(raw);
  await assert.rejects(() => after.signPayment(after.address, 60_000n, soon()), /a fee are due/);
});

/** Fee and size of a transaction that spends some of these coins. */
function costOf(raw: string, coins: Coin[]) {
  const tx = Transaction.fromRaw(hexToBytes(raw), { allowUnknownOutputs: true });
  let fee = 0n;
  const spends: string[] = [];
  for (let at = 0; at < tx.inputsLength; at += 1) {
    const txid = bytesToHex(tx.getInput(at).txid ?? new Uint8Array());
    spends.push(txid);
    fee += coins.find((each) => each.txid === txid)?.amountSats ?? 0n;
  }
  for (let at = 0; at < tx.outputsLength; at += 1) fee -= tx.getOutput(at).amount ?? 0n;
  return { fee, vsize: tx.vsize, spends, outputs: tx.outputsLength };
}

test('a cancellation spends one coin of the payment back, and outbids it and the one before', async () => {
  const coins = [coin(1, 50_000n), coin(2, 90_000n), coin(3, 70_000n)];
  const wallet = walletWith(coins, 20);
  const { raw } = await wallet.signPayment(walletWith([]).address, 200_000n, soon());
  const payment = costOf(raw, coins);
  assert.equal(payment.spends.length, 3);
  let former = await wallet.signCancel(raw, null, soon());
  assert.ok(typeof former !== 'string');
  const first = costOf(former.raw, coins);
  assert.deepEqual(first.spends, [coins[1]?.txid]);
  assert.equal(first.outputs, 1);
  // BIP 125: more than all it replaces, by a satoshi a byte of its own, and at a higher rate.
  assert.ok(first.fee >= payment.fee + BigInt(first.vsize), `${first.fee} after ${payment.fee}`);
  assert.ok(Number(first.fee) / first.vsize > Number(payment.fee) / payment.vsize);
  const second = await wallet.signCancel(raw, former, soon());
  assert.ok(typeof second !== 'string');
  assert.deepEqual(second.former, [former.txid]);
  assert.ok(costOf(second.raw, coins).fee >= first.fee + BigInt(first.vsize));
  former = second;
  for (let tries = 0; tries < 1_000 && typeof former !== 'string'; tries += 1) {
    former = await wallet.signCancel(raw, former, soon());
  }
  assert.equal(former, 'no_fee');
  // A quarter of the value at most, as for claims and refunds.
  assert.equal(await walletWith(coins.slice(1), 20).signCancel(raw, null, soon()), 'coins_gone');
});

test('the coins of a cancelled payment can be spent again once they are released', async () => {
  const coins = [coin(1, 100_000n)];
  const wallet = walletWith(coins);
  const { raw } = await wallet.signPayment(wallet.address, 60_000n, soon());
  const cancel = await wallet.signCancel(raw, null, soon());
  assert.ok(typeof cancel !== 'string');
  await assert.rejects(() => wallet.signPayment(wallet.address, 60_000n, soon()));
  wallet.release(raw, cancel);
  await wallet.signPayment(wallet.address, 60_000n, soon());
});

test('a raised payment spends the same coins, pays the same, and outbids the one before', async () => {
  const coins = [coin(1, 60_000n), coin(2, 90_000n), coin(3, 70_000n)];
  const payTo = 'bcrt1qw508d6qejxtdg4y5r3zarvary0c5xw7kygt080';
  const payment = { payTo, amountSats: 100_000n };
  const wallet = walletWith(coins, 2);
  let kept = await wallet.signPayment(payTo, payment.amountSats, soon());
  const first = kept;
  let before = costOf(kept.raw, coins);
  assert.equal(before.spends.length, 2);
  let raises = 0;
  for (; raises < 1_000; raises += 1) {
    const raised = await wallet.signRaise(kept, payment, soon());
    if (raised === 'no_fee') break;
    assert.ok(typeof raised !== 'string');
    const cost = costOf(raised.raw, coins);
    const paid = Transaction.fromRaw(hexToBytes(raised.raw)).getOutput(0);
    assert.equal(paid.amount, payment.amountSats);
    const { script } = parseBitcoinAddress(payTo, network);
    assert.deepEqual(paid.script, script);
    assert.deepEqual(cost.spends, before.spends);
    // BIP 125 rules 3 and 4.
    assert.ok(cost.fee >= before.fee + BigInt(cost.vsize), `${cost.fee} after ${before.fee}`);
    assert.ok(Number(cost.fee) / cost.vsize > Number(before.fee) / before.vsize);
    assert.ok(cost.fee <= payment.amountSats / 4n, 'a quarter of the payment at most');
    assert.equal(raised.former?.at(-1), kept.txid);
    [kept, before] = [raised, cost];
  }
  assert.ok(raises > 3 && raises < 100, `${raises} raises`);
  const dearer = await walletWith(coins, 40).signRaise(first, payment, soon());
  assert.ok(typeof dearer !== 'string');
  const { fee, vsize } = costOf(dearer.raw, coins);
  assert.ok(fee >= 40n * BigInt(vsize), 'what is estimated, where that is more');
  const gone = walletWith(coins.slice(2), 2);
  assert.equal(await gone.signRaise(first, payment, soon()), 'coins_gone');
});

test('without change enough there is no fee to raise, and no other coin is taken for it', async () => {
  const coins = [coin(1, 100_400n), coin(2, 900_000n)];
  const payTo = walletWith([]).address;
  const payment = { payTo, amountSats: 100_000n };
  const kept = await walletWith(coins.slice(0, 1), 2).signPayment(payTo, 100_000n, soon());
  assert.equal(await walletWith(coins, 20).signRaise(kept, payment, soon()), 'no_fee');
});

test('a wallet without coins signs and never pays; its payout is of its network', async () => {
  const about = { privateKey: '42'.repeat(32), network: 'regtest' } as const;
  const payout = 'bcrt1p0xlxvlhemja6c4dqv22uapctqupfhlxm9h8z3k2e72q4k9hcz7vqc8gma6';
  const wallet = bitcoinWallet({ ...about, payout: payout.toUpperCase() });
  assert.deepEqual([wallet.payout, wallet.address], [payout, walletWith([]).address]);
  assert.ok(!('signPayment' in wallet) && !('payout' in bitcoinWallet(about)));
  const hash = '11'.repeat(32);
  const signatures = await wallet.signSighashes([hash], soon());
  assert.deepEqual(signatures, await walletWith([]).signSighashes([hash], soon()));
  const mainnet = 'bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4';
  const code = { code: 'wrong_network', message: /Bitcoin mainnet; this is Bitcoin regtest/ };
  assert.throws(() => bitcoinWallet({ ...about, payout: mainnet }), code);
  assert.throws(() => bitcoinWallet({ ...about, payout: '' }), { code: 'bad_address' });
});

test('a leaf of Taproot is signed by BIP 340, and by a wallet that can alone', async () => {
  const wallet = walletWith([]);
  const hash = '11'.repeat(32);
  const form = { form: 'p2tr' } as const;
  const [signature = ''] = await signaturesOf(wallet, form, [hash], soon());
  const key = hexToBytes(wallet.pubkey).slice(1);
  assert.ok(schnorr.verify(hexToBytes(signature), hexToBytes(hash), key));
  assert.deepEqual(
    await signaturesOf(wallet, {}, [hash], soon()),
    await wallet.signSighashes([hash], soon()),
  );
  const plain = bitcoinWallet({ privateKey: '42'.repeat(32), network: 'regtest', form: 'p2wsh' });
  assert.deepEqual([wallet.form, 'form' in plain], ['p2tr', false]);
  const { signLeaves: _, ...other } = wallet;
  await assert.rejects(signaturesOf(other, form, [hash], soon()), { code: 'no_wallet' });
});

test('a payment costs no more than a quarter of its amount, whatever rate a node names', async () => {
  const coins = Array.from({ length: 40 }, (_, at) => coin(at + 1, 30_000n));
  for (const [amount, rate] of [
    [25_000n, 400],
    [400_000n, 400],
    [400_000n, 10 ** 9],
  ] as const) {
    const wallet = walletWith(coins, rate);
    const { raw } = await wallet.signPayment(wallet.address, amount, soon());
    const { fee } = costOf(raw, coins);
    assert.ok(fee <= amount / 4n, `${fee} for ${amount} at ${rate}`);
  }
});
