// Withdrawals as one process does them, which has the lock of the store: checked as a funding is,
// signed once, on disk before they are sent, and sent again until a block has them. No second
// payment is ever signed for one, but for versions of which a chain takes a single one.

import { has } from '@parley/core/families.ts';
import type { Millis } from '@parley/core/nominal.ts';
import { messageOf } from '@parley/sdk/errors.ts';
import { accountKey, ownSides } from '@parley/sdk/settle/record.ts';
import { type Kept, keptNow } from '@parley/sdk/stores/store.ts';
import { locked } from '@parley/sdk/waiting.ts';
import { needsYou } from '@parley/trader/failures.ts';
import { signedPayment, unsignPayment } from '@parley/trader/paying/signing.ts';
import type { OwnChain } from '../chains.ts';
import type { Commitment, Costs } from '../rules/inventory.ts';
import {
  coinsLimitMs,
  isTooSoon,
  mustBeGood,
  mustLeaveCoins,
  type Own,
  ruleOf,
  type WithdrawalsInput,
} from './checks.ts';
import { createNext } from './next.ts';
import { needsOf, refusalOf } from './rules.ts';
import {
  closedBy,
  type Damaged,
  hasEnded,
  isUnpaid,
  keep,
  mostOpen,
  openOnes,
  type Withdrawal,
} from './withdrawal.ts';

/** For one question to nodes, and for a signature. */
const limitMs = 20_000;
/** For one that was signed before a start: settlement waits for it. */
const resumeMs = 5_000;
/** Between two looks at one that waits, and at one that is in a block. */
const waitingMs = 3_000;
const minedMs = 15_000;
const lateWords = 'it was not taken up in time';

/** `withdrawals` is counted in `commitments`. */
export function promisesWith(
  withdrawals: Map<string, Commitment>,
  commitments: () => readonly Commitment[],
): WithdrawalsInput['promises'] {
  return {
    commitments,
    withdrawing: (of) => void withdrawals.set(of.id, of),
    withdrawn: (id) => void withdrawals.delete(id),
  };
}

export type Withdrawals = ReturnType<typeof createWithdrawals>;

