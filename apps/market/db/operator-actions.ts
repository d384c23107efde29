// The actions of operators: rows that are only added, each in the transaction of its effect. The
// table refuses everything else by a trigger (migrations/001.sql).

import { columns, many, none } from '@parley/host/postgres/statements.ts';

/** `refused`: the command did nothing, and the row stands alone. */
export type Outcome = 'done' | 'unchanged' | 'refused';

export type NewAction = {
  readonly at: Date;
  /** The name that the operator gave, else that of the system's user. */
  readonly operator: string;
  readonly osUser: string;
  readonly host: string;
  /** Such as `assets close`. */
  readonly command: string;
  /** As they were given; never a secret. */
  readonly arguments: Readonly<Record<string, unknown>>;
  readonly outcome: Outcome;
  /** The result, in numbers and ids. */
  readonly facts: Readonly<Record<string, unknown>>;
};

export type OperatorAction = NewAction & { readonly id: number };

export const insertAction = none<[action: NewAction]>('operator_actions_insert')`
  insert into operator_actions (at, operator, os_user, host, command, arguments, outcome, facts)
    values (:at, :operator, :osUser, :host, :command, :arguments::jsonb, :outcome, :facts::jsonb)`;

/** Newest first. */
export const listActions = many<[limit: number], OperatorAction>('operator_actions_list')`
  select ${columns('id at operator osUser host command arguments outcome facts')}
    from operator_actions
    order by id desc limit $1`;
