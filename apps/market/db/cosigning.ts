// Spends that both sides of a Taproot escrow sign: the newest request of each verb, and its answer.

import type { CosignAnswer, CosignRequest } from '@parley/chains/interface/cosigning.ts';
import type { LegName } from '@parley/core/trade.ts';
import { columns, many, none } from '@parley/host/postgres/statements.ts';

/** As it travels: amounts are decimal strings. */
export type WiredRequest = Pick<CosignRequest, 'verb' | 'paysTo' | 'nonces'> & {
  readonly escrow: string;
  readonly outputs: readonly {
    readonly txid: string;
    readonly vout: number;
    readonly amount: string;
  }[];
  readonly feeSats: string;
};

type Place = { readonly swapId: string; readonly leg: LegName };

export type Cosigning = {
  readonly id: string;
  readonly request: WiredRequest;
  readonly askedAt: Date;
  readonly answer: CosignAnswer | null;
  readonly answeredAt: Date | null;
  /** How many there were so far. */
  readonly requests: number;
};

/** At most one of each verb. */
export const cosigningsOf = many<[of: Place], Cosigning>('cosignings_of')`
  select ${columns('id request askedAt answer answeredAt requests')} from cosignings
    where swap_id = :swapId and leg = :leg`;

/** In the place of the former one and its answer. */
export const putRequest = none<[row: Place & { id: string; request: WiredRequest; at: Date }]>(
  'cosigning_ask',
)`
  insert into cosignings (swap_id, leg, verb, id, request, asked_at)
    values (:swapId, :leg, :request::jsonb ->> 'verb', :id, :request::jsonb, :at)
    on conflict (swap_id, leg, verb) do update
      set id = excluded.id, request = excluded.request, asked_at = excluded.asked_at,
        answer = null, answered_at = null, requests = cosignings.requests + 1`;

/** The first answer stays. */
export const putAnswer = none<[row: Place & { id: string; answer: CosignAnswer; at: Date }]>(
  'cosigning_answer',
)`
  update cosignings set answer = :answer::jsonb, answered_at = :at
    where swap_id = :swapId and leg = :leg and id = :id and answer is null`;
