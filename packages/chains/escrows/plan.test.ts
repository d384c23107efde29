import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { deployment as pinned } from '@parley/contracts/escrows/artifacts/abi.ts';
import { mostShards, shardAt, shardOf } from '@parley/contracts/escrows/ids.ts';
import { hashlockOf } from '@parley/core/hashlock.ts';
import { contractId } from '@parley/core/rules.ts';
import type { EscrowTerms } from '@parley/core/terms.ts';
import type { Hex } from 'viem';
import { parseEvmAddress } from '../evm/address.ts';
import * as evm from '../evm/plan.ts';
import { authorizationAlternative, permitAlternative } from '../evm/ways.ts';
import { refuses } from '../testing/refusals.ts';
import { tronAddressOf } from '../tron/address.ts';
import * as tron from '../tron/plan.ts';
import { contractsFault, contractsOf, type Deployment } from './plan.ts';

const bytesOf = (byte: number) => new Uint8Array(20).fill(byte);
const evmAddress = (byte: number) =>
  parseEvmAddress(`0x${Buffer.from(bytesOf(byte)).toString('hex')}`);
const tronAddress = (byte: number) => tronAddressOf(bytesOf(byte));
const secret = '5a'.repeat(32);

type Call = { readonly to: string; readonly data: string; readonly value: string | bigint };

/** The plans of both families, in one form: data is hex without 0x. */
const plain = (calls: readonly Call[]) =>
  calls.map(({ to, data, value }) => [to, data.replace('0x', ''), BigInt(value)] as const);
const families = {
  evm: {
    address: evmAddress,
    ...evm,
    escrowOf: evm.evmEscrow,
    fund: (...of: Parameters<typeof evm.fundCalls>) => plain(evm.fundCalls(...of)),
    claim: (...of: Parameters<typeof evm.claimCall>) => plain([evm.claimCall(...of)])[0]!,
    refund: (...of: Parameters<typeof evm.refundCall>) => plain([evm.refundCall(...of)])[0]!,
    batch: (...of: Parameters<typeof evm.batchCall>) => plain([evm.batchCall(...of)])[0]!,
  },
  tron: {
    address: tronAddress,
    ...tron,
    escrowOf: tron.tronEscrow,
    fund: (...of: Parameters<typeof evm.fundCalls>) => plain(tron.fundCalls(of[0], of[1], of[2])),
    claim: (...of: Parameters<typeof evm.claimCall>) => plain([tron.claimCall(...of)])[0]!,
    refund: (...of: Parameters<typeof evm.refundCall>) => plain([tron.refundCall(...of)])[0]!,
    batch: (...[batch, of]: Parameters<typeof evm.batchCall>) =>
      plain([tron.batchCall(batch, of, tronAddress(7))])[0]!,
  },
};

