// The promises of every gas key (packages/chains/gas/account.ts), on the families that have one:
// its transactions, what they pay, and their outcomes.

import assert from 'node:assert/strict';
import type { ChainAdapter } from '@parley/chains/adapter.ts';
import type { GasAccount, GasSlot, GasTransaction, GasWork } from '@parley/chains/gas/account.ts';
import { hangingNode } from '@parley/chains/testing/nodes.ts';
import { hashlockOf } from '@parley/core/hashlock.ts';
import type { AdapterPromise, Driver, Money } from './driver.ts';
import {
  claim,
  codeOf,
  deepLeg,
  finalise,
  type Leg,
  newLeg,
  plainCoins,
  refund,
  signal,
} from './leg.ts';
import { lyingNode } from './nodes.ts';

const plenty = 10n ** 18n;
const claimOf = ({ escrow: { terms }, secret }: Leg, isPublic = true): GasWork => {
  return { verb: 'claim', terms, secret, isPublic };
};
const refundOf = ({ escrow: { terms } }: Leg): GasWork => ({ verb: 'refund', terms });

type Stranger = {
  readonly adapter: ChainAdapter;
  readonly account: GasAccount;
  sign(work: GasWork, over?: Partial<GasSlot>): Promise<GasTransaction>;
  /** The code that signing ends with, or none. */
  refused(work: GasWork, over?: Partial<GasSlot>): Promise<string>;
  /** In a block when it returns. */
  send(signed: GasTransaction): Promise<GasTransaction>;
  outcome(sent: GasTransaction): ReturnType<GasAccount['outcome']>;
};

function moneyOf({ money }: Driver): Money {
  assert.ok(money, 'the family has no gas keys');
  return money;
}

/** A key of nobody in the swap, which has enough for anything. */
async function strangerOn(driver: Driver, urls?: readonly string[]): Promise<Stranger> {
  const adapter = driver.adapter();
  const account = await moneyOf(driver).gasAccount(urls);
  const sign = async (work: GasWork, over: Partial<GasSlot> = {}) => {
    const nonce = await account.minedNonce(signal());
    return account.sign(work, { nonce, above: null, mostCost: plenty, ...over }, signal());
  };
  return {
    adapter,
    account,
    sign,
    refused: (work, over) => codeOf(sign(work, over)),
    send: async (signed) => {
      await adapter.broadcast(signed, signal());
      await driver.show();
      return signed;
    },
    outcome: (sent) => account.outcome(sent, signal()),
  };
}

