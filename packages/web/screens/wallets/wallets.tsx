// The wallets of the account, where it is paid, and what waits.

import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { account } from '../../market/account.ts';
import { market } from '../../market/client.ts';
import { lookAgain, type SignedInAccount } from '../../market/session.ts';
import { AccountScreen } from '../../parts/account-screen.tsx';
import { Answer } from '../../parts/answer.tsx';
import { Confirm } from '../../parts/confirm.tsx';
import { Notice } from '../../parts/notice.tsx';
import { useFreshly } from '../../parts/ways/fresh.tsx';
import { text } from '../../texts/texts.ts';
import { NameWallet } from './name-wallet.tsx';
import { ProveWallet } from './prove-wallet.tsx';
import { type Changed, OfFamily } from './wallet-rows.tsx';
import { waitsIn, walletsView } from './wallets-view.ts';

export function Wallets() {
  return (
    <AccountScreen title={text('wallets.title')}>
      {(signedIn) => <Parts account={signedIn} />}
    </AccountScreen>
  );
}

function Parts({ account: signedIn }: { account: SignedInAccount }) {
  const { id, logins } = signedIn;
  const client = useQueryClient();
  const [said, setSaid] = useState<string | null>(null);
  const wallets = useQuery({
    queryKey: ['payouts', id, 'wallets'],
    queryFn: async ({ signal }) => {
      const [{ payouts }, me] = await Promise.all([account.payouts(signal), market.me({ signal })]);
      const loginIds = logins.filter(({ way }) => way === 'wallet').map((each) => each.id);
      return walletsView(payouts, me.wallets, loginIds);
    },
  });
  const changed = async (sentence: string) => {
    await Promise.all([client.invalidateQueries({ queryKey: ['payouts'] }), lookAgain()]);
    setSaid(sentence);
  };
  return (
    <>
      <p>{text('wallets.what')}</p>
      {said !== null && <Notice kind="good">{said}</Notice>}
      <Answer of={wallets}>
        {(all) => (
          <>
            {waitsIn(all) > 0 && <Waiting count={waitsIn(all)} onStopped={changed} />}
            {all.map((each) => (
              <OfFamily key={each.family} wallets={each} onChanged={changed} />
            ))}
            <NameWallet account={signedIn} onDone={changed} />
            <ProveWallet onDone={changed} />
          </>
        )}
      </Answer>
    </>
  );
}

function Waiting({ count, onStopped }: { readonly count: number; readonly onStopped: Changed }) {
  const freshly = useFreshly();
  const stop = async () => {
    await freshly(() => account.stopAllPayouts());
    await onStopped(text('wallets.stopped'));
  };
  const all = (
    <Confirm
      title={text('wallets.stop.all.title')}
      what={<p>{text('wallets.stop.what')}</p>}
      onConfirm={stop}
    >
      {text('wallets.stop.all')}
    </Confirm>
  );
  return (
    <Notice kind="warn" title={text('wallets.wait.title')} action={count > 1 ? all : undefined}>
      {text('wallets.wait.what')}
    </Notice>
  );
}
