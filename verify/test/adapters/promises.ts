// The promises of every adapter (packages/chains/adapter.ts), one function a promise, run on every
// family.

import assert from 'node:assert/strict';
import type { ParleyError } from '@parley/core/errors.ts';
import { type EscrowFacts, nothingSeen, type Sighting } from '@parley/core/facts.ts';
import { depthTold } from './depth-told.ts';
import type { AdapterPromise, Driver } from './driver.ts';
import { endsTold } from './ends-told.ts';
import {
  allChanges,
  claim,
  codeOf,
  deepLeg,
  facts,
  finalise,
  fund,
  inputOf,
  type Leg,
  namedFacts,
  newLeg,
  plainCoins,
  read,
  refund,
  settleDown,
  signal,
} from './leg.ts';
import { oneBlock } from './one-block.ts';
import { sources, unspoken } from './sources.ts';

const noBinding = 'a script binds no amount, no payout and no number of payments (safety.md)';

/** Promises about nodes are kept the same, whatever the form of an escrow is. */
export const ofNodes: readonly AdapterPromise[] = [...sources, ...oneBlock];

export const promises: readonly AdapterPromise[] = [
  {
    name: 'an address has one canonical form, and another network’s is refused',
    run: async (driver) => {
      const adapter = driver.adapter();
      const [uncommon, canonical] = driver.spelt;
      assert.equal(adapter.parseAddress(uncommon), canonical);
      assert.equal(adapter.parseAddress(canonical), canonical);
      for (const bad of [driver.foreign, '', 'x'.repeat(300), `${canonical}1`]) {
        assert.throws(
          () => adapter.parseAddress(bad),
          (error) => /^(bad_address|wrong_network)$/.test((error as ParleyError).code),
        );
      }
    },
  },
  {
    name: 'costs and the least amount are told of every coin, and who has what a claim may take is short of nothing',
    run: async (driver) => {
      const adapter = driver.adapter();
      for (const kind of driver.coins) {
        const told = await adapter.costs?.(driver.token(kind), signal());
        assert.ok(told !== undefined);
        for (const { usual, most } of [told.fund, told.claim, told.refund]) {
          assert.ok(usual > 0n && most >= usual, `${kind}: ${usual}, ${most}`);
        }
        const token = driver.token(kind);
        // Fees move between two blocks.
        await adapter.checkAmount(token, 2n * told.leastAmount, signal());
        const less = adapter.checkAmount(token, told.leastAmount / 4n, signal());
        assert.equal(await codeOf(less), 'amount_too_small', kind);
        if (driver.money === undefined) continue;
        const poor = driver.money.newcomer();
        const payout = { address: driver.money.newcomer(), pubkey: null };
        const { terms } = newLeg(driver, kind, { payout }).escrow;
        const short = await adapter.claimShortage?.(terms, poor, signal());
        assert.ok(short && told.claim.most >= short.need, `${kind}: ${short?.need}`);
      }
    },
  },
  {
    name: 'the escrow follows from every one of its terms, and from nothing else',
    run: async (driver) => {
      const adapter = driver.adapter();
      const { escrow } = newLeg(driver);
      const { terms, address } = escrow;
      assert.equal(driver.adapter().plan({ ...terms }).address, address);
      const { parties } = driver;
      const others = [
        { hashlock: 'ab'.repeat(32) },
        { timelock: terms.timelock + 1 },
        { payout: parties.funder, refund: parties.receiver },
        ...(driver.family === 'bitcoin' ? [] : [{ amount: terms.amount + 1n }]),
        ...(driver.coins.includes('token') ? [{ token: driver.token('token') }] : []),
      ];
      const addresses = others.map((other) => adapter.plan({ ...terms, ...other }).address);
      assert.equal(new Set([address, ...addresses]).size, others.length + 1);
    },
  },
  {
    name: 'an escrow that nobody funded shows nothing, and cannot be claimed or refunded',
    run: async (driver) => {
      const adapter = driver.adapter();
      const leg = newLeg(driver);
      assert.deepEqual(await facts(adapter, leg), nothingSeen);
      const claiming = adapter.buildClaim(inputOf(leg), leg.secret, signal());
      assert.equal(await codeOf(claiming), 'nothing_there');
      assert.equal(await codeOf(adapter.buildRefund(inputOf(leg), signal())), 'nothing_there');
    },
  },
  {
    name: 'a funding is read, sent, seen, and deep at the depth of the policy and not before',
    run: async (driver) => {
      const adapter = driver.adapter();
      for (const kind of driver.coins) {
        const leg = newLeg(driver, kind);
        adapter.watch([leg.escrow]);
        const txid = await fund(driver, adapter, leg);
        await driver.show();
        const seen = await namedFacts(driver, adapter, leg);
        assert.equal(seen.funded?.txid, txid, kind);
        assert.equal(seen.funded.deep, false, `${kind}: one block is not deep`);
        assert.equal(seen.balance, driver.amount(kind));
        assert.equal(seen.empty, false);
        assert.deepEqual([seen.claimed, seen.refunded, seen.secret], [null, null, null]);
        await driver.deepen();
        const deep = await facts(adapter, leg);
        assert.equal(deep.funded?.deep, true, kind);
        assert.ok(deep.funded.confirmations >= driver.depth, `${deep.funded.confirmations}`);
      }
    },
  },
  {
    name: 'signed bytes say their txid and what they touch before they are sent; twice is once',
    run: async (driver) => {
      const adapter = driver.adapter();
      const leg = newLeg(driver);
      adapter.watch([leg.escrow]);
      const material = await adapter.buildFund(inputOf(leg), signal());
      const funding = await read(driver, adapter, 'funder', material);
      assert.deepEqual(funding.touches, [
        { escrow: leg.escrow.address, verb: 'fund', secret: null },
      ]);
      assert.equal(await adapter.isKnown(funding, signal()), false);
      assert.equal(await adapter.broadcast(funding, signal()), funding.txid);
      assert.equal(await adapter.broadcast(funding, signal()), funding.txid);
      await driver.dev.mine(1);
      assert.equal(await adapter.broadcast(funding, signal()), funding.txid);
      assert.equal(await adapter.isKnown(funding, signal()), true);
      await driver.deepen();
      const built = await adapter.buildClaim(inputOf(leg), leg.secret, signal());
      const claiming = await read(driver, adapter, 'receiver', built, leg.secret);
      assert.deepEqual(claiming.touches, [
        { escrow: leg.escrow.address, verb: 'claim', secret: leg.secret },
      ]);
      assert.equal(await adapter.broadcast(claiming, signal()), claiming.txid);
      await driver.show();
    },
  },
  {
    name: 'what is malformed, altered or for another family is bad_transaction',
    run: async (driver) => {
      const adapter = driver.adapter();
      const psbt = { psbtBase64: 'cHNidP8=', signaturesHex: [] };
      const tron = { raw_data_hex: '0a', signature: ['00'] };
      for (const signed of ['', 'zz', '0x', '00'.repeat(40), 'AAAA', psbt, tron]) {
        const code = await codeOf(adapter.readSigned(signed, signal()));
        assert.equal(code, 'bad_transaction', JSON.stringify(signed));
      }
    },
  },
  {
    name: 'a claim pays the payout and shows the secret: at first sight, then deep, then empty',
    run: async (driver) => {
      const adapter = driver.adapter();
      for (const kind of plainCoins(driver)) {
        const leg = await deepLeg(driver, adapter, kind);
        const txid = await claim(driver, adapter, leg);
        const sent = await facts(adapter, leg);
        assert.equal(sent.secret, leg.secret, `${kind}: sent is public`);
        await driver.show();
        const seen = await namedFacts(driver, adapter, leg);
        assert.deepEqual([seen.claimed?.txid, seen.claimed?.deep], [txid, false], kind);
        assert.equal(seen.secret, leg.secret);
        await driver.deepen();
        const deep = await namedFacts(driver, adapter, leg);
        assert.deepEqual([deep.claimed?.txid, deep.claimed?.deep], [txid, true], kind);
        assert.deepEqual([deep.balance, deep.refunded], [0n, null]);
        await finalise(driver);
        assert.equal((await facts(adapter, leg)).empty, true, kind);
        const again = adapter.buildClaim(inputOf(leg), leg.secret, signal());
        assert.equal(await codeOf(again), 'nothing_there');
      }
    },
  },
  {
    name: 'a secret that does not open the hashlock makes no claim',
    run: async (driver) => {
      const adapter = driver.adapter();
      const leg = await deepLeg(driver, adapter);
      const wrong = adapter.buildClaim(inputOf(leg), '00'.repeat(32), signal());
      assert.equal(await codeOf(wrong), 'wrong_secret');
      assert.equal((await facts(adapter, leg)).secret, null);
    },
  },
  {
    name: 'a refund before the timelock takes nothing, after it everything, to the funder',
    run: async (driver) => {
      const adapter = driver.adapter();
      for (const kind of plainCoins(driver)) {
        const leg = await deepLeg(driver, adapter, kind);
        assert.notEqual(await earlyRefund(driver, leg), 'taken', kind);
        await driver.dev.mine(1);
        const still = await facts(adapter, leg);
        assert.deepEqual([still.refunded, still.balance], [null, driver.amount(kind)], kind);
        await driver.pass(5 * 3_600);
        await allChanges(adapter);
        const txid = await refund(driver, adapter, leg);
        await driver.show();
        assert.ok((await allChanges(adapter)).has(leg.escrow.address), 'a refund was missed');
        assert.equal((await facts(adapter, leg)).refunded?.txid, txid, kind);
        await driver.deepen();
        const gone = await facts(adapter, leg);
        assert.equal(gone.refunded?.deep, true, kind);
        assert.deepEqual([gone.balance, gone.secret], [0n, null]);
        await finalise(driver);
        assert.equal((await facts(adapter, leg)).empty, true, kind);
        const again = adapter.buildRefund(inputOf(leg), signal());
        assert.equal(await codeOf(again), 'nothing_there');
      }
    },
  },
  {
    name: 'a claim after the timelock takes nothing',
    except: { bitcoin: 'a script cannot end the claim: the deadline engine does (safety.md, 3)' },
    run: async (driver) => {
      const adapter = driver.adapter();
      const leg = await deepLeg(driver, adapter);
      await driver.pass(5 * 3_600);
      await claim(driver, adapter, leg).catch(() => undefined);
      await driver.deepen();
      const after = await facts(adapter, leg);
      assert.deepEqual([after.claimed, after.balance], [null, driver.amount('native')]);
      await refund(driver, adapter, leg);
      await driver.deepen();
      assert.equal((await facts(adapter, leg)).refunded?.deep, true);
    },
  },
  {
    name: 'the same terms are funded once, also after they were settled',
    except: { bitcoin: noBinding },
    run: async (driver) => {
      const adapter = driver.adapter();
      const leg = await deepLeg(driver, adapter);
      assert.equal(await codeOf(adapter.buildFund(inputOf(leg), signal())), 'already_funded');
      await claim(driver, adapter, leg);
      await driver.dev.mine(1);
      await driver.deepen();
      assert.equal(await codeOf(adapter.buildFund(inputOf(leg), signal())), 'already_funded');
    },
  },
  {
    name: 'money that comes to the escrow past its funding funds nothing',
    except: {
      bitcoin: 'a payment is the funding there (packages/chains/bitcoin/escrow-facts.test.ts)',
      evm: 'an escrow has no address of its own: the contract refuses plain payments',
      tron: 'an escrow has no address of its own: the contract refuses plain payments',
    },
    run: async (driver) => {
      const adapter = driver.adapter();
      const leg = newLeg(driver);
      const { address } = leg.escrow;
      await driver.dev.give({ address, token: null, amount: driver.amount('native') });
      await driver.show();
      await driver.deepen();
      const shown = await facts(adapter, leg);
      assert.deepEqual([shown.funded, shown.secret], [null, null]);
      await fund(driver, adapter, leg);
      await driver.show();
      await driver.deepen();
      assert.equal((await facts(adapter, leg)).funded?.deep, true, 'and hinders none');
      await claim(driver, adapter, leg);
      await driver.show();
      await driver.deepen();
      assert.equal((await facts(adapter, leg)).claimed?.deep, true);
    },
  },
  {
    name: 'changes names what moved, nothing else, and nothing that is not watched any more',
    run: async (driver) => {
      const adapter = driver.adapter();
      const moving = newLeg(driver);
      const still = newLeg(driver);
      adapter.watch([moving.escrow, still.escrow]);
      await settleDown(driver, adapter);
      await fund(driver, adapter, moving);
      await driver.show();
      const first = await allChanges(adapter);
      assert.ok(first.has(moving.escrow.address), 'a funding was missed');
      assert.ok(!first.has(still.escrow.address), 'nothing happened to the other');
      await settleDown(driver, adapter);
      assert.equal((await allChanges(adapter)).size, 0, 'nothing moves');
      await claim(driver, adapter, moving);
      await driver.show();
      assert.ok((await allChanges(adapter)).has(moving.escrow.address), 'a claim was missed');
      await settleDown(driver, adapter);
      adapter.unwatch([moving.escrow.address, still.escrow.address]);
      await driver.dev.mine(2);
      assert.equal((await allChanges(adapter)).size, 0);
    },
  },
  {
    name: 'a funding that a reorganisation takes away is taken back, and comes again',
    run: async (driver) => {
      const adapter = driver.adapter();
      const leg = newLeg(driver);
      adapter.watch([leg.escrow]);
      await settleDown(driver, adapter);
      await fund(driver, adapter, leg);
      await driver.show();
      assert.notEqual((await facts(adapter, leg)).funded, null);
      await allChanges(adapter);
      await driver.takeBack(1);
      const gone = await facts(adapter, leg);
      assert.ok(gone.funded === null || gone.funded.confirmations === 0, 'it is in no block');
      await driver.show();
      if ((await facts(adapter, leg)).funded === null) await fund(driver, adapter, leg);
      await driver.show();
      await driver.deepen();
      assert.ok((await allChanges(adapter)).has(leg.escrow.address));
      assert.equal((await facts(adapter, leg)).funded?.deep, true);
    },
  },
  {
    name: 'a secret that was seen is not forgotten when its claim is taken back',
    run: async (driver) => {
      const adapter = driver.adapter();
      const leg = await deepLeg(driver, adapter);
      await claim(driver, adapter, leg);
      await driver.show();
      assert.equal((await facts(adapter, leg)).secret, leg.secret);
      await allChanges(adapter);
      await driver.takeBack(1);
      const back = await facts(adapter, leg);
      assert.equal(back.secret, leg.secret);
      assert.ok(back.claimed === null || !back.claimed.deep);
    },
  },
  {
    name: 'an adapter that starts in the middle shows what the other one shows',
    run: async (driver) => {
      const before = driver.adapter();
      const funded = await deepLeg(driver, before);
      const claimed = await deepLeg(driver, before);
      await claim(driver, before, claimed);
      await driver.show();
      await driver.deepen();
      const after = driver.adapter();
      for (const leg of [funded, claimed]) {
        assert.deepEqual(uncounted(await facts(after, leg)), uncounted(await facts(before, leg)));
      }
      after.watch([funded.escrow]);
      await settleDown(driver, after);
      await claim(driver, before, funded);
      await driver.show();
      assert.ok((await allChanges(after)).has(funded.escrow.address));
      assert.equal((await facts(after, funded)).secret, funded.secret);
    },
  },
  {
    name: 'a funding names its escrow also where nobody watches that',
    run: async (driver) => {
      const leg = newLeg(driver);
      const material = await driver.adapter().buildFund(inputOf(leg), signal());
      const adapter = driver.adapter();
      const funding = await read(driver, adapter, 'funder', material);
      assert.deepEqual([funding.touches, funding.pays], [[], [leg.escrow.address]]);
      // A signed transaction has a nonce, which others wait for.
      await adapter.broadcast(funding, signal());
    },
  },
  {
    name: 'honest terms pass the trial of both payouts and of the funding, and a dead token does not',
    run: async (driver) => {
      const adapter = driver.adapter();
      for (const kind of driver.coins) {
        const { escrow } = newLeg(driver, kind);
        await adapter.preflight(escrow.terms, 'payout', signal());
        if (kind === 'native') await adapter.preflight(escrow.terms, 'funding', signal());
      }
      if (!driver.coins.includes('token')) return;
      const { escrow } = newLeg(driver, 'native', { token: driver.noToken });
      const trial = adapter.preflight(escrow.terms, 'payout', signal());
      assert.equal(await codeOf(trial), 'payout_would_fail');
    },
  },
  {
    name: 'amounts that cost more to claim than they are worth are refused, honest ones are not',
    run: async (driver) => {
      const adapter = driver.adapter();
      await adapter.checkAmount(null, driver.amount('native'), signal());
      assert.equal(await codeOf(adapter.checkAmount(null, 1n, signal())), 'amount_too_small');
    },
  },
  ...depthTold,
  unspoken,
  ...sources,
  ...endsTold,
  ...oneBlock,
];

/** The outcome of an early refund: a refusal by the node, or a failure in a block. */
async function earlyRefund(driver: Driver, leg: Leg): Promise<'refused' | 'failed' | 'taken'> {
  const adapter = driver.adapter();
  // A wallet that asks its node for gas is refused as well.
  const isRefused = await refund(driver, adapter, leg).then(
    () => false,
    () => true,
  );
  if (isRefused) return 'refused';
  await driver.show();
  return (await facts(adapter, leg)).refunded === null ? 'failed' : 'taken';
}

/** Blocks may come between two looks. */
function uncounted({ funded, claimed, refunded, ...rest }: EscrowFacts) {
  const of = (one: Sighting | null) => one && { txid: one.txid, deep: one.deep };
  return { ...rest, funded: of(funded), claimed: of(claimed), refunded: of(refunded) };
}