for (const [family, plan] of Object.entries(families)) {
  const { address, escrowOf } = plan;
  const [first, second, third] = [0xe5, 0xe6, 0xe7].map(address) as [string, string, string];
  const [payout, refund, token, other] = [1, 2, 3, 4].map(address) as [
    string,
    string,
    string,
    string,
  ];
  const to = (at: string) => ({ address: at, pubkey: null });
  const number = '5a'.repeat(12);
  const coin: EscrowTerms = {
    chain: family,
    hashlock: hashlockOf(secret),
    payout: to(payout),
    refund: to(refund),
    token: null,
    amount: 12_345_678n,
    timelock: 1_800_086_400,
    fundBefore: 1_800_003_600,
    lane: { number, counter: 7 },
  };
  const tokens = { ...coin, token };
  const one: Deployment = { chainId: 728_126_428, contract: first };
  const two = { ...one, shards: [{ contract: second }] };
  const three = { ...one, shards: [{ contract: third }, { contract: second }] };
  const former = {
    chainId: one.chainId,
    contract: third,
    formerContracts: [{ contract: first }, { contract: second }],
  };
  const inContract = (contract: string, terms = coin): EscrowTerms => {
    return { ...terms, lane: { number, counter: 7, contract } };
  };
  const at = (contract: string) => escrowOf(inContract(contract), three).address;

  describe(family, () => {
    test('an escrow commits to every term, to the lane, to the contract and to the chain', () => {
      const others: readonly (readonly [EscrowTerms, Deployment?])[] = [
        [coin],
        [{ ...coin, hashlock: '22'.repeat(32) }],
        [{ ...coin, payout: to(other) }],
        [{ ...coin, refund: to(other) }],
        [tokens],
        [{ ...coin, amount: coin.amount + 1n }],
        [{ ...coin, timelock: coin.timelock + 1 }],
        [{ ...coin, fundBefore: 1_800_003_601 }],
        [{ ...coin, lane: { number, counter: 8 } }],
        [{ ...coin, lane: { number: '6a'.repeat(12), counter: 7 } }],
        [coin, { ...one, chainId: 1 }],
        [coin, { ...one, contract: second }],
      ];
      const escrows = others.map(([terms, of = one]) => escrowOf(terms, of).address);
      assert.equal(new Set(escrows).size, others.length);
    });

    test('destinations where money would be lost are refused, as is a token that is none', () => {
      const bad = refuses('bad_address');
      for (const field of ['payout', 'refund']) {
        for (const lost of [address(0), token, first, second]) {
          assert.throws(() => escrowOf({ ...tokens, [field]: to(lost) }, two), bad, lost);
        }
        escrowOf({ ...coin, [field]: to(token) }, two);
      }
      assert.throws(() => escrowOf({ ...coin, token: address(0) }, one), bad);
    });

    test('a token is approved exactly and only as far as it must be; coins go with the call', () => {
      const shape = (allowance: bigint) =>
        plan.fund(tokens, one, allowance).map(([called, data, value]) => {
          assert.equal(value, 0n);
          return `${called === token ? 'token' : called} ${data.slice(0, 8)} ${data.slice(-8)}`;
        });
      const [[called, data, value] = ['', '', 0n], ...more] = plan.fund(coin, one, 0n);
      assert.deepEqual([called, value, more], [first, coin.amount, []]);
      const fund = `${first} ${data.slice(0, 8)} 00000007`;
      const approve = (amount: string) => `token 095ea7b3 ${amount}`;
      for (const enough of [coin.amount, coin.amount + 1n]) assert.deepEqual(shape(enough), [fund]);
      assert.deepEqual(shape(0n), [approve('00bc614e'), fund]);
      const reset = [approve('00000000'), approve('00bc614e'), fund];
      for (const low of [1n, coin.amount - 1n]) assert.deepEqual(shape(low), reset);
    });

    test('escrows are spread over the contracts by their funder, who stays where he is', () => {
      const funders = Array.from({ length: 200 }, (_, at) => address(at));
      const homes = (of: Deployment) => funders.map((each) => plan.contractFor(each, of));
      assert.deepEqual(new Set(homes(one)), new Set([first]));
      const before = homes(two);
      for (const each of [first, second]) {
        const share = before.filter((contract) => contract === each).length;
        assert.ok(share > 60, `${share} of 200 go to ${each}`);
      }
      const moved = homes(three).filter((contract, index) => contract !== before[index]);
      assert.ok(moved.length > 30 && moved.length < 110, `${moved.length}`);
      assert.deepEqual(new Set(moved), new Set([third]));
      // Whichever of them is named first, and not in one that takes no new escrow.
      const turned = { ...one, contract: second, shards: [{ contract: first }] };
      assert.deepEqual(homes(turned), before);
      assert.deepEqual(new Set(homes(former)), new Set([third]));
      const index = before.indexOf(second);
      const { lane: _, ...laneless } = { ...coin, refund: to(funders[index] ?? '') };
      assert.equal(plan.deploymentOf({ deployment: two }, laneless).contract, second);
    });

    test('terms name their contract, or mean the first; one that is not configured is refused', () => {
      for (const contract of [first, second, third]) {
        for (const on of [three, former]) {
          const terms = inContract(contract);
          assert.equal(escrowOf(terms, on).address.split(':')[0], contract);
          const called = [plan.fund(terms, on, 0n)[0]?.[0], plan.claim(terms, on, secret)[0]];
          assert.deepEqual(called, [contract, contract]);
        }
      }
      assert.equal(new Set([first, second, third].map(at)).size, 3);
      assert.equal(escrowOf(coin, two).address, escrowOf(inContract(first), one).address);
      const message = `contract ${third} is none of the 2 configured: ${first}, ${second}`;
      const unknown = { code: 'bad_address', message };
      assert.throws(() => escrowOf(inContract(third), two), unknown);
      assert.throws(() => plan.claim(inContract(third), two, secret), unknown);
    });

    test('calls are of the contract that their bytes name, or of any where they name none', () => {
      const bare = (byte: string) => byte.repeat(20);
      const [, claim] = plan.claim(inContract(second), two, secret);
      const named = (hex: string) => plan.callsIn(hex, two).map(({ escrow }) => escrow);
      assert.deepEqual(named(`${bare('e6')}${claim}`), [at(second)]);
      assert.deepEqual(named(`${bare('e5')}${claim}`), [at(first)]);
      assert.deepEqual(named(claim), [at(first), at(second)]);
      const fund = plan.fund(inContract(second), two, 0n)[0]?.[1] ?? '';
      assert.deepEqual(plan.fundedIn(`${bare('e6')}${fund}`, two), [at(second)]);
      assert.deepEqual(plan.fundedIn(fund, two), [at(first), at(second)]);
      const legs = [first, second].map((each) => ({ terms: inContract(each), secret }));
      assert.throws(() => plan.batch({ verb: 'claim', legs }, two), /a batch is of one contract/);
    });
  });
}

