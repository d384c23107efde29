import assert from 'node:assert/strict';
import { test } from 'node:test';
import { deployment as pinned } from '../../contracts/escrows/artifacts/abi.ts';
import { mostShards, shardAt, shardOf } from '../../contracts/escrows/ids.ts';
import { hashlockOf } from '../../core/hashlock.ts';
import { contractId } from '../../core/rules.ts';
import type { EscrowTerms } from '../../core/terms.ts';
import {
  calledBy,
  callsIn,
  claimCall,
  contractFor,
  decodeCall,
  deploymentOf,
  batchCall as evmBatch,
  evmContract,
  evmDeployment,
  evmEscrow,
  fundCalls,
  fundedIn,
} from '../evm/plan.ts';
import { authorizationAlternative, permitAlternative } from '../evm/ways.ts';
import { tronAddressOf } from '../tron/address.ts';
import { batchCall as tronBatch, callsIn as tronCallsIn, tronEscrow } from '../tron/plan.ts';
import { contractsFault } from './plan.ts';

const [first, second, third] = [0, 1, 2].map((each) => shardOf(each).address) as [
  string,
  string,
  string,
];
const one = evmDeployment(1);
const two = evmDeployment(1, { shards: [second] });
const three = evmDeployment(1, { shards: [third, second] });
const former = evmDeployment(1, { contract: third, formerContracts: [first, second] });
const secret = '5a'.repeat(32);
const fundersOf = (count: number) =>
  Array.from({ length: count }, (_, at) => `0x${(at + 1).toString(16).padStart(40, 'a')}`);

function terms(contract: string | null, over: Partial<EscrowTerms> = {}): EscrowTerms {
  return {
    chain: 'evm',
    hashlock: hashlockOf(secret),
    payout: { address: `0x${'22'.repeat(20)}`, pubkey: null },
    refund: { address: `0x${'33'.repeat(20)}`, pubkey: null },
    token: null,
    amount: 1_000n,
    timelock: 1_800_007_200,
    fundBefore: 1_800_003_600,
    lane: { ...(contract !== null && { contract }), number: 'a5'.repeat(12), counter: 3 },
    ...over,
  };
}
const at = (contract: string) => evmEscrow(terms(contract), three).address;

test('a shard has one address on every chain, and an address tells its salt', () => {
  assert.deepEqual(shardOf(0), { number: 0, salt: pinned.salt, address: pinned.address });
  assert.equal(
    new Set(Array.from({ length: mostShards }, (_, at_) => shardOf(at_).address)).size,
    256,
  );
  assert.deepEqual(shardAt(shardOf(255).address), shardOf(255));
  assert.equal(shardAt(pinned.deployer), null);
  for (const none of [-1, 256, 1.5]) assert.throws(() => shardOf(none), RangeError);
});

test('escrows are spread over the contracts by their funder, who stays where he is', () => {
  const funders = fundersOf(300);
  assert.deepEqual(new Set(funders.map((each) => contractFor(each, one))), new Set([first]));
  const before = funders.map((each) => contractFor(each, two));
  for (const each of [first, second]) {
    const share = before.filter((contract) => contract === each).length;
    assert.ok(share > 100, `${share} of 300 go to ${each}`);
  }
  const after = funders.map((each) => contractFor(each, three));
  const moved = after.filter((contract, index) => contract !== before[index]);
  assert.ok(moved.length > 50 && moved.length < 150);
  assert.deepEqual(new Set(moved), new Set([third]));
  // Whichever of them is named first, and not in one that takes no new escrow.
  const other = evmDeployment(1, { contract: second, shards: [first] });
  assert.deepEqual(
    funders.map((each) => contractFor(each, other)),
    before,
  );
  assert.deepEqual(new Set(funders.map((each) => contractFor(each, former))), new Set([third]));
});

test('terms name their contract; without one they mean the first', () => {
  for (const each of [first, second, third]) {
    for (const deployment of [three, former]) {
      assert.equal(evmEscrow(terms(each), deployment).address.split(':')[0], each);
      const [fund] = fundCalls(terms(each), deployment, 0n);
      assert.deepEqual([fund?.to, claimCall(terms(each), deployment, secret).to], [each, each]);
    }
  }
  assert.equal(new Set([first, second, third].map(at)).size, 3);
  const domain = { name: 'T', chainId: '1', verifyingContract: first };
  const inToken = terms(second, {
    token: third,
    payout: { address: `0x${'44'.repeat(20)}`, pubkey: null },
  });
  const abilities = { permit: domain, authorization: domain };
  const values = { nonce: 0n, value: 1n, deadline: 9 };
  const permit = permitAlternative(inToken, two, abilities, values);
  const authorization = authorizationAlternative(inToken, two, abilities);
  assert.deepEqual([permit?.call?.to, permit?.typedData?.message.spender], [second, second]);
  assert.deepEqual(
    [authorization?.call?.to, authorization?.typedData?.message.to],
    [second, second],
  );
  assert.equal(evmEscrow(terms(null), two).address, evmEscrow(terms(first), one).address);
  const [funder] = fundersOf(9).filter((each) => contractFor(each, two) === second);
  const { lane: _, ...laneless } = terms(null, { refund: { address: funder ?? '', pubkey: null } });
  assert.equal(deploymentOf({ deployment: two }, laneless).contract, second);
});

