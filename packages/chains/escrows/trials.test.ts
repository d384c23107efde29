// The trials before anybody agrees, funds or reveals: on EVM and on TRON.

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { EscrowTerms } from '@parley/core/terms.ts';
import { refuses } from '../testing/refusals.ts';
import { rejecting, worlds } from './testing/worlds.ts';

const signal = () => AbortSignal.timeout(60_000);
const to = (address: string) => ({ address, pubkey: null });

for (const [family, begin] of Object.entries(worlds)) {
  const world = await begin();
  describe(family, () => {
    const termsOf = async (over: Partial<EscrowTerms> = {}) => (await world.leg(over)).terms;
    const tried = async (terms: EscrowTerms, about: 'payout' | 'funding' | 'claim') =>
      (await world.adapter()).preflight(terms, about, signal());
    const both = ['payout', 'funding'] as const;

    test('coins, and tokens that answer true, false or nothing: nothing is in the way', async () => {
      const { held, decimals } = await world.adapter();
      const names = ['ReturnsFalse', 'DevDollar', 'DevTether'] as const;
      for (const token of [...names.map(world.token), null]) {
        const terms = await termsOf({ token });
        for (const about of both) await tried(terms, about);
        assert.ok(((await held?.(terms, signal())) ?? 0n) >= terms.amount);
        assert.equal(await held?.({ ...terms, refund: to(world.newcomer()) }, signal()), 0n);
        if (token !== null) assert.equal(await decimals?.(token, signal()), 6);
      }
    });

    test('a payout or a refund contract that rejects the coin is found before both', async () => {
      // The contract itself has what it will have to pay back.
      await world.fund(await world.leg());
      const contract = to(await world.put(rejecting));
      for (const about of both) {
        for (const field of ['payout', 'refund'] as const) {
          const fails = refuses('payout_would_fail', new RegExp(`${field} address \\w+`));
          await assert.rejects(tried(await termsOf({ [field]: contract }), about), fails);
        }
      }
    });

    test('a token that is none is found, and an address that nobody used yet is none that rejects', async () => {
      const terms = await termsOf({ token: world.newcomer() });
      const none = refuses('payout_would_fail', /no contract at/);
      await assert.rejects(tried(terms, 'payout'), none);
      await tried(await termsOf({ payout: to(world.newcomer()) }), 'payout');
    });

    test('a timelock out of bounds is found before a funding, with the bounds', async () => {
      const { timelock, fundBefore = 0 } = await termsOf();
      for (const [seconds, more] of [
        [-7_140, 0],
        [31 * 86_400, 2 * 86_400],
      ] as const) {
        const late = { timelock: timelock + seconds, fundBefore: fundBefore + more };
        const terms = await termsOf(late);
        const bounds = refuses('funding_would_fail', /30 minutes to 30 days ahead/);
        await assert.rejects(tried(terms, 'funding'), bounds);
        await tried(terms, 'payout');
      }
    });

    test('a funder with too little is not refused: its money may still come', async () => {
      const refund = to(world.newcomer());
      await tried(await termsOf({ refund }), 'funding');
      await tried(await termsOf({ refund, token: world.token('DevDollar') }), 'funding');
      await tried(await termsOf({ amount: 10n ** 15n }), 'funding');
    });

    test('terms that lose money are refused before any trial, with a lane and without', async () => {
      const { lane: _, fundBefore: __, ...bare } = await termsOf();
      await tried(bare, 'payout');
      for (const terms of [bare, await termsOf()]) {
        for (const field of ['payout', 'refund'] as const) {
          const lost = tried({ ...terms, [field]: to(world.contract) }, 'payout');
          await assert.rejects(lost, refuses('bad_address', /is the escrow contract/));
        }
      }
    });

    test('once a leg is funded, its refund address stops no reveal, and its payout address does', async () => {
      const leg = await world.leg();
      await world.fund(leg);
      const contract = to(await world.put(rejecting));
      const { terms } = leg;
      await assert.rejects(tried({ ...terms, refund: contract }, 'payout'));
      await tried(terms, 'claim');
      const picky = await world.leg({ payout: contract });
      await world.fund(picky);
      const fails = refuses('payout_would_fail', /payout address/);
      await assert.rejects(tried(picky.terms, 'claim'), fails);
      const other = await world.leg({ token: world.token('DevDollar') });
      await world.fund(other);
      await tried({ ...other.terms, refund: to(world.newcomer()) }, 'payout');
    });
  });
}
