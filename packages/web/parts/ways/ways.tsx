// The ways into an account that this market offers: to sign in, to add a login, to be fresh again.

import { messageOf } from '@parley/sdk/errors.ts';
import { useQuery } from '@tanstack/react-query';
import { type ReactNode, useState } from 'react';
import {
  account,
  isRefused,
  type Purpose,
  type SignedIn,
  type Way,
  type Ways,
} from '../../market/account.ts';
import { signOut } from '../../market/session.ts';
import { text } from '../../texts/texts.ts';
import { Do } from '../act.tsx';
import { Button, Notice } from '../controls.tsx';
import { Answer } from '../page.tsx';
import { rememberPath, signInPath } from './back.ts';
import { EmailWay } from './email.tsx';
import { passkeysHere, signInByPasskey } from './passkey.ts';
import { SignText } from './sign-text.tsx';

type WaysInProps = {
  purpose: Purpose;
  /** These ways alone; all that are offered unless given. */
  only?: readonly Way[];
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
  const { purpose, only, here, offered, after } = props;
  const [waits, setWaits] = useState(false);
  const [taken, setTaken] = useState<unknown>(null);
  const has = (way: Way) => only === undefined || only.includes(way);
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
  return (
    <div className="ways">
      {offered.email && has('email') && (
        <WayOf title={text('ways.email.title')} bare={waits}>
          <EmailWay
            purpose={purpose}
            mailIsDown={offered.mailIsDown}
            after={after}
            onTaken={setTaken}
            onWaiting={setWaits}
          />
        </WayOf>
      )}
      {isFor('provider') &&
        offered.providers.map((each) => (
          <WayOf key={each.id} title={text('ways.provider.title', { label: each.label })}>
            <ProviderWay {...each} purpose={purpose} here={here} />
          </WayOf>
        ))}
      {isFor('passkey') && offered.passkeys && purpose !== 'add' && (
        <WayOf title={text('ways.passkey.title')}>
          <PasskeyWay purpose={purpose} prove={proven} />
        </WayOf>
      )}
      {isFor('wallet') && offered.wallets.length > 0 && (
        <WayOf title={text('ways.wallet.title')}>
          <SignText
            families={offered.wallets}
            begin={(wallet) => account.askForText(wallet, purpose)}
            prove={(wallet, signed) => proven(account.giveSignature(wallet, signed))}
          />
        </WayOf>
      )}
    </div>
  );
}

type WayOfProps = { title: string; bare?: boolean; children: ReactNode };

/** `bare`: its own heading stands inside. */
function WayOf({ title, bare = false, children }: WayOfProps) {
  return (
    <section className="panel">
      {!bare && <h2>{title}</h2>}
      {children}
    </section>
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
      {messages && <p className="hint">{text('ways.provider.messages', { label })}</p>}
      <Do work={go}>{text('ways.provider.go', { label })}</Do>
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
      <p className="hint">{text('ways.passkey.what')}</p>
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