test('a contract that is not configured is refused, with those that are', () => {
  const message = `contract ${third} is none of the 2 configured: ${first}, ${second}`;
  assert.throws(() => evmEscrow(terms(third), two), { code: 'bad_address', message });
  assert.throws(() => claimCall(terms(third), two, secret), { code: 'bad_address' });
});

test('money of an escrow is not paid to a contract of escrows', () => {
  const payout = { address: second, pubkey: null };
  assert.throws(() => evmEscrow(terms(first, { payout }), two), /is the escrow contract/);
});

test('calls are of the contract that their bytes name, or of any where they name none', () => {
  const { data } = claimCall(terms(second), two, secret);
  const named = (hex: string) => callsIn(hex, two).map(({ escrow }) => escrow);
  assert.deepEqual(named(`${second}${data.slice(2)}`), [at(second)]);
  assert.deepEqual(named(`${first}${data.slice(2)}`), [at(first)]);
  assert.deepEqual(named(data), [at(first), at(second)]);
  const [fund] = fundCalls(terms(second), two, 0n);
  const funding = fund?.data ?? '';
  assert.deepEqual(fundedIn(`${second}${funding.slice(2)}`, two), [at(second)]);
  assert.deepEqual(fundedIn(funding, two), [at(first), at(second)]);
});

test('what is sent to a contract is its own, whichever another a secret or a hashlock names', () => {
  const named = second.slice(2).toLowerCase();
  const poisoned = `${named}${secret.slice(named.length)}`;
  const of = terms(first, { hashlock: poisoned });
  const calls = [claimCall(terms(first), two, poisoned), claimCall(of, two, secret)];
  for (const [index, { to, data }] of calls.entries()) {
    const { address } = evmEscrow([terms(first), of][index] as EscrowTerms, two);
    const read = callsIn(data, calledBy(to, two));
    assert.deepEqual(
      read.map(({ escrow }) => escrow),
      [address],
    );
    assert.equal(decodeCall(to, data, two)?.escrow, address);
  }
  assert.equal(calledBy(pinned.deployer, two), two);
  assert.equal(calledBy(null, two), two);
});

test('bytes that name no contract cost as much with eight of them as with one', () => {
  const legs = Array.from({ length: 1_000 }, () => ({ terms: terms(first), secret }));
  const { data } = evmBatch({ verb: 'claim', legs }, one);
  const shards = Array.from({ length: 7 }, (_, index) => shardOf(index + 1).address);
  const eight = evmDeployment(1, { shards });
  assert.equal(callsIn(data, one).length, 1_000);
  assert.equal(callsIn(data, eight).length, 1_000);
});

test('a batch is of one contract', () => {
  const legs = [first, second, second].map((each) => ({ terms: terms(each), secret }));
  const batch = { verb: 'claim', legs: legs.slice(1) } as const;
  assert.equal(evmBatch(batch, two).to, second);
  assert.throws(() => evmBatch({ verb: 'claim', legs }, two), /a batch is of one contract/);
  assert.throws(() => evmBatch({ verb: 'refund', legs }, two), /a batch is of one contract/);
});

test('on TRON as on EVM', () => {
  const tron = (byte: number) => tronAddressOf(new Uint8Array(20).fill(byte));
  const [own, other] = [tron(1), tron(2)];
  const deployment = { chainId: 7, contract: own, shards: [{ contract: other }] };
  const of = (contract: string) =>
    terms(contract, {
      payout: { address: tron(3), pubkey: null },
      refund: { address: tron(4), pubkey: null },
    });
  const legs = [own, other].map((each) => ({ terms: of(each), secret }));
  for (const [index, contract] of [own, other].entries()) {
    const call = tronBatch({ verb: 'claim', legs: legs.slice(index, index + 1) }, deployment, own);
    assert.equal(call.to, contract);
    const escrows = tronCallsIn(call.data, deployment).map(({ escrow }) => escrow);
    assert.ok(escrows.includes(tronEscrow(of(contract), deployment).address));
  }
  assert.throws(() => tronBatch({ verb: 'claim', legs }, deployment, own), /of one contract/);
  assert.throws(() => tronEscrow(of(tron(5)), deployment), /none of the 2 configured/);
});

test('at most eight contracts are named, each once', () => {
  const some = (count: number) =>
    Array.from({ length: count }, (_, at_) => shardOf(at_ + 1).address);
  assert.equal(contractsFault(evmDeployment(1, { shards: some(7) })), null);
  const many = evmDeployment(1, { shards: some(6), formerContracts: some(8).slice(6) });
  assert.match(contractsFault(many) ?? '', /9 contracts are named; at most 8/);
  const twice = evmDeployment(1, { formerContracts: [first.toLowerCase()] });
  assert.equal(contractsFault(twice), `${first} is named twice among the contracts`);
});

test('the rules commit to the contracts that take new escrows, in any order', () => {
  assert.deepEqual(evmContract(one), evmContract({ contract: first }));
  assert.equal(contractId(evmContract(one)).split(':').length, 2);
  const ids = [one, two, three].map((each) => contractId(evmContract(each)));
  assert.equal(new Set(ids).size, 3);
  assert.ok(ids.every((each) => each.startsWith(`${contractId(evmContract(one))}`)));
  const turned = evmDeployment(1, {
    shards: [second, third],
    formerContracts: [shardOf(9).address],
  });
  assert.equal(contractId(evmContract(turned)), ids[2]);
});