const [first, second, third] = [0, 1, 2].map((each) => shardOf(each).address) as [
  string,
  string,
  string,
];
const two = evm.evmDeployment(1, { shards: [second] });
const coin: EscrowTerms = {
  chain: 'evm',
  hashlock: hashlockOf(secret),
  payout: { address: evmAddress(0x22), pubkey: null },
  refund: { address: evmAddress(0x33), pubkey: null },
  token: null,
  amount: 1_000n,
  timelock: 1_800_007_200,
  fundBefore: 1_800_003_600,
  lane: { contract: first, number: '5a'.repeat(12), counter: 3 },
};

test('EVM: a shard has one address on every chain, and an address tells its salt', () => {
  assert.deepEqual(shardOf(0), { number: 0, salt: pinned.salt, address: pinned.address });
  const all = Array.from({ length: mostShards }, (_, each) => shardOf(each).address);
  assert.equal(new Set(all).size, 256);
  assert.deepEqual(shardAt(shardOf(255).address), shardOf(255));
  assert.equal(shardAt(pinned.deployer), null);
  for (const none of [-1, 256, 1.5]) assert.throws(() => shardOf(none), RangeError);
});

test('EVM: what is signed to fund names the contract of the terms', () => {
  const domain = { name: 'T', chainId: '1', verifyingContract: third };
  const terms = { ...coin, token: third, lane: { ...coin.lane!, contract: second } };
  const abilities = { permit: domain, authorization: domain };
  const values = { nonce: 0n, value: 1n, deadline: 9 };
  const permit = permitAlternative(terms, two, abilities, values);
  const authorization = authorizationAlternative(terms, two, abilities);
  assert.deepEqual([permit?.call?.to, permit?.typedData?.message.spender], [second, second]);
  const { call, typedData } = authorization ?? assert.fail();
  assert.deepEqual([call?.to, typedData?.message.to], [second, second]);
});

test('EVM: what is sent to a contract is its own, whichever another a secret or hashlock names', () => {
  const named = second.slice(2).toLowerCase();
  const poisoned = `${named}${secret.slice(named.length)}`;
  for (const [terms, shown] of [
    [coin, poisoned],
    [{ ...coin, hashlock: poisoned }, secret],
  ] as const) {
    const { to, data } = evm.claimCall(terms, two, shown);
    const { address } = evm.evmEscrow(terms, two);
    const read = evm.callsIn(data, evm.calledBy(to, two));
    assert.deepEqual(
      read.map(({ escrow }) => escrow),
      [address],
    );
    assert.equal(evm.decodeCall(to, data, two)?.escrow, address);
    assert.equal(evm.decodeCall(evmAddress(0x33), data, two), null, 'sent elsewhere');
    assert.equal(evm.decodeCall(to, `${data}00`, two)?.escrow, address, 'something more');
    const quoted: Hex = `0x00${data.slice(2)}`;
    assert.equal(evm.decodeCall(to, quoted, two), null, 'within something else');
  }
  for (const elsewhere of [pinned.deployer, null]) {
    assert.equal(evm.calledBy(elsewhere, two), two);
  }
});

test('EVM: at most eight contracts are named, each once', () => {
  const some = (count: number) => Array.from({ length: count }, (_, at) => shardOf(at + 1).address);
  const faultOf = (contracts: evm.EvmContracts) => contractsFault(evm.evmDeployment(1, contracts));
  assert.equal(contractsOf(evm.evmDeployment(1, { shards: some(7) })).length, 8);
  assert.equal(faultOf({ shards: some(7) }), null);
  const nine = faultOf({ shards: some(6), formerContracts: some(8).slice(6) });
  assert.match(nine ?? '', /9 contracts are named; at most 8/);
  const twice = faultOf({ formerContracts: [first.toLowerCase()] });
  assert.equal(twice, `${first} is named twice among the contracts`);
});

test('EVM: the rules commit to the contracts that take new escrows, in any order', () => {
  const idOf = (of: evm.EvmContracts) => contractId(evm.evmContract(evm.evmDeployment(1, of)));
  assert.equal(idOf({}), contractId(evm.evmContract({ contract: first })));
  assert.equal(idOf({}).split(':').length, 2);
  const ids = [{}, { shards: [second] }, { shards: [third, second] }].map(idOf);
  assert.equal(new Set(ids).size, 3);
  assert.ok(ids.every((each) => each.startsWith(idOf({}))));
  const turned = { shards: [second, third], formerContracts: [shardOf(9).address] };
  assert.equal(idOf(turned), ids[2]);
});
