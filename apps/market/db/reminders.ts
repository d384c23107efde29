// Which parties may have to be reminded of a deadline, and which were. A statement here finds
// candidates: the rules of core/ decide (apps/market/messages/reminders.ts).

import type { SwapStatus } from '@parley/core/status.ts';
import { many } from '@parley/host/postgres/statements.ts';
import { isReached } from './messages.ts';

export type Candidate = { readonly swapId: string; readonly accountId: string };

/**
 * The limits of a page: behind these, in their order; `seconds` and `lead` by the market's clock.
 */
export type CandidatePage = {
  /** Unix seconds. */
  readonly now: number;
  /** How long before a deadline a party is reminded, at the earliest at half of its time. */
  readonly lead: number;
  readonly after: Candidate;
  readonly limit: number;
};

const ofRole = {
  initiator: `case s.long_leg when 'a' then s.maker_id else s.taker_id end`,
  counterparty: `case s.long_leg when 'a' then s.taker_id else s.maker_id end`,
} as const;

/** The condition that a swap `s` and an account with the id `p.id` had no reminder. */
const isUntold = (event: string) => `not exists (select from reminders r
  where r.swap_id = s.id and r.account_id = p.id and r.event = '${event}' offset 0)`;

const behind = `(s.id, p.id) > (:after.swapId::uuid, :after.accountId::uuid)
      order by s.id, p.id limit :limit`;

type Near = { status: SwapStatus; deadline: string; role: keyof typeof ofRole };

/** Within the lead of a deadline, and in the second half of the time up to it. */
const near = (name: string, event: string, { status, deadline, role }: Near) =>
  many<[page: CandidatePage], Candidate>(name)`
  select s.id as "swapId", p.id as "accountId"
    from swaps s cross join lateral (select ${ofRole[role]} as id) p
    where s.status = '${status}' and s.${deadline} between :now and :now + :lead
      and :now * 2 >= s.agreed_at + s.${deadline}
      and ${isUntold(event)} and ${isReached('p.id')} and ${behind}`;

/** Initiators that have not funded. */
export const nearFirstFunding = near('reminders_first_funding', 'fund_by', {
  status: 'agreed',
  deadline: 'initiator_fund_by',
  role: 'initiator',
});

/** Counterparties that have not funded although the other leg is. */
export const nearSecondFunding = near('reminders_second_funding', 'fund_by', {
  status: 'initiator_funded',
  deadline: 'counterparty_fund_by',
  role: 'counterparty',
});

/** Initiators that have not revealed although both legs are funded. */
export const nearRevealing = near('reminders_revealing', 'reveal_by', {
  status: 'counterparty_funded',
  deadline: 'reveal_by',
  role: 'initiator',
});

/** Parties whose payout is funded and unclaimed, with the secret public. */
export const claimable = many<[page: CandidatePage], Candidate>('reminders_claimable')`
  select s.id as "swapId", p.id as "accountId"
    from swaps s cross join lateral (values (s.maker_id, 'b'), (s.taker_id, 'a')) p (id, leg)
    where s.secret is not null and not s.done
      and exists (select from legs l join escrows e on e.chain = l.chain and e.address = l.escrow
        where l.swap_id = s.id and l.leg = p.leg
          and e.facts ->> 'funded' is not null and e.facts ->> 'claimed' is null offset 0)
      and ${isUntold('claim_now')} and ${isReached('p.id')} and ${behind}`;

/** Parties that may take back what nobody claimed, by the clock of its chain as last seen. */
export const refundable = many<[page: CandidatePage], Candidate>('reminders_refundable')`
  select distinct s.id as "swapId", p.id as "accountId"
    from chain_heads h
      cross join lateral (select swap_id, leg, facts from escrows e
        where e.chain = h.chain and not e.done and e.facts ->> 'balance' <> '0'
          and (e.terms ->> 'timelock')::bigint <= h.clock offset 0) e
      join swaps s on s.id = e.swap_id
      cross join lateral (select case e.leg when 'a' then s.maker_id else s.taker_id end) p (id)
    where e.facts ->> 'claimed' is null
      and ${isUntold('refund_possible')} and ${isReached('p.id')} and ${behind}`;

export type Reminder = Candidate & {
  readonly event: string;
  /** Unix seconds. */
  readonly deadline: number;
};

/** Those of them that nobody was told before; the caller emits them, in this transaction. */
export const insertReminders = many<
  [reminders: readonly Reminder[], at: Date],
  Candidate & { readonly event: string }
>('reminders_insert')`
  insert into reminders (swap_id, account_id, event, deadline, told_at)
    select n.*, $2 from unnest($1.swapId::uuid[], $1.accountId::uuid[], $1.event::text[],
      $1.deadline::bigint[]) n
    on conflict do nothing
    returning swap_id as "swapId", account_id as "accountId", event`;

type ExpiringKey = {
  readonly keyId: string;
  readonly accountId: string;
  readonly prefix: string;
  readonly name: string | null;
  readonly expiresAt: Date;
};

/**
 * Live keys that end before `until` and whose owner was not told, each once; one that lives for no
 * longer than `lifeMs` was told of when it was made.
 */
export const takeExpiringKeys = many<
  [asked: { readonly now: Date; readonly until: Date; readonly lifeMs: number; limit: number }],
  ExpiringKey
>('reminders_keys')`
  update api_keys set reminded_at = :now where id in
      (select k.id from api_keys k
        where k.revoked_at is null and k.expires_at > :now and k.expires_at <= :until
          and k.reminded_at is null
          and k.expires_at - k.created_at > :lifeMs * interval '1 millisecond'
          and ${isReached('k.account_id')}
        order by k.expires_at limit :limit for update of k skip locked)
    returning id as "keyId", account_id as "accountId", prefix, name,
      expires_at as "expiresAt"`;
