// The content of the dialog that connects (connect.tsx), loaded when it is opened.

import type { Family } from '@parley/core/families.ts';
import type { MessageSigner } from '@parley/sdk/keys.ts';
import type { Asset } from '@parley/sdk/types.ts';
import { useLocation } from '@tanstack/react-router';
import { type ReactNode, useEffect, useRef } from 'react';
import { signInBy } from '../../market/account.ts';
import { type SignedInAccount, startAnew, useMe, useSession } from '../../market/session.ts';
import { text } from '../../texts/texts.ts';
import { familyOf, needsProgram, useGiving } from '../giving.tsx';
import { hasWallets, proveWallet, walletsChanged } from '../own-key.ts';
import { Answer, Failed, Loading } from '../page.tsx';
import { chainName } from '../words.ts';
import { needOf } from './needs.ts';
import { SignText } from './sign-text.tsx';
import { WaysIn } from './ways.tsx';

export type ConnectingProps = {
  /** An account is signed in, here or in another tab, and may give the asset. */
  onSignedIn: () => void;
  give?: Asset | undefined;
  get?: Asset | undefined;
};

export function Connecting({ onSignedIn, give, get }: ConnectingProps) {
  const session = useSession();
  const { href } = useLocation();
  const isIn = session.status === 'account';
  const giving = useGiving(give, isIn);
  const isKnown = give === undefined || giving.family === undefined || giving.hasWallet !== null;
  const isDone = isIn && isKnown && !needsProgram(giving);
  const isTold = useRef(false);
  useEffect(() => {
    if (!isDone || isTold.current) return;
    isTold.current = true;
    onSignedIn();
  }, [isDone, onSignedIn]);
  if (session.status === 'failed') return <Failed error={session.error} again={session.again} />;
  if (session.status === 'loading' || isDone) return <Loading />;
  if (session.status === 'none') {
    return (
      <>
        <Needs give={give} get={get} />
        <WaysIn purpose="sign-in" first={familyOf(give)} here={href} after={startAnew} />
      </>
    );
  }
  if (give === undefined || giving.family === undefined || !isKnown) return <Loading />;
  return (
    <>
      <p>{text('connect.more', { chain: chainName(give.chain) })}</p>
      <ShowWallet account={session.account} family={giving.family} />
    </>
  );
}

type SidesProps = Pick<ConnectingProps, 'give' | 'get'>;

/** The wallets that a pair wants, before a person has typed anything. */
function Needs({ give, get }: SidesProps): ReactNode {
  const sides = [needOf('give', give), needOf('get', get)].filter((each) => each !== null);
  if (sides.length === 0) return null;
  return (
    <ul className="needs">
      {sides.map((each) => (
        <li key={each}>{each}</li>
      ))}
    </ul>
  );
}

type ShowProps = { account: SignedInAccount; family: Family };

/**
 * The first wallet of an account becomes a login: it counts at once, and authorizes others. A
 * further one is proven.
 */
function ShowWallet({ account: { logins }, family }: ShowProps) {
  const me = useMe();
  const loginIds = logins.map(({ id }) => id);
  return (
    <Answer of={me}>
      {({ wallets }) => (
        <SignText
          families={[family]}
          use={(signer) => (hasWallets(wallets) ? proveWallet(signer, loginIds) : addLogin(signer))}
        />
      )}
    </Answer>
  );
}

async function addLogin(signer: MessageSigner): Promise<void> {
  await signInBy(signer, 'add');
  await walletsChanged();
}
