// Keys and hashes that differ in one bit of one word: each word of a comparison counts.

import { test } from 'node:test';
import type { Address, Instruction } from '@solana/kit';
import * as instructions from './testing/instructions.ts';
import { addressOf, bytesOf, withAccount, withRole } from './testing/instructions.ts';
import {
  accepted,
  createSwap,
  expire,
  fund,
  funded,
  refund,
  refused,
  secret,
  swapIn,
} from './testing/swaps.ts';
import { holdingBytes } from './testing/tokens.ts';
import { give, SOL, send, setAccount } from './testing/vm.ts';

/** The last byte of each word of eight. */
const ends = [7, 15, 23, 31] as const;

function flipped(bytes: Uint8Array, at: number): Buffer {
  const copy = Buffer.from(bytes);
  copy[at]! ^= 1;
  return copy;
}

const near = (to: Address, at: number): Address => addressOf(flipped(bytesOf(to), at));

for (const at of ends) {
  test(`a hash that differs in byte ${at} is another, and so is the account of an escrow`, async () => {
    const { terms, world } = await createSwap('SOL');
    const hashlock = flipped(terms.hashlock, at);
    const swap = await swapIn(world, 'SOL', { hashlock });
    const elsewhere = withAccount(swap.fund, 1, near(swap.escrow.escrow, at));
    await refused(send(world, [elsewhere], [swap.funder]), 'WrongEscrow');
    await accepted(fund(swap));
    await refused(send(world, [swap.claim]), 'WrongSecret');
  });

  test(`a payout or a funder that differs in byte ${at} is another`, async () => {
    const swap = await funded('SOL');
    const { world, terms, funder } = swap;
    const rich = (of: Address): Address => {
      give(world, of, SOL);
      return of;
    };
    const [payout, other] = [terms.payout, terms.refund].map((of) => rich(near(of, at)));
    await refused(send(world, [withAccount(swap.claim, 1, payout)]), 'WrongPayout');
    await refused(send(world, [withAccount(swap.claim, 2, other)]), 'WrongRefund');
    const foreign = await swapIn(world, 'SOL', { refund: other! });
    const funding = withRole(withAccount(foreign.fund, 0, funder.address), 0, 'writeSign');
    await refused(send(world, [funding], [funder]), 'WrongFunder');
    expire(swap);
    await refused(send(world, [withAccount(swap.refund, 1, other)]), 'WrongRefund');
    await accepted(refund(swap));
  });

  test(`a token account’s address, owner or mint that differs in byte ${at} is another`, async () => {
    for (const asset of ['SPL Token', 'Token-2022'] as const) {
      const swap = await funded(asset);
      const { world, escrow, terms } = swap;
      const { mint, payout } = terms;
      const put = (of: Address, owner: Address, ofMint: Address): Address => {
        setAccount(world, of, escrow.tokenProgram, holdingBytes({ mint: ofMint, owner }));
        return of;
      };
      const tryAll = async (own: Address, owner: Address, settle: (to: Address) => Instruction) => {
        const error = owner === payout ? 'WrongPayout' : 'WrongRefund';
        const wrong: readonly (readonly [Address, Address, Address])[] = [
          [near(own, at), owner, mint],
          [own, near(owner, at), mint],
          [own, owner, near(mint, at)],
        ];
        for (const row of wrong) await refused(send(world, [settle(put(...row))]), error);
        const right = settle(put(own, owner, mint));
        await refused(send(world, [vaultOf(right)]), 'WrongVault');
      };
      const vaultOf = (base: Instruction) => {
        const index = base.accounts!.findIndex(({ address }) => address === escrow.vault);
        return withAccount(base, index, near(escrow.vault, at));
      };
      const claimTo = (to: Address) => instructions.claim(escrow, secret, { destination: to });
      await tryAll(swap.destination, payout, claimTo);
      expire(swap);
      const refundTo = (to: Address) => instructions.refund(escrow, to);
      await tryAll(swap.source, terms.refund, refundTo);
      await accepted(send(world, [refundTo(swap.source)]));
    }
  });

  test(`a term whose only bit is in byte ${at} is not zero`, async () => {
    const one = flipped(new Uint8Array(32), at);
    await accepted(fund(await createSwap('SOL', { hashlock: one })));
    await accepted(fund(await createSwap('SOL', { payout: addressOf(one) })));
    const { world, funder, ...swap } = await createSwap('SOL');
    const system = withAccount(swap.fund, 2, addressOf(one));
    await refused(send(world, [system], [funder]), 'WrongSystemProgram');
  });
}
