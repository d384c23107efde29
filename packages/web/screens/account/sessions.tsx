// Browsers in which somebody is signed in to the account.

import { useQuery, useQueryClient } from '@tanstack/react-query';
import { account, type Session } from '../../market/account.ts';
import { startAnew } from '../../market/session.ts';
import { announce } from '../../parts/announce.ts';
import { Answer, Failed } from '../../parts/answer.tsx';
import { Button } from '../../parts/button.tsx';
import { Confirm } from '../../parts/confirm.tsx';
import { type Column, Table } from '../../parts/table.tsx';
import { useAct } from '../../parts/ways/act.ts';
import { When } from '../../parts/when.tsx';
import { text } from '../../texts/texts.ts';

export function Sessions({ accountId }: { accountId: string }) {
  const sessions = useQuery({
    queryKey: ['sessions', accountId],
    queryFn: ({ signal }) => account.sessions(signal),
  });
  return (
    <section className="panel">
      <h2>{text('sessions.title')}</h2>
      <p>{text('sessions.what')}</p>
      <Answer of={sessions}>{({ sessions: live }) => <List live={live} />}</Answer>
    </section>
  );
}

function List({ live }: { live: readonly Session[] }) {
  const client = useQueryClient();
  const act = useAct();
  const changed = async () => {
    announce(text('sessions.ended'));
    await client.invalidateQueries({ queryKey: ['sessions'] });
  };
  const end = ({ id, current }: Session) =>
    act.run(async () => {
      await account.endSession(id);
      if (current) await startAnew();
      else await changed();
    });
  const all = async () => {
    await account.endOtherSessions();
    await changed();
  };
  const columns: readonly Column<Session>[] = [
    {
      key: 'device',
      label: text('sessions.device'),
      cell: ({ device, current }) =>
        current ? (
          <>
            {device} <span className="hint">({text('sessions.this')})</span>
          </>
        ) : (
          device
        ),
    },
    { key: 'place', label: text('sessions.place'), cell: ({ place }) => place },
    { key: 'since', label: text('sessions.since'), cell: ({ madeAt }) => <When at={madeAt} /> },
    { key: 'used', label: text('sessions.used'), cell: (each) => <When at={each.lastUsedAt} /> },
    { key: 'ends', label: text('sessions.ends'), cell: (each) => <When at={each.expiresAt} /> },
    {
      key: 'end',
      label: text('sessions.end'),
      cell: (each) => (
        <Button
          kind="quiet"
          busy={act.busy}
          label={text('sessions.end.label', { device: each.device, place: each.place })}
          onPress={() => end(each)}
        >
          {text('sessions.end')}
        </Button>
      ),
    },
  ];
  return (
    <>
      <Table
        caption={text('sessions.title')}
        columns={columns}
        rows={live}
        keyOf={({ id }) => id}
      />
      {act.error !== null && <Failed error={act.error} />}
      <div className="actions">
        {live.length > 1 ? (
          <Confirm
            title={text('sessions.all.title')}
            what={<p>{text('sessions.all.what')}</p>}
            onConfirm={all}
          >
            {text('sessions.all')}
          </Confirm>
        ) : (
          <p className="hint">{text('sessions.only')}</p>
        )}
      </div>
    </>
  );
}
