// By e-mail: an address, then the digits that were sent there. A code that was asked for before
// the page was loaded again can still be typed in.

import { asTyped } from '@parley/core/typed.ts';
import { useEffect, useState } from 'react';
import { account, isRefused, type Purpose, type SignedIn } from '../../market/account.ts';
import { config, now } from '../../market/config.ts';
import { secondsOf } from '../../texts/people.ts';
import { recalled, remember } from '../../texts/remembered.ts';
import { text } from '../../texts/texts.ts';
import { Do, Form } from '../act.tsx';
import { Button, Notice, TextField } from '../controls.tsx';
import { Clock } from '../shown.tsx';
import './ways.css';

type Pending = { readonly address: string; readonly expiresAt: string };
const remembered = 'parley.code-sent';

/** The address that waits for its code in this tab; null = none. */
function pending(purpose: Purpose): Pending | null {
  if (purpose !== 'sign-in') return null;
  try {
    const found = JSON.parse(recalled('sessionStorage', remembered) ?? 'null') as Pending | null;
    return found !== null && secondsOf(found.expiresAt) > now() ? found : null;
  } catch {
    return null;
  }
}

function rememberSent(purpose: Purpose, sent: Pending | null): void {
  if (sent !== null && purpose !== 'sign-in') return;
  remember('sessionStorage', remembered, sent === null ? null : JSON.stringify(sent));
}

type EmailWayProps = {
  purpose: Purpose;
  mailIsDown: boolean;
  after: (done: SignedIn) => Promise<void>;
  /** The address is a login of another account: the market's refusal. */
  onTaken: (refusal: unknown) => void;
  /** Whether a code is awaited: other ways need not be seen then. */
  onWaiting: (waits: boolean) => void;
};

export function EmailWay(props: EmailWayProps) {
  const { purpose, mailIsDown, after, onTaken, onWaiting } = props;
  const [sent, setSent] = useState(() => pending(purpose));
  useEffect(() => onWaiting(sent !== null), [sent, onWaiting]);
  const [address, setAddress] = useState('');
  const keep = (next: Pending | null) => {
    rememberSent(purpose, next);
    setSent(next);
  };
  const ask = async (to: string) => keep(await account.askForCode(to, purpose));
  if (sent !== null) {
    const anew = () => ask(sent.address);
    const about = { purpose, sent, mailIsDown, after, onTaken, anew };
    return <CodeForm {...about} leave={() => keep(null)} />;
  }
  return (
    <Form
      go={text('ways.email.send')}
      kind={purpose === 'sign-in' ? 'main' : 'plain'}
      send={() => ask(address.trim())}
    >
      {mailIsDown && <Notice kind="warn">{text('ways.email.down')}</Notice>}
      <TextField
        label={text('ways.email.address')}
        type="email"
        autoComplete="email"
        required
        maxLength={254}
        value={address}
        onChange={setAddress}
      />
    </Form>
  );
}

type CodeFormProps = Pick<EmailWayProps, 'purpose' | 'mailIsDown' | 'after' | 'onTaken'> & {
  sent: Pending;
  anew: () => Promise<void>;
  leave: () => void;
};

function CodeForm(props: CodeFormProps) {
  const { purpose, sent, mailIsDown, after, onTaken, anew, leave } = props;
  const [typed, setTyped] = useState('');
  const [isShort, setShort] = useState(false);
  const digits = asTyped(typed).replace(/\D/g, '');
  const give = async () => {
    if (digits.length !== 6 && digits.length !== 20) return setShort(true);
    try {
      const done = await account.giveCode(sent.address, digits);
      rememberSent(purpose, null);
      await after(done);
    } catch (failure) {
      if (!isRefused(failure, 'login_taken')) throw failure;
      // It proved the address: the code is used up.
      rememberSent(purpose, null);
      onTaken(failure);
    }
  };
  return (
    <Form
      go={text('ways.go_on')}
      kind="main"
      send={give}
      more={
        <>
          <Do
            work={async () => {
              setTyped('');
              await anew();
            }}
          >
            {text('ways.code.again')}
          </Do>
          <Button kind="quiet" onPress={leave}>
            {text('ways.code.leave')}
          </Button>
        </>
      }
    >
      <h2>{text('ways.code.title', { address: sent.address })}</h2>
      <Notice kind={mailIsDown ? 'warn' : 'info'}>
        {text(mailIsDown ? 'ways.email.down' : 'ways.code.sent')} {text('ways.code.until')}{' '}
        <Clock at={secondsOf(sent.expiresAt)} /> <Inbox />
      </Notice>
      <TextField
        label={text('ways.code.digits')}
        error={isShort ? text('ways.code.six') : null}
        inputMode="numeric"
        autoComplete="one-time-code"
        maxLength={30}
        required
        value={typed}
        onChange={(next) => {
          setTyped(next);
          setShort(false);
        }}
      />
    </Form>
  );
}

/** On a dev network nobody sends mail anywhere. */
function Inbox() {
  const inbox = config.dev?.inbox ?? null;
  if (inbox === null) return null;
  return (
    <a href={inbox} target="_blank" rel="noreferrer">
      {text('ways.code.inbox')}
    </a>
  );
}
