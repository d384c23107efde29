import assert from 'node:assert/strict';
import { randomBytes, randomInt } from 'node:crypto';
import { test } from 'node:test';
import { hexToBytes } from '@noble/hashes/utils.js';
import { bytesOf, decodeFields } from '@parley/contracts/tron/protobuf.ts';
import { ParleyError } from '@parley/core/errors.ts';
import { hashlockOf } from '@parley/core/hashlock.ts';
import type { EscrowTerms } from '@parley/core/terms.ts';
import { freshLane } from '@parley/core/testing.ts';
import type { GasAccount, GasSlot, GasTransaction, GasWork } from '../gas/account.ts';
import { parseGasKey } from '../gas/keys.ts';
import { refuses } from '../testing/refusals.ts';
import type { TronAdapter } from './adapter.ts';
import { readTronSigned } from './broadcast.ts';
import { createTronGasAccount } from './gas-account.ts';
import { bareAddress, callsIn, claimCall, tronEscrow } from './plan.ts';
import { type TronGasPolicy, tronGasPolicies } from './policy.ts';
import {
  anyone,
  deploy,
  fund,
  funder,
  type Leg,
  newcomer,
  newLeg,
  send,
  signal,
} from './testing/chain.ts';
import { byOwner, deployToken } from './testing/tokens.ts';
import { tronWorld } from './testing/world.ts';

const { chain, adapterOf, urlOf } = await tronWorld();
const devGas = tronGasPolicies['tron-dev'] as TronGasPolicy;
const plenty = 1_000_000_000n;
const funded = async (over: Partial<EscrowTerms> = {}) => {
  const leg = newLeg(chain, over);
  await fund(chain, leg);
  return leg;
};

type Stranger = {
  readonly adapter: TronAdapter;
  readonly account: GasAccount;
  sign(work: GasWork, over?: Partial<GasSlot>): Promise<GasTransaction>;
  send(work: GasWork, over?: Partial<GasSlot>): Promise<GasTransaction>;
  outcome(sent: GasTransaction): ReturnType<GasAccount['outcome']>;
};

async function stranger(
  over: { readonly urls?: readonly string[]; readonly policy?: TronGasPolicy } = {},
): Promise<Stranger> {
  const { urls = [], policy = devGas } = over;
  const adapter = adapterOf(...urls);
  const key = parseGasKey('tron', randomBytes(32).toString('hex'));
  const account = createTronGasAccount({ key, adapter, policy });
  await chain.dev.give({ address: account.address, token: null, amount: null });
  const slot = { nonce: null, above: null, mostCost: plenty };
  const sign = (work: GasWork, own: Partial<GasSlot> = {}) =>
    account.sign(work, { ...slot, ...own }, signal());
  return {
    adapter,
    account,
    sign,
    send: async (work, own) => {
      const signed = await sign(work, own);
      await adapter.broadcast(signed, signal());
      return signed;
    },
    outcome: (sent) => account.outcome(sent, signal()),
  };
}

const claimOf = ({ terms, secret }: Leg, isPublic = true): GasWork => {
  return { verb: 'claim', terms, secret, isPublic };
};
const refundOf = ({ terms }: Leg): GasWork => ({ verb: 'refund', terms });
test('a late claim that waits for a block keeps no refund away; the clock is asked all the same', async () => {
  const one = await stranger();
  const leg = await funded();
  const other = await funded();
  const claimed = ({ terms, secret }: Leg) =>
    send(chain, anyone, claimCall(terms, chain.deployment, secret));
  await claimed(other);
  await assert.rejects(one.sign(refundOf(other)), refuses('payout_would_fail', /not passed/));
  await chain.pass(7_200);
  await claimed(leg);
  const sent = await one.send(refundOf(leg));
  await chain.dev.mine(1);
  assert.equal(await one.outcome(sent), 'mined');
});

test('an expired transaction is gone once a solid block is as late, and not before; signed again it lands', async () => {
  const one = await stranger();
  const leg = await funded();
  const sent = await one.sign(claimOf(leg));
  assert.ok(sent.diesAt !== null && sent.diesAt <= chain.now() + devGas.lifeSeconds + 1);
  await chain.pass(devGas.lifeSeconds + 10);
  assert.equal(await one.outcome(sent), 'unknown');
  await chain.solidify();
  assert.equal(await one.outcome(sent), 'gone');
  await assert.rejects(one.adapter.broadcast(sent, signal()), refuses('refused_by_node', /EXPIR/));
  const again = await one.send(claimOf(leg));
  assert.notEqual(again.txid, sent.txid);
  await chain.solidify();
  await chain.solidify();
  await chain.pass(devGas.lifeSeconds + 10);
  await chain.solidify();
  assert.equal(await one.outcome(again), 'deep');
  // A node that is behind says that it knows nothing: the others are asked too.
  const behind = await urlOf(({ path }, forward) =>
    path.endsWith('gettransactioninfobyid') ? { body: {} } : forward(),
  );
  const two = await stranger({ urls: [behind, chain.url] });
  assert.equal(await two.outcome(again), 'deep');
});

