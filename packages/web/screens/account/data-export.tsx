// One file with all that the market tells of the account.

import { isoTime } from '@parley/sdk/people.ts';
import { useEffect, useRef, useState } from 'react';
import { account } from '../../market/account.ts';
import { market } from '../../market/client.ts';
import { now } from '../../market/clock.ts';
import { type PageRead, readAll } from '../../market/pages.ts';
import type { SignedInAccount } from '../../market/session.ts';
import { announce } from '../../parts/announce.ts';
import { Failed } from '../../parts/answer.tsx';
import { Button } from '../../parts/button.tsx';
import { fileName, saveFile } from '../../parts/save-file.ts';
import { useAct } from '../../parts/ways/act.ts';
import { text } from '../../texts/texts.ts';
import { type Collected, collect } from './collect.ts';
import { from, limit, partsOf, whole } from './export-parts.ts';

const most = 10_000;
/** Each costs a request, of which there are some hundreds a minute. */
const mostAsked = 200;

const lists = partsOf({ market, account });

/** One page of dependent rows for each of the given rows. */
function ofEach<T extends { readonly id: string }>(
  owners: readonly T[],
  read: (id: string, cursor: string | undefined, signal: AbortSignal) => ReturnType<PageRead>,
): PageRead {
  const asked = owners.slice(0, mostAsked);
  return async (cursor, signal) => {
    const at = Number(cursor ?? 0);
    const owner = asked[at];
    if (owner === undefined) return whole([]);
    const onPage = () => {};
    const each: PageRead = (page) => read(owner.id, page, signal);
    const { rows } = await readAll(each, { signal, most: limit, onPage });
    const nextCursor = at + 1 < asked.length ? String(at + 1) : null;
    return { rows: rows.map((row) => ({ of: owner.id, row })), nextCursor };
  };
}

async function collectAll(
  onProgress: (part: string, count: number) => void,
  signal: AbortSignal,
): Promise<Collected> {
  const how = { signal, most, onProgress };
  const first = await collect(lists, how);
  const [orders = [], hooks = []] = [first.parts.orders, first.parts.webhooks] as const;
  type Owner = { readonly id: string };
  const rest = await collect(
    {
      quotes: ofEach(orders as readonly Owner[], async (id, cursor, stop) => {
        const page = await market.threadsOfRfq(id, from(cursor), { signal: stop });
        return { rows: page.threads, nextCursor: page.nextCursor };
      }),
      deliveries: ofEach(hooks as readonly Owner[], async (id, cursor, stop) => {
        const page = await account.deliveries(id, from(cursor), stop);
        return { rows: page.deliveries, nextCursor: page.nextCursor };
      }),
    },
    how,
  );
  const cut = [...first.cut, ...rest.cut, ...(orders.length > mostAsked ? ['quotes'] : [])];
  return { parts: { ...first.parts, ...rest.parts }, cut };
}

export function DataExport({ account: signedIn }: { account: SignedInAccount }) {
  const { busy, error, run } = useAct();
  const [said, setSaid] = useState<readonly string[]>([]);
  const stop = useRef(new AbortController());
  useEffect(() => {
    stop.current = new AbortController();
    return () => stop.current.abort();
  }, []);
  const go = () =>
    run(async () => {
      const progress = (part: string, count: number) =>
        setSaid([text('export.part', { part, count })]);
      const { parts, cut } = await collectAll(progress, stop.current.signal);
      const madeAt = isoTime(now());
      const { id: _, name: __, ...me } = signedIn;
      const content = JSON.stringify({
        madeAt,
        market: market.baseUrl,
        account: me,
        ...parts,
        cut,
      });
      const name = fileName('account', 'json');
      const size = Math.ceil(saveFile(name, 'application/json', content) / 1_000);
      const done = text('export.done', { name, size });
      const left = cut.length === 0 ? [] : [text('export.cut', { parts: cut.join(', '), most })];
      setSaid([done, ...left]);
      announce(done);
    });
  return (
    <section className="panel">
      <h2>{text('export.title')}</h2>
      <p>{text('export.what')}</p>
      <Button busy={busy} onPress={go}>
        {text('export.go')}
      </Button>
      {said.map((sentence) => (
        <p key={sentence} className="export-progress">
          {sentence}
        </p>
      ))}
      {error !== null && <Failed error={error} />}
    </section>
  );
}