export function createWithdrawals(input: WithdrawalsInput) {
  const { config, promises, log, now, signal } = input;
  const dir = config.store;
  const startedMs = Date.now();
  const lookedMs = new Map<string, Millis>();
  /** Refusals that the disk has not taken yet. It may show them as signed: that is void. */
  const unkept = new Map<string, Withdrawal>();
  /** Files that were damaged at the last look, as a person was told. */
  let closedFor = '';
  const limit = (ms = limitMs) => AbortSignal.any([signal, AbortSignal.timeout(ms)]);

  const note = async (withdrawal: Withdrawal): Promise<void> => {
    await keep(dir, withdrawal);
    const { id, state, asset, amount, name, to, kept, why } = withdrawal;
    const level = state === 'failed' ? 'error' : why === null ? 'info' : 'warn';
    log[level]('withdrawal', { id, state, asset, amount, name, to, txid: kept?.txid, why });
    // A paid one counts until a balance is read after it.
    if (isUnpaid(withdrawal)) promises.withdrawn(id);
  };

  const refuse = async (asked: Withdrawal, why: string): Promise<void> => {
    const refused: Withdrawal = { ...asked, state: 'refused', why, kept: null };
    unkept.set(asked.id, refused);
    promises.withdrawn(asked.id);
    await note(refused);
    unkept.delete(asked.id);
  };

  const promise = (withdrawal: Withdrawal, costs: Costs | null, fundedAtMs: Millis | null) => {
    const none = { fund: 0n, claim: 0n, refund: 0n, deposit: 0n, settlesFromAmount: true };
    const before = needsOf(withdrawal, costs ?? none);
    const { id, amount } = withdrawal;
    const common = { id, kind: 'withdrawal', asset: '', amount } as const;
    promises.withdrawing({ ...common, fundedAtMs, before, after: new Map() });
  };

  const take = async (asked: Withdrawal): Promise<void> => {
    const own = ownOf(input, asked.chain);
    if (own === null) return refuse(asked, `the settings name no chain "${asked.chain}"`);
    if (Date.now() > asked.untilMs) return refuse(asked, lateWords);
    if (await isTooSoon(input, own, startedMs)) return;
    const { family, address } = own.wallet;
    const account = accountKey(asked.chain, family, address);
    const sign = () => locked(`nonces of ${account}`, () => signed(own, asked));
    try {
      await note({ ...asked, state: 'taken' });
      // On a slow disk its asker may have been told by now that nothing will be paid.
      if (Date.now() > asked.untilMs) throw needsYou('not_taken', lateWords);
      // No funding is chosen between the check and the signature.
      await locked(account, async () => {
        const known = await mustBeGood(input, own, asked, limit);
        const refusal = refusalOf(asked, known());
        if (refusal !== null) throw needsYou('short', refusal);
        promise(asked, known().costs, null);
        await send(own, await sign());
      });
    } catch (error) {
      if (!signal.aborted) await refuse(asked, messageOf(error));
    }
  };

  /** On disk, and nobody else has it yet. */
  const signed = async (own: Own, asked: Withdrawal): Promise<Withdrawal> => {
    const { chain, of, wallet } = { ...own, chain: asked.chain };
    const within = limit(has(wallet, 'coins') ? coinsLimitMs : limitMs);
    const kept = keptNow(await signedPayment({ chain, of, wallet }, asked, within));
    try {
      if (has(wallet, 'coins')) {
        await mustLeaveCoins(input, asked, (await wallet.spendable?.(within)) ?? 0n);
      }
      const whole: Withdrawal = { ...asked, state: 'signed', why: null, kept };
      await note(whole);
      return whole;
    } catch (error) {
      unsignPayment(wallet, kept);
      throw error;
    }
  };

  /** A failure is no end: it is sent again. */
  const send = async (
    { source }: Own,
    { id, kept }: Withdrawal,
    within = limit(),
  ): Promise<void> => {
    if (kept === null) return;
    try {
      const read = await source.adapter.readSigned(kept.raw, within);
      await source.adapter.broadcast(read, within);
    } catch (error) {
      if (signal.aborted) return;
      log.warn('withdrawal_unsent', { id, txid: kept.txid, error: messageOf(error) });
    }
  };

  const nextOf = createNext({ ...input, limit, send });

  const tend = async (withdrawal: Withdrawal): Promise<void> => {
    const own = ownOf(input, withdrawal.chain);
    const { id, kept } = withdrawal;
    if (own === null || kept === null) return;
    const { next, isSent } = await nextOf(own, withdrawal, kept);
    if (next.state !== withdrawal.state) {
      const costs = input.stock.costsOf(ruleOf(withdrawal));
      promise(next, costs, next.state === 'signed' ? null : now());
    }
    const isRaised = next.kept?.txid !== kept.txid;
    if (isRaised || next.state !== withdrawal.state || next.why !== withdrawal.why) {
      await note(next);
    }
    if (next.state === 'signed' && (isRaised || !isSent)) await send(own, next);
    // Coins of it that nobody has taken are free again.
    if (next.state === 'failed' && has(own.wallet, 'coins')) own.wallet.release?.(kept.raw, kept);
    lookedMs.set(id, Date.now());
    if (hasEnded(next)) lookedMs.delete(id);
  };

  /** A damaged file may be of a payment: it closes withdrawals, and those that are signed go on. */
  const closed = (damaged: readonly Damaged[]): string | null => {
    const [first, ...more] = damaged;
    const files = damaged.map(({ file, why }) => `${file}: ${why}`).join('; ');
    const why = first === undefined ? null : closedBy([first, ...more]).message;
    if (files !== closedFor) {
      if (why === null) log.info('withdrawals_open');
      else log.error('withdrawals_closed', { why });
      closedFor = files;
    }
    return why;
  };

  const lookAt = async (each: Withdrawal, closedWhy: string | null): Promise<void> => {
    const refused = unkept.get(each.id);
    if (refused !== undefined) await refuse(each, refused.why ?? '');
    // Its process ended before it had set it aside.
    else if (hasEnded(each)) await keep(dir, each);
    else if (each.state === 'asked' && closedWhy !== null) await refuse(each, closedWhy);
    else if (each.state === 'asked') await take(each);
    else if (each.state === 'taken') await refuse(each, 'its process ended before it was signed');
    else await tend(each);
  };

  const look = async (): Promise<void> => {
    const { open, damaged } = await openOnes(dir);
    const closedWhy = closed(damaged) ?? input.closedWhy;
    for (const each of open.slice(0, mostOpen)) {
      const pauseMs = each.state === 'mined' ? minedMs : waitingMs;
      // A clock that was set back is a look long ago.
      if (Math.abs(Date.now() - (lookedMs.get(each.id) ?? 0)) < pauseMs) continue;
      // A disk that takes no note of one, or a chain that is silent, holds up no other.
      await lookAt(each, closedWhy).catch((error: unknown) => {
        signal.throwIfAborted();
        lookedMs.set(each.id, Date.now());
        log.warn('withdrawal_failed', { id: each.id, error: messageOf(error) });
      });
    }
  };

  let running: Promise<void> = Promise.resolve();
  return {
    look: (): Promise<void> => {
      const pass = look();
      running = pass.catch(() => undefined);
      return pass;
    },
    /**
     * Once the pass under way has ended. The lock of the store is kept until then: the next process
     * would refuse one that is being written down as signed.
     */
    stopped: () => running,
    /**
     * Before anything else is signed: payments that an earlier process has signed keep their coins
     * and nonces. Throws where the settings do not name its chain any more.
     */
    resume: async (): Promise<void> => {
      await reserveFundings(input);
      const { open, damaged } = await openOnes(dir);
      closed(damaged);
      const begun = open.filter((each) => each.kept !== null && !hasEnded(each));
      for (const each of begun) {
        const own = ownOf(input, each.chain);
        if (own === null) throw missing(each);
        promise(each, null, each.minedAtMs === null ? null : now());
        try {
          if (each.kept !== null) reserve(own, each.kept);
        } catch (error) {
          log.error('withdrawal_damaged', { id: each.id, error: messageOf(error) });
        }
      }
      const sending = begun.map(async (each) => {
        const own = ownOf(input, each.chain);
        if (own !== null) await send(own, each, limit(resumeMs));
      });
      await Promise.all(sending);
    },
  };
}

function missing({ id, chain }: Withdrawal): Error {
  return new Error(
    `the settings name no chain "${chain}", and withdrawal ${id} is on its way there: ` +
      'the program did not start. Add [chains.NAME] again until that has ended',
  );
}

function ownOf({ chains, config }: WithdrawalsInput, chain: string): Own | null {
  const own = chains[chain];
  const of = config.chains.find((each) => each.chain === chain);
  return own === undefined || of === undefined ? null : { ...own, of };
}

function reserve({ wallet }: OwnChain, { raw }: Kept): void {
  if (has(wallet, 'coins')) wallet.reserve?.(raw);
}

/** A settlement that has not begun yet would not have set them apart. */
async function reserveFundings({ deals, store, chains }: WithdrawalsInput): Promise<void> {
  for (const { swapId, end } of deals.values()) {
    if (swapId === null || end !== null) continue;
    // One that cannot be read is told of as it is settled.
    const record = await store.getSwap(swapId).catch(() => null);
    const funding = record?.funding;
    if (!record || !funding) continue;
    const { chain } = record.swap.legs[ownSides(record).gives];
    const own = chains[chain];
    if (own !== undefined) reserve(own, funding);
  }
}
