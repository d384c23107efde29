// The deliveries to one webhook, its answers, and sending one again.

import { useInfiniteQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { account, type Delivery } from '../../market/account.ts';
import { Do } from '../../parts/act.tsx';
import { announce, Button, Copy, Notice } from '../../parts/controls.tsx';
import { Empty, Failed, Loading } from '../../parts/page.tsx';
import { type Column, Table, When } from '../../parts/shown.tsx';
import { text } from '../../texts/texts.ts';

const limit = 20;
/** While one waits, its next attempt may be seconds away. */
const lookMs = 3_000;

export function Deliveries({ webhookId }: { webhookId: string }) {
  const client = useQueryClient();
  const queryKey = ['deliveries', webhookId];
  const log = useInfiniteQuery({
    queryKey,
    queryFn: ({ pageParam, signal }) => {
      const more = pageParam === null ? {} : { cursor: pageParam };
      return account.deliveries(webhookId, { limit, ...more }, signal);
    },
    initialPageParam: null as string | null,
    getNextPageParam: ({ nextCursor }) => nextCursor,
    refetchInterval: ({ state: { data } }) => {
      const pages = data?.pages ?? [];
      const waits = pages.some(({ deliveries }) =>
        deliveries.some(({ state }) => state === 'waiting'),
      );
      return waits && pages.length === 1 ? lookMs : false;
    },
  });
  if (log.error !== null) return <Failed error={log.error} again={() => void log.refetch()} />;
  if (log.data === undefined) return <Loading />;
  const rows = log.data.pages.flatMap(({ deliveries }) => deliveries);
  const again = async (id: string) => {
    await account.sendAgain(webhookId, id);
    announce(text('deliveries.again.said'));
    await client.invalidateQueries({ queryKey });
  };
  return (
    <div>
      <h3>{text('deliveries.title')}</h3>
      {rows.length === 0 ? (
        <Empty>{text('deliveries.none')}</Empty>
      ) : (
        <Log rows={rows} onAgain={again} />
      )}
      {log.data.pages.length > 1 && !log.hasNextPage && (
        <p className="hint">{text('deliveries.kept')}</p>
      )}
      <div className="actions">
        <Button busy={log.isFetching} onPress={() => void log.refetch()}>
          {text('deliveries.reload')}
        </Button>
        {log.hasNextPage && (
          <Button busy={log.isFetchingNextPage} onPress={() => void log.fetchNextPage()}>
            {text('deliveries.more')}
          </Button>
        )}
      </div>
    </div>
  );
}

type LogProps = {
  rows: readonly Delivery[];
  onAgain: (id: string) => Promise<void>;
};

function Log({ rows, onAgain }: LogProps) {
  const columns: readonly Column<Delivery>[] = [
    {
      label: text('deliveries.made'),
      cell: ({ createdAt }) => <When at={createdAt} />,
    },
    { label: text('deliveries.event'), cell: ({ event }) => <code>{event}</code> },
    { label: text('deliveries.state'), cell: (each) => <State delivery={each} /> },
    { label: text('deliveries.answer'), cell: answerOf },
    {
      label: text('deliveries.details'),
      cell: (each) => <Details delivery={each} onAgain={onAgain} />,
    },
  ];
  return <Table caption={text('deliveries.title')} columns={columns} rows={rows} />;
}

const inks = { waiting: 'warn-ink', delivered: 'good-ink', dropped: 'bad-ink' } as const;

function State({ delivery: { state, nextAt } }: { delivery: Delivery }) {
  return (
    <span className={inks[state]}>
      {text(`deliveries.state.${state}`)}
      {nextAt !== null && (
        <span className="hint">
          {' '}
          ({text('deliveries.next')} <When at={nextAt} />)
        </span>
      )}
    </span>
  );
}

type Attempt = Delivery['attempts'][number];

function answered({ status, error, milliseconds: ms }: Attempt): string {
  if (status !== 0) return text('deliveries.answer.status', { status, ms });
  return text('deliveries.answer.error', { error: error ?? '', ms });
}

function answerOf({ attempts: [last] }: Delivery): string {
  return last === undefined ? text('deliveries.answer.none') : answered(last);
}

type DetailsProps = { delivery: Delivery; onAgain: LogProps['onAgain'] };

function Details({ delivery: { id, body, state, attempts }, onAgain }: DetailsProps) {
  const [isSent, setSent] = useState(false);
  const again = async () => {
    await onAgain(id);
    setSent(true);
  };
  return (
    <details className="delivery-details">
      <summary aria-label={text('deliveries.details.label', { id })}>
        {text('deliveries.details')}
      </summary>
      <p className="hint">
        {text('deliveries.body')} <Copy value={body} what={text('deliveries.body.copied')} />
      </p>
      <pre className="code">{body}</pre>
      <p className="hint">{text('deliveries.attempts')}</p>
      <ol className="delivery-attempts" reversed>
        {attempts.map((each) => (
          <li key={each.at}>
            <When at={each.at} />: {answered(each)}
            {each.answer !== null && <pre className="code">{each.answer}</pre>}
          </li>
        ))}
      </ol>
      {state !== 'waiting' && (
        <Do label={text('deliveries.again.label', { id })} work={again}>
          {text('deliveries.again')}
        </Do>
      )}
      {isSent && <Notice kind="good">{text('deliveries.again.said')}</Notice>}
    </details>
  );
}