test('the least balance covers a new holder at the dearest price that the policy knows', async () => {
  const one = await stranger();
  for (const token of [null, chain.token('DevTether')]) {
    const leg = newLeg(chain, { token, payout: { address: newcomer(), pubkey: null } });
    const before = await one.account.reserve(claimOf(leg), signal());
    await fund(chain, leg);
    const reserve = await one.account.reserve(claimOf(leg), signal());
    assert.ok(reserve >= before);
    assert.equal(await one.account.reserve(refundOf(leg), signal()), before);
    assert.ok(reserve >= 54_000n * devGas.reserveEnergySun);
    assert.ok((await one.sign(claimOf(leg))).mostCost <= reserve);
  }
});

test('receivers that burn or refuse, and tokens that refuse, are not paid for', async () => {
  const one = await stranger();
  const unpaid = async (leg: Leg, by = one, words = /./) => {
    for (const isPublic of [true, false]) {
      const refused = refuses('payout_would_fail', words);
      await assert.rejects(by.sign(claimOf(leg, isPublic)), refused);
    }
  };
  // INVALID, which takes all that there is. PUSH1 0, PUSH1 0, REVERT.
  for (const code of ['fe', '60006000fd']) {
    await unpaid(await funded({ payout: { address: await deploy(chain, code), pubkey: null } }));
  }
  const frugal = await stranger({ policy: { ...devGas, mostEnergy: 20_000n } });
  const leg = await funded({ token: chain.token('DevTether') });
  await unpaid(leg, frugal, /energy, and 20000 is the most/);
  const token = await deployToken(chain, 'Pausable');
  const words = [bareAddress(funder.address).slice(2), '2710'].map((word) =>
    word.padStart(64, '0'),
  );
  await byOwner(chain, token, 'transfer(address,uint256)', ...words);
  const paused = await funded({ token });
  const early = await one.sign(claimOf(paused));
  await byOwner(chain, token, 'pause()');
  await unpaid(paused);
  await one.adapter.broadcast(early, signal());
  await chain.dev.mine(1);
  assert.equal(await one.outcome(early), 'failed');
  await byOwner(chain, token, 'unpause()');
  const sent = await one.send(claimOf(paused));
  await chain.dev.mine(1);
  assert.equal(await one.outcome(sent), 'mined');
});

const chance = (sides: number) => randomInt(sides) === 0;

function anyTerms(secret: string, own: string): EscrowTerms {
  const some = [own, chain.deployment.contract, newcomer(), 'T9yD14Nj9j7xAB4dbGeiX9h8unkKHxuWwb'];
  const where = () => {
    const address = chance(3) ? (some[randomInt(some.length)] as string) : newcomer();
    return { address, pubkey: null };
  };
  return {
    chain: chance(9) ? 'tron' : 'tron-dev',
    hashlock: chance(9) ? randomBytes(32).toString('hex') : hashlockOf(secret),
    payout: where(),
    refund: where(),
    token: chance(2) ? null : where().address,
    amount: BigInt(`0x${randomBytes(1 + randomInt(chance(2) ? 32 : 6)).toString('hex')}`),
    timelock: randomInt(2 ** 40),
    fundBefore: randomInt(2 ** 40),
    lane: freshLane(),
  };
}

test('the key signs nothing but calls of the escrow contract, without value, whatever it is asked', async () => {
  const word = (value: number) => value.toString(16).padStart(64, '0');
  // Every escrow is funded and every call works, as this node has it.
  const yes = await urlOf(({ path, body }, forward) => {
    const { length } = String(body.data);
    if (!path.endsWith('triggerconstantcontract') || length === 8) return forward();
    const isState = length === 8 + 9 * 64;
    const output = isState ? word(1) + word(1) : '';
    return { body: { result: { result: true }, constant_result: [output], energy_used: 9_000 } };
  });
  const one = await stranger({ urls: [yes] });
  let signed = 0;
  for (let round = 0; round < 60; round += 1) {
    const secret = randomBytes(32).toString('hex');
    const any = anyTerms(secret, one.account.address);
    const terms = round % 4 === 0 ? { ...newLeg(chain).terms, hashlock: hashlockOf(secret) } : any;
    const work: GasWork = chance(2)
      ? { verb: 'refund', terms }
      : { verb: 'claim', terms, secret, isPublic: true };
    const made = await one.sign(work).catch((error: unknown) => {
      assert.ok(error instanceof ParleyError, String(error));
      return null;
    });
    if (made === null) continue;
    signed += 1;
    const { rawData, owner, called } = readTronSigned(made.raw);
    const calls = callsIn(rawData, chain.deployment);
    assert.deepEqual(
      [owner, called, calls.length],
      [one.account.address, chain.deployment.contract, 1],
    );
    assert.equal(calls[0]?.verb, work.verb);
    assert.equal(calls[0]?.escrow, tronEscrow(terms, chain.deployment).address);
    // Read strictly: any other field, a value or a token's among them, throws.
    const raw = decodeFields(hexToBytes(rawData), rawShape);
    const contract = decodeFields(bytesOf(raw, 11), { 1: 'int', 2: 'message' });
    const message = decodeFields(bytesOf(contract, 2), { 1: 'bytes', 2: 'bytes' });
    decodeFields(bytesOf(message, 2), { 1: 'bytes', 2: 'bytes', 4: 'bytes' });
  }
  assert.ok(signed >= 15, `${signed} of 60`);
});

const rawShape = { 1: 'bytes', 4: 'bytes', 8: 'int', 11: 'message', 14: 'int', 18: 'int' } as const;
