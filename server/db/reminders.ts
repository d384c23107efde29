// Which parties may have to be reminded of a deadline, and which were. What a statement here finds
// is a candidate: the rules of core/ decide (server/messages/reminders.ts).

import type { Statement, Tx } from './database.ts';
import { isReached } from './messages.ts';

export type Candidate = { readonly swapId: string; readonly accountId: string };

/** Of a page: behind these, in their order; `seconds` and `lead` by the market's clock. */
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

/** Of a swap `s` and an account with the id `p.id`. */
const isUntold = (event: string) => `not exists (select from reminders r
  where r.swap_id = s.id and r.account_id = p.id and r.event = '${event}')`;

const behind = '(s.id, p.id) > ($1::uuid, $2::uuid) order by s.id, p.id limit $3';

/** Within the lead of a deadline, and in the second half of the time up to it. */
function near(
  name: string,
  event: string,
  of: { status: string; deadline: string; role: keyof typeof ofRole },
  page: CandidatePage,
): Statement {
  const { status, deadline, role } = of;
  return {
    name,
    text: `select s.id as "swapId", p.id as "accountId"
      from swaps s cross join lateral (select ${ofRole[role]} as id) p
      where s.status = '${status}' and s.${deadline} between $4 and $4 + $5
        and $4 * 2 >= s.agreed_at + s.${deadline}
        and ${isUntold(event)} and ${isReached('p.id')} and ${behind}`,
    values: [page.after.swapId, page.after.accountId, page.limit, page.now, page.lead],
  };
}

/** Initiators that have not funded. */
export function nearFirstFunding(tx: Tx, page: CandidatePage): Promise<Candidate[]> {
  const of = { status: 'agreed', deadline: 'initiator_fund_by', role: 'initiator' } as const;
  return tx.rows(near('reminders_first_funding', 'fund_by', of, page));
}

/** Counterparties that have not funded although the other leg is. */
export function nearSecondFunding(tx: Tx, page: CandidatePage): Promise<Candidate[]> {
  const of = {
    status: 'initiator_funded',
    deadline: 'counterparty_fund_by',
    role: 'counterparty',
  } as const;
  return tx.rows(near('reminders_second_funding', 'fund_by', of, page));
}

/** Initiators that have not revealed although both legs are funded. */
export function nearRevealing(tx: Tx, page: CandidatePage): Promise<Candidate[]> {
  const of = { status: 'counterparty_funded', deadline: 'reveal_by', role: 'initiator' } as const;
  return tx.rows(near('reminders_revealing', 'reveal_by', of, page));
}

/** Parties whose payout is funded and unclaimed, with the secret public. */
export function claimable(tx: Tx, page: CandidatePage): Promise<Candidate[]> {
  return tx.rows({
    name: 'reminders_claimable',
    text: `select s.id as "swapId", p.id as "accountId"
      from swaps s cross join lateral (values (s.maker_id, 'b'), (s.taker_id, 'a')) p (id, leg)
      where s.secret is not null and not s.done
        and exists (select from legs l join escrows e on e.chain = l.chain and e.address = l.escrow
          where l.swap_id = s.id and l.leg = p.leg
            and e.facts ->> 'funded' is not null and e.facts ->> 'claimed' is null)
        and ${isUntold('claim_now')} and ${isReached('p.id')} and ${behind}`,
    values: [page.after.swapId, page.after.accountId, page.limit],
  });
}

/** Parties that may take back what nobody claimed, by the clock of its chain as last seen. */
export function refundable(tx: Tx, page: CandidatePage): Promise<Candidate[]> {
  return tx.rows({
    name: 'reminders_refundable',
    text: `select distinct s.id as "swapId", p.id as "accountId"
      from chain_heads h
        join escrows e on e.chain = h.chain and not e.done and e.facts ->> 'balance' <> '0'
          and (e.terms ->> 'timelock')::bigint <= h.clock
        join swaps s on s.id = e.swap_id
        cross join lateral (select case e.leg when 'a' then s.maker_id else s.taker_id end) p (id)
      where e.facts ->> 'claimed' is null
        and ${isUntold('refund_possible')} and ${isReached('p.id')} and ${behind}`,
    values: [page.after.swapId, page.after.accountId, page.limit],
  });
}

export type Reminder = Candidate & {
  readonly event: string;
  /** Unix seconds. */
  readonly deadline: number;
};

/** Those of them that nobody was told before; who asks tells them, in this transaction. */
export function insertReminders(
  tx: Tx,
  reminders: readonly Reminder[],
  at: Date,
): Promise<(Candidate & { readonly event: string })[]> {
  return tx.rows({
    name: 'reminders_insert',
    text: `insert into reminders (swap_id, account_id, event, deadline, told_at)
      select n.*, $5 from unnest($1::uuid[], $2::uuid[], $3::text[], $4::bigint[]) n
      on conflict do nothing
      returning swap_id as "swapId", account_id as "accountId", event`,
    values: [
      reminders.map((each) => each.swapId),
      reminders.map((each) => each.accountId),
      reminders.map((each) => each.event),
      reminders.map((each) => each.deadline),
      at,
    ],
  });
}

export type ExpiringKey = {
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
export function takeExpiringKeys(
  tx: Tx,
  asked: { readonly now: Date; readonly until: Date; readonly lifeMs: number; limit: number },
): Promise<ExpiringKey[]> {
  return tx.rows<ExpiringKey>({
    name: 'reminders_keys',
    text: `update api_keys set reminded_at = $1 where id in
        (select k.id from api_keys k
          where k.revoked_at is null and k.expires_at > $1 and k.expires_at <= $2
            and k.reminded_at is null
            and k.expires_at - k.created_at > $3 * interval '1 millisecond'
            and ${isReached('k.account_id')}
          order by k.expires_at limit $4 for update of k skip locked)
      returning id as "keyId", account_id as "accountId", prefix, name,
        expires_at as "expiresAt"`,
    values: [asked.now, asked.until, asked.lifeMs, asked.limit],
  });
}
