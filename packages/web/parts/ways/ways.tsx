// The ways into an account that this market offers: to sign in, to add a login, to be fresh again.

import type { Family } from '@parley/core/families.ts';
import { messageOf } from '@parley/sdk/errors.ts';
import type { MessageSigner } from '@parley/sdk/keys.ts';
import { useQuery } from '@tanstack/react-query';
import { type ReactNode, useEffect, useRef, useState } from 'react';
import {
  account,
  isRefused,
  type Purpose,
  type SignedIn,
  signInBy,
  type Way,
  type Ways,
} from '../../market/account.ts';
import { signOut } from '../../market/session.ts';
import { text } from '../../texts/texts.ts';
import { Do } from '../act.tsx';
import { Button, Notice } from '../controls.tsx';
import { ownKeySignsIn, signInByOwnKey } from '../own-key.ts';
import { Answer } from '../page.tsx';
import { rememberPath, signInPath } from './back.ts';
import { EmailWay } from './email.tsx';
import { passkeysHere, signInByPasskey } from './passkey.ts';
import { SignByHand, SignByProgram, usePrograms } from './sign-text.tsx';

type WaysInProps = {
  purpose: Purpose;
  /** These ways alone; all that are offered unless given. */
  only?: readonly Way[];
  /** Wallets of this family before others. */
  first?: Family | undefined;
  /** Where the person comes back to from a way that leaves the page. */
  here: string;
  after: (done: SignedIn) => Promise<void>;
};

export function WaysIn(props: WaysInProps) {
  const ways = useQuery({
    queryKey: ['ways'],
    queryFn: ({ signal }) => account.ways(signal),
    staleTime: 10_000,
  });
  return <Answer of={ways}>{(offered) => <Offered {...props} offered={offered} />}</Answer>;
}

function Offered(props: WaysInProps & { offered: Ways }) {
  const { purpose, only, first, here, offered, after } = props;
  const [waits, setWaits] = useState(false);
  const [taken, setTaken] = useState<unknown>(null);
  const families = offered.wallets.toSorted(
    (one, other) => Number(other === first) - Number(one === first),
  );
  const has = (way: Way) => only === undefined || only.includes(way);
  const isAlone = usePrograms(families).length === 0 || !has('wallet');
  // It belongs to another account: said once, whichever way showed it.
  const proven = async (work: Promise<SignedIn>) => {
    try {
      await after(await work);
    } catch (error) {
      if (!isRefused(error, 'login_taken')) throw error;
      setTaken(error);
    }
  };
  if (taken !== null) return <Taken error={taken} here={here} back={() => setTaken(null)} />;
  const isFor = (way: Way) => has(way) && !waits;
  const byWallet = {
    families,
    use: (signer: MessageSigner) => proven(signInBy(signer, purpose)),
  };
  const isForWallets = isFor('wallet') && families.length > 0;
  const programs = isForWallets && <SignByProgram key="programs" {...byWallet} />;
  const others = (
    <div key="others" className="ways-other">
      {offered.email && has('email') && (
        <Fold title={text('ways.email.title')} isOpen={waits || isAlone}>
          <EmailWay
            purpose={purpose}
            mailIsDown={offered.mailIsDown}
            after={after}
            onTaken={setTaken}
            onWaiting={setWaits}
          />
        </Fold>
      )}
      {isFor('provider') &&
        offered.providers.map((each) => (
          <ProviderWay key={each.id} {...each} purpose={purpose} here={here} />
        ))}
      {isFor('passkey') && offered.passkeys && purpose !== 'add' && (
        <PasskeyWay purpose={purpose} prove={proven} />
      )}
      {isFor('wallet') && (purpose === 'add' || ownKeySignsIn()) && (
        <div className="way">
          <Do work={() => proven(signInByOwnKey(purpose))}>{text('own_key.use')}</Do>
          <p className="hint">{text('own_key.what')}</p>
        </div>
      )}
    </div>
  );
  return (
    <div className="ways">
      {!isAlone && purpose === 'sign-in' && <p>{text('connect.what')}</p>}
      {isAlone ? [others, programs] : [programs, others]}
      {isForWallets && <SignByHand {...byWallet} />}
    </div>
  );
}

type FoldProps = { title: string; isOpen: boolean; children: ReactNode };

/** Opened and closed by a press too. Typed text stays. */
function Fold({ title, isOpen, children }: FoldProps) {
  const place = useRef<HTMLDetailsElement>(null);
  useEffect(() => {
    if (place.current !== null) place.current.open = isOpen;
  }, [isOpen]);
  return (
    <details ref={place} className="fold">
      <summary>{title}</summary>
      {children}
    </details>
  );
}

type ProviderWayProps = {
  id: string;
  label: string;
  messages: boolean;
  purpose: Purpose;
  here: string;
};

function ProviderWay({ id, label, messages, purpose, here }: ProviderWayProps) {
  const go = async () => {
    const { url } = await account.beginAtProvider(id, purpose);
    rememberPath(here);
    window.location.assign(url);
    // The page goes: buttons stay busy until it has.
    await new Promise((resolve) => setTimeout(resolve, 10_000));
  };
  return (
    <div className="way">
      <Do work={go}>{text('ways.provider.go', { label })}</Do>
      {messages && <p className="hint">{text('ways.provider.messages', { label })}</p>}
    </div>
  );
}

type PasskeyWayProps = {
  purpose: 'sign-in' | 'renew';
  prove: (work: Promise<SignedIn>) => Promise<void>;
};

function PasskeyWay({ purpose, prove }: PasskeyWayProps) {
  if (!passkeysHere()) return <p className="hint">{text('ways.passkey.none')}</p>;
  return (
    <div className="way">
      <Do work={() => prove(signInByPasskey(purpose))}>{text('ways.passkey.use')}</Do>
    </div>
  );
}

/** Accounts never become one: the way to the other one is offered. */
function Taken({ error, here, back }: { error: unknown; here: string; back: () => void }) {
  const leave = async () => {
    await signOut();
    window.location.assign(signInPath(here));
  };
  return (
    <Notice
      kind="warn"
      title={text('ways.taken.title')}
      action={
        <>
          <Do work={leave}>{text('ways.taken.leave')}</Do>
          <Button kind="quiet" onPress={back}>
            {text('ways.back')}
          </Button>
        </>
      }
    >
      <p>{messageOf(error)}</p>
      <p>{text('ways.taken.why')}</p>
    </Notice>
  );
}