const kept: readonly AdapterPromise[] = [
  {
    name: 'a claim by a stranger pays the payout address, a refund the funder; neither costs more than said',
    run: async (driver) => {
      const one = await strangerOn(driver);
      const { held, newcomer } = moneyOf(driver);
      const funder = driver.parties.funder.address;
      for (const kind of driver.coins) {
        const payout = { address: newcomer(), pubkey: null };
        const claimed = await deepLeg(driver, one.adapter, kind, { payout });
        const refunded = await deepLeg(driver, one.adapter, kind);
        for (const [leg, work, payee] of [
          [claimed, claimOf(claimed), payout.address],
          [refunded, refundOf(refunded), funder],
        ] as const) {
          if (work.verb === 'refund') await driver.pass(5 * 3_600);
          const had = await held(kind, payee);
          const paid = await one.account.balance(signal());
          const sent = await one.sign(work);
          assert.match(await one.outcome(sent), /^(pending|unknown)$/);
          await one.send(sent);
          const gained = (await held(kind, payee)) - had;
          // A refund on Solana returns the rent of the escrow with its coins.
          const isExact = driver.family !== 'solana' || kind !== 'native' || payee !== funder;
          if (isExact) assert.equal(gained, driver.amount(kind));
          else assert.ok(gained > driver.amount(kind));
          const cost = paid - (await one.account.balance(signal()));
          assert.ok(cost >= 0n && cost <= sent.mostCost, `${cost} of ${sent.mostCost}`);
          assert.deepEqual(await one.account.paid?.(sent.txid, signal()), { cost, said: 1 });
          assert.deepEqual(
            sent.touches.map(({ escrow, verb }) => [escrow, verb]),
            [[leg.escrow.address, work.verb]],
          );
          assert.equal(sent.payer, one.account.address);
          assert.equal(await one.outcome(sent), 'mined');
          await finalise(driver);
          assert.equal(await one.outcome(sent), 'deep');
        }
      }
    },
  },
  {
    name: 'a party that was first: nothing is signed; what was signed before fails',
    run: async (driver) => {
      const one = await strangerOn(driver);
      assert.equal(await one.refused(claimOf(newLeg(driver))), 'nothing_there');
      const leg = await deepLeg(driver, one.adapter);
      const late = await one.sign(claimOf(leg));
      await claim(driver, one.adapter, leg);
      await driver.show();
      for (const isPublic of [true, false]) {
        assert.equal(await one.refused(claimOf(leg, isPublic)), 'nothing_there');
      }
      assert.equal(await one.outcome(late), 'unknown');
      await (moneyOf(driver).force ?? ((sent) => one.adapter.broadcast(sent, signal())))(late);
      await driver.show();
      assert.equal(await one.outcome(late), 'failed');
      const other = await deepLeg(driver, one.adapter);
      await driver.pass(5 * 3_600);
      await refund(driver, one.adapter, other);
      await driver.show();
      assert.equal(await one.refused(refundOf(other)), 'nothing_there');
    },
  },
  {
    name: 'too early, too late, with another secret and on another chain nothing is signed',
    run: async (driver) => {
      const one = await strangerOn(driver);
      const leg = await deepLeg(driver, one.adapter);
      const { terms } = leg.escrow;
      assert.equal(await one.refused(refundOf(leg)), 'payout_would_fail');
      const wrong = { ...leg, secret: 'ab'.repeat(32) };
      assert.equal(await one.refused(claimOf(wrong)), 'wrong_secret');
      const elsewhere = { ...leg, escrow: { ...leg.escrow, terms: { ...terms, chain: 'other' } } };
      assert.equal(await one.refused(claimOf(elsewhere)), 'bad_chain');
      if ((await one.account.minedNonce(signal())) === null) {
        await assert.rejects(async () => one.sign({ verb: 'void' }), /no nonces/);
      }
      await driver.pass(5 * 3_600);
      for (const isPublic of [true, false]) {
        assert.equal(await one.refused(claimOf(leg, isPublic)), 'payout_would_fail');
      }
    },
  },
  {
    name: 'a block taken back makes it pending or unknown; sent again it lands',
    run: async (driver) => {
      const one = await strangerOn(driver);
      const sent = await one.send(await one.sign(claimOf(await deepLeg(driver, one.adapter))));
      assert.equal(await one.outcome(sent), 'mined');
      await driver.takeBack(1);
      assert.match(await one.outcome(sent), /^(pending|unknown)$/);
      await driver.dev.mine(1);
      await one.send(sent);
      await finalise(driver);
      assert.equal(await one.outcome(sent), 'deep');
    },
  },
  {
    name: 'what could cost more than the limit is not signed, and what must be at hand is more',
    run: async (driver) => {
      const one = await strangerOn(driver);
      const leg = await deepLeg(driver, one.adapter);
      const { mostCost } = await one.sign(claimOf(leg));
      assert.ok((await one.sign(claimOf(leg), { mostCost })).mostCost <= mostCost);
      for (const less of [0n, mostCost / 3n]) {
        assert.equal(await one.refused(claimOf(leg), { mostCost: less }), 'fee_above_limit');
      }
      assert.ok((await one.account.reserve(claimOf(leg), signal())) >= mostCost);
    },
  },
  {
    name: 'a secret that no chain has shown is told to no node before its claim is sent',
    run: async (driver) => {
      const heard: string[] = [];
      const ear = await lyingNode(driver, ({ text }, answer) => {
        heard.push(text);
        return answer;
      });
      try {
        const one = await strangerOn(driver, [ear.url]);
        for (const kind of plainCoins(driver)) {
          const leg = await deepLeg(driver, driver.adapter(), kind);
          await one.account.reserve(claimOf(leg, false), signal());
          const quote = await one.account.quote(claimOf(leg, false), signal());
          const signed = await one.sign(claimOf(leg, false));
          assert.equal(quote, signed.mostCost);
          assert.ok(heard.length > 3);
          const said = heard.join('\n');
          const inBase64 = Buffer.from(leg.secret, 'hex').toString('base64').slice(2, 40);
          for (const form of [leg.secret, inBase64]) assert.ok(!said.includes(form), 'told');
          // On Solana a trial holds all of the transaction, in base64 of any alignment.
          assert.doesNotMatch(said, /"(simulate|send)Transaction"/);
          assert.equal(await one.outcome(await one.send(signed)), 'mined');
        }
      } finally {
        await ear.stop();
      }
    },
  },
  {
    name: 'a gas key whose node hangs ends in chain_timeout, whose node is gone in chain_unavailable',
    run: async (driver) => {
      const leg = newLeg(driver);
      const silent = await hangingNode();
      const soon = () => AbortSignal.timeout(400);
      try {
        for (const [url, code] of [
          [silent.url, 'chain_timeout'],
          ['http://127.0.0.1:1', 'chain_unavailable'],
        ] as const) {
          const account = await moneyOf(driver).gasAccount([url]);
          const slot = { nonce: 0, above: null, mostCost: plenty };
          for (const call of [
            () => account.sign(claimOf(leg), slot, soon()),
            () => account.reserve(claimOf(leg), soon()),
            () => account.balance(soon()),
            () => account.outcome({ txid: '1'.repeat(64), nonce: 0, diesAt: 1 }, soon()),
          ]) {
            assert.equal(await codeOf(call()), code);
          }
        }
      } finally {
        await silent.stop();
      }
    },
  },
  {
    name: 'a claim whose hashlock and secret read as one more call is signed all the same',
    except: { solana: 'an instruction is told from its data by the program that it names' },
    run: async (driver) => {
      const one = await strangerOn(driver);
      // Its hash ends in the selector of fundWithAuthorization, and it is as narrow as a counter.
      const secret = '255a67c1'.padStart(64, '0');
      const hashlock = hashlockOf(secret);
      assert.match(hashlock, /acbfa20d$/);
      const leg = await deepLeg(driver, one.adapter, 'native', { hashlock });
      const signed = await one.sign(claimOf({ ...leg, secret }));
      assert.equal(await one.outcome(await one.send(signed)), 'mined');
    },
  },
];

const bitcoin = 'a claim needs the signature of its receiver: there are no gas keys';

export const gasPromises: readonly AdapterPromise[] = kept.map((promise) => {
  return { ...promise, except: { bitcoin, ...promise.except } };
});
