// The one button of the box. A person who is signed out connects first, and the order is posted by
// itself afterwards.

import { useNavigate } from '@tanstack/react-router';
import { useEffect, useState } from 'react';
import { knownSession, useSession } from '../../market/session.ts';
import { market } from '../../market/site.ts';
import { useAct } from '../../parts/act.tsx';
import { Button } from '../../parts/controls.tsx';
import { needsProgram, prepareGiving, useGiving } from '../../parts/giving.tsx';
import { Failed } from '../../parts/page.tsx';
import { ConnectDialog } from '../../parts/ways/connect.tsx';
import { text } from '../../texts/texts.ts';
import { forget, posted, pressed, takesUp } from './intent.ts';
import type { Trade } from './use-trade.ts';

type AskingProps = {
  trade: Trade;
  /** Pressed, and a field has to be changed first. */
  onFault: () => void;
};

export function Asking({ trade: { found, give, get }, onFault }: AskingProps) {
  const session = useSession();
  const by = session.status === 'account' ? session.account.id : null;
  const giving = useGiving(give, by !== null);
  const { busy, error, run } = useAct();
  const [isConnecting, setConnecting] = useState(false);
  const navigate = useNavigate();
  const body = found.ok ? found.wanted.body : null;
  const said = JSON.stringify(body);
  const ask = async () => {
    if (body === null || give === undefined) return;
    const me = await knownSession();
    const waits = me === null || needsProgram(giving);
    const idempotencyKey = pressed(said, Date.now(), { waits, by: me?.accountId ?? null });
    if (waits) return setConnecting(true);
    await prepareGiving(give);
    const { id } = await posted(() => market.createRfq(body, { idempotencyKey }));
    await navigate({ to: '/orders/$id', params: { id } });
  };
  // Signed in by the dialog, or by a way that left the page and came back to it.
  const isBack = !isConnecting && body !== null && giving.hasWallet !== null;
  useEffect(() => {
    if (isBack && by !== null && takesUp(said, Date.now(), by)) run(ask);
  });
  return (
    <div className="swap-action">
      <Button kind="main" big busy={busy} onPress={() => (body === null ? onFault() : run(ask))}>
        {text('swap_box.action')}
      </Button>
      {error !== null && <Failed error={error} />}
      <ConnectDialog
        open={isConnecting}
        give={give}
        get={get}
        onClose={() => {
          setConnecting(false);
          forget();
        }}
        onSignedIn={() => setConnecting(false)}
      />
    </div>
  );
}
