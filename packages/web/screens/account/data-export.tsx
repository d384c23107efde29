// One file with all that the market tells of the account.

import { isoTime } from '@parley/sdk/people.ts';
import { useEffect, useRef, useState } from 'react';
import { account } from '../../market/account.ts';
import { market } from '../../market/client.ts';
import { now } from '../../market/clock.ts';
import type { SignedInAccount } from '../../market/session.ts';
import { Failed } from '../../parts/answer.tsx';
import { Button } from '../../parts/button.tsx';
import { fileName, saveFile } from '../../parts/save-file.ts';
import { useAct } from '../../parts/ways/act.ts';
import { text } from '../../texts/texts.ts';
import { collected } from './collect.ts';

export function DataExport({ account: signedIn }: { account: SignedInAccount }) {
  const { busy, error, run } = useAct();
  const [said, setSaid] = useState('');
  const reading = useRef<AbortController>(null);
  useEffect(() => () => reading.current?.abort(), []);
  const go = () =>
    run(async () => {
      reading.current = new AbortController();
      const told = (part: string) => setSaid(text('export.part', { part }));
      const all = await collected({ market, account }, reading.current.signal, told);
      const about = { madeAt: isoTime(now()), market: market.baseUrl, account: signedIn };
      const name = fileName('account', 'json');
      saveFile(name, 'application/json', JSON.stringify({ ...about, ...all }));
      const parts = all.cut.join(', ');
      setSaid(text(parts === '' ? 'export.done' : 'export.cut', { name, parts }));
    });
  return (
    <section className="panel">
      <h2>{text('export.title')}</h2>
      <p>{text('export.what')}</p>
      <Button busy={busy} onPress={go}>
        {text('export.go')}
      </Button>
      <p role="status">{said}</p>
      {error !== null && <Failed error={error} />}
    </section>
  );
}
