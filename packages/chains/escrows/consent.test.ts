// A payee agrees by a signature: to coins that go back at once, and to escrows in its own lanes.

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { legStatus } from '@parley/core/facts.ts';
import { freshLane } from '@parley/core/testing.ts';
import { refuses } from '../testing/refusals.ts';
import { burning, type Leg, read, rejecting, worlds } from './testing/worlds.ts';

const signal = () => AbortSignal.timeout(60_000);
const inputOf = ({ escrow }: Leg) => ({ escrow, feeRateSatPerVbyte: null, isPublic: false });
const to = (address: string) => ({ address, pubkey: null });
/** Says yes to every signature (EIP-1271): the whole word, its four bytes alone, and 1. */
const saysYes = '631626ba7e60e01b60005260206000f3';
const saysHalf = '631626ba7e60e01b60005260046000f3';
const saysTrue = '600160005260206000f3';
const noConsent = refuses('bad_signature');

for (const [family, begin] of Object.entries(worlds)) {
  const world = await begin();
  describe(family, () => {
    const { leg, sign } = world;
    const opened = async (over: Parameters<typeof leg>[0] = {}): Promise<Leg> => {
      const each = await leg(over);
      await world.fund(each);
      return each;
    };
    const textOf = async (each: Leg) => {
      const material = await (await world.adapter()).consent?.buildRelease(inputOf(each), signal());
      if (material?.sign !== 'typed-data') throw new Error('a release is no text');
      return material.typedData;
    };
    const refundOf = async (each: Leg, release: string) =>
      (await world.adapter()).buildRefund({ ...inputOf(each), release }, signal());
    const check = async ({ terms }: Leg, signature: string) =>
      (await world.adapter()).consent?.checkRelease?.(terms, signature, signal());

    for (const token of [null, 'DevTether'] as const) {
      test(`the payee gives up its claim: ${token ?? 'coins'} go back before the timelock`, async () => {
        const own = token === null ? {} : { token: world.token(token) };
        const each = await opened(own);
        const adapter = await world.adapter();
        const held = async () => adapter.held?.(each.terms, signal()) ?? 0n;
        const before = await held();
        const release = await sign(await textOf(each));
        await check(each, release);
        // Wallets write v as 0 or 1 too.
        const bare = release.slice(0, -2) + { '1b': '00', '1c': '01' }[release.slice(-2)];
        await check(each, bare);
        const material = await refundOf(each, bare);
        assert.deepEqual(material, await refundOf(each, release));
        await world.perform(material);
        await world.finalize();
        const facts = await read(adapter, each);
        assert.deepEqual([legStatus(facts), facts.refunded?.deep], ['refunded', true]);
        assert.deepEqual([facts.claimed, facts.balance, facts.empty], [null, 0n, true]);
        if (token !== null) assert.equal((await held()) - before, each.terms.amount);
        await assert.rejects(refundOf(each, release), refuses('nothing_there', /refunded/));
      });
    }

    test('a payee that signs no text sends its release itself', async () => {
      const each = await opened();
      await world.release(each);
      await world.finalize();
      assert.equal(legStatus(await read(await world.adapter(), each)), 'refunded');
    });

    test('a release of somebody else, of another escrow or of another text is none', async () => {
      const each = await opened();
      const other = await leg();
      const { lanes } = await world.adapter();
      const wrong = [
        await sign(await textOf(each), 'anyone'),
        await sign(await textOf(other)),
        await sign(lanes?.consent(each.terms) ?? assert.fail()),
        '0x',
        'no hex',
        `0x${'00'.repeat(65)}`,
        `0x${'11'.repeat(8_193)}`,
      ];
      for (const release of wrong) {
        await assert.rejects(check(each, release), noConsent, release.slice(0, 20));
        await assert.rejects(refundOf(each, release), noConsent, release.slice(0, 20));
      }
    });

    test('a contract gives up its claim by its code, which answers a whole word', async () => {
      const each = await opened({ payout: to(await world.put(saysYes)) });
      const release = '0x1234';
      await check(each, release);
      await world.perform(await refundOf(each, release));
      assert.notEqual((await read(await world.adapter(), each)).refunded, null);
      for (const code of [saysHalf, saysTrue, rejecting]) {
        const mute = await opened({ payout: to(await world.put(code)) });
        await assert.rejects(check(mute, release), noConsent);
        await assert.rejects(refundOf(mute, release), noConsent);
      }
    });

    test('a signed refund tells whether it needs the timelock', async () => {
      const each = await opened();
      const adapter = await world.adapter();
      adapter.watch([each.escrow]);
      const touch = { escrow: each.escrow.address, verb: 'refund', secret: null } as const;
      const early = await refundOf(each, await sign(await textOf(each)));
      const late = await adapter.buildRefund(inputOf(each), signal());
      for (const [material, expected] of [
        [early, { ...touch, isReleased: true }],
        [late, touch],
      ] as const) {
        const { touches } = await adapter.readSigned(await world.signed(material), signal());
        assert.deepEqual(touches, [expected]);
      }
    });

    const ofPayee = () => ({ number: `f${freshLane().number.slice(1)}`, counter: 1 });

    for (const token of [null, 'DevTether'] as const) {
      test(`${token ?? 'coins'}: a lane of the payee's is opened with its consent, and used again`, async () => {
        const own = token === null ? {} : { token: world.token(token) };
        const adapter = await world.adapter();
        const { lanes } = adapter;
        const lane = ofPayee();
        const first = await leg({ ...own, lane });
        const consent = async (each: Leg, by?: 'anyone') =>
          sign(lanes?.consent(each.terms) ?? assert.fail(), by);
        const build = async (each: Leg, laneSignature?: string) =>
          adapter.buildFund(
            { ...inputOf(each), ...(laneSignature !== undefined && { laneSignature }) },
            signal(),
          );
        const next = await leg({ ...own, lane: { ...lane, counter: 2 } });
        for (const wrong of [
          undefined,
          await consent(first, 'anyone'),
          await consent(next),
          await sign(await textOf(first)),
        ]) {
          await assert.rejects(build(first, wrong), noConsent);
        }
        await adapter.preflight(first.terms, 'funding', signal());
        await world.perform(await build(first, await consent(first)));
        const stateOf = async (owner: string) =>
          lanes?.read({ contract: world.contract, owner }, [lane.number], signal());
        assert.deepEqual(await stateOf(world.receiver), [{ counter: 1, isOpen: true }]);
        assert.deepEqual(await stateOf(world.funder), [{ counter: 0, isOpen: false }]);
        await world.finalize();
        assert.equal(legStatus(await read(adapter, first)), 'funded');
        await adapter.preflight(first.terms, 'claim', signal());
        await world.claim(first);
        await world.perform(await build(next, await consent(next)));
        await world.finalize();
        assert.deepEqual(
          [legStatus(await read(adapter, first)), legStatus(await read(adapter, next))],
          ['claimed', 'funded'],
        );
      });
    }

    test('many are funded by one call, all or none', async () => {
      const token = world.token('DevTether');
      const adapter = await world.adapter();
      const batch = (legs: readonly Leg[]) =>
        adapter.buildBatch?.({ verb: 'fund', legs }, world.funder, signal()) ?? assert.fail();
      const coins = [await leg(), await leg({ amount: 7n })];
      const tokens = [await leg({ token }), await leg({ token, amount: 9n })];
      const legs = [coins[0], tokens[0], coins[1], tokens[1]] as Leg[];
      const { material, settles, gas } = await batch(legs);
      // An approval of the sum comes first, so that the call itself cannot be tried.
      assert.deepEqual([settles, gas], [4, null]);
      await world.perform(material);
      await world.finalize();
      for (const each of legs) {
        const facts = await read(adapter, each);
        assert.deepEqual([legStatus(facts), facts.balance], ['funded', each.terms.amount]);
      }
      const [more, taken] = [await leg(), await leg({ lane: legs[0]?.terms.lane ?? freshLane() })];
      await assert.rejects(batch([more, taken]), refuses('funding_would_fail', /lane was used 1/));
      await assert.rejects(batch(legs), refuses('already_funded'));
      const alien = await leg({ refund: to(world.anyone) });
      await assert.rejects(batch([alien]), /of one funder/);
      const built = await batch([more]);
      await world.perform(built.material);
      await world.finalize();
      assert.equal(legStatus(await read(adapter, more)), 'funded');
    });

    test('a batch leaves the payment that fails, and settles the others', async () => {
      const fine = [await opened(), await opened({ amount: 5n })];
      const refused = await opened({ payout: to(await world.put(rejecting)) });
      const legs = [refused, ...fine].map(({ terms, secret }) => ({ terms, secret }));
      const adapter = await world.adapter();
      const built = await adapter.buildBatch?.({ verb: 'claim', legs }, world.anyone, signal());
      const { material, settles } = built ?? assert.fail();
      assert.equal(settles, 2);
      await world.perform(material);
      await world.finalize();
      const statusOf = async (each: Leg) => legStatus(await read(adapter, each));
      assert.deepEqual(await Promise.all([refused, ...fine].map(statusOf)), [
        'funded',
        'claimed',
        'claimed',
      ]);
    });

    test('receivers that burn all gas once a batch is tried hold up none of the others', async () => {
      const burners = [await world.put(burning), await world.put(burning)];
      const hostile: Leg[] = [];
      for (const burner of burners) hostile.push(await opened({ payout: to(burner) }));
      const fine = await opened();
      const legs = [...hostile, fine].map(({ terms, secret }) => ({ terms, secret }));
      const adapter = await world.adapter();
      const built = await adapter.buildBatch?.({ verb: 'claim', legs }, world.anyone, signal());
      const { material, settles, gas } = built ?? assert.fail();
      assert.equal(settles, 3);
      for (const burner of burners) await world.tell(burner, '01');
      await world.perform(material, gas ?? undefined);
      await world.finalize();
      const all = await Promise.all([...hostile, fine].map((each) => read(adapter, each)));
      assert.deepEqual(all.map(legStatus), ['funded', 'funded', 'claimed']);
    });
  });
}
